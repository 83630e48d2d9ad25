"""TODO: what lives in `app/feedback`."""
