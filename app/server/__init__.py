"""The supervisor of `evergold serve`: processes, data directory, port, and embedded broker; it serves no HTTP."""
