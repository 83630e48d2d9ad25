"""TODO: what lives in `app/web/submissions`."""
