"""Submissions over HTTP: uploads, checks, runs, cards, comparisons; their rules are `app.submissions` and
`app.feedback`."""
