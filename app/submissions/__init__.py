"""TODO: what lives in `app/submissions`."""
