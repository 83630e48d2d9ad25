"""Annotated corpora before a shared task: blinding, splitting. Scores and predictions are the business of scoring."""
