"""TODO: what lives in `app/web/people`."""
