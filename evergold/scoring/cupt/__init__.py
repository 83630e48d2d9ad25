"""CUPT, the PARSEME format: read the organisers' files, check and read predictions."""
