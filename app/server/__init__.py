"""The supervisor of `evergold serve`: processes, their folder, their port, the embedded broker; no answer to HTTP."""
