"""A Python client for any Evergold server, and where its token is kept; never the command line's words."""
