"""The supervisor of `evergold serve`: the processes, their folder, their port, and the embedded broker."""
