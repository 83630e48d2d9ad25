"""TODO: what lives in `app/web/competitions`."""
