"""TODO: what lives in `app/declarations/apply`."""
