"""TODO: what lives in `app/web/health`."""
