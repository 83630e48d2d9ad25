"""How sure a score is: the same scores from items weighted anew, drawn again, or swapped between two systems.

`Sample` says what the scores of one run are computed from, in units that can be drawn; `Draws` which are drawn. Pure
arithmetic on arrays, resamples × units; a task type says what its units are (`evergold.scoring.samples`).
"""
