"""TODO: what lives in `app/competitions`."""
