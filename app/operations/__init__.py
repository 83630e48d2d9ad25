"""TODO: what lives in `app/operations`."""
