"""Submissions over HTTP: uploads, checks, runs, cards, comparisons; the rules are `app.submissions`' and
`app.feedback`'s."""
