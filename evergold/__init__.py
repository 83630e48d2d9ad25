"""The package that everybody installs (`pip install evergold`): scoring, Python client, command line; no server."""
