"""Submissions and validations, from upload to entry: accepting, finding, choosing; their runs are in `app.runs`."""
