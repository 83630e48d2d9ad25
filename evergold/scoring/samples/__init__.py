"""Resampling of each task type: from the per-item outcomes of a run to a `Sample` of all its scores."""
