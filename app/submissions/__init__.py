"""Submissions and checks from upload to what counts: accepting, finding, choosing; their runs are `app.runs`'."""
