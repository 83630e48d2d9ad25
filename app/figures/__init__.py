"""TODO: what lives in `app/figures`."""
