"""TODO: what lives in `app/web/html`."""
