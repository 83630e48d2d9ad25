"""Idiomaticity probing: items, predictions as similarities or embeddings, measures, report."""
