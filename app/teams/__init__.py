"""TODO: what lives in `app/teams`."""
