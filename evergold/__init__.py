"""What everybody installs (`pip install evergold`): scoring, a Python client, the command line; never the server."""
