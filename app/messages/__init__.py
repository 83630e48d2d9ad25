"""TODO: what lives in `app/messages`."""
