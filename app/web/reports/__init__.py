"""TODO: what lives in `app/web/reports`."""
