"""Submissions over HTTP: uploads, checks, runs, cards, comparisons; rules: `app.submissions`, `app.feedback`."""
