"""Submissions and validations, from upload to entry: accepting, finding, choosing; `app.runs` has their runs."""
