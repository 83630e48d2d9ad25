"""TODO: what lives in `evergold`."""
