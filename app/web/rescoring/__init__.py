"""TODO: what lives in `app/web/rescoring`."""
