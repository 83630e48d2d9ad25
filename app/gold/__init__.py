"""TODO: what lives in `app/gold`."""
