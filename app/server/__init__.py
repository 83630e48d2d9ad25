"""The supervisor of `evergold serve`: processes, their folder, port, and embedded broker; serves no HTTP itself."""
