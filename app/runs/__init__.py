"""TODO: what lives in `app/runs`."""
