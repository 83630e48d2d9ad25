"""Asks a model on one's own machine for the vectors of idiomaticity-probing: contextual ones, or word vectors."""
