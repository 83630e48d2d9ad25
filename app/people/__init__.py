"""TODO: what lives in `app/people`."""
