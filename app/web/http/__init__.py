"""TODO: what lives in `app/web/http`."""
