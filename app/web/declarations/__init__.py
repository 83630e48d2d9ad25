"""TODO: what lives in `app/web/declarations`."""
