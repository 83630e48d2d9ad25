"""Annotated corpora before a shared task: blinding and splitting. Scores and predictions are handled by scoring."""
