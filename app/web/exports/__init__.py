"""TODO: what lives in `app/web/exports`."""
