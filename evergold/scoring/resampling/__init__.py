"""Uncertainty of scores: the same scores with items reweighted, resampled, or swapped between two systems.

`Sample` holds the data from which the scores of one run are computed, in units that can be drawn; `Draws` draws them.
Pure arithmetic on arrays, resamples × units; a task type defines its units (`evergold.scoring.samples`).
"""
