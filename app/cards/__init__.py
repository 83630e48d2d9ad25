"""TODO: what lives in `app/cards`."""
