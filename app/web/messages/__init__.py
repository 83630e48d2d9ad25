"""TODO: what lives in `app/web/messages`."""
