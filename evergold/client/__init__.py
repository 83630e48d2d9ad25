"""TODO: what lives in `evergold/client`."""
