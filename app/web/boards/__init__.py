"""TODO: what lives in `app/web/boards`."""
