"""Compute vectors for idiomaticity-probing with a local model: contextual ones, or word vectors."""
