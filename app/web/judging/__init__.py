"""TODO: what lives in `app/web/judging`."""
