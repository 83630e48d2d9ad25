"""Whether the server is well, for machines and people; what is asked is in `app.operations`."""
