"""TODO: what lives in `app/web/teams`."""
