"""Health of the server, for machines and people; the checks are in `app.operations`."""
