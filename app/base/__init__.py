"""TODO: what lives in `app/base`."""
