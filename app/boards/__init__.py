"""TODO: what lives in `app/boards`."""
