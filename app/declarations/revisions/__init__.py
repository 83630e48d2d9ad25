"""TODO: what lives in `app/declarations/revisions`."""
