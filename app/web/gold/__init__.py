"""TODO: what lives in `app/web/gold`."""
