"""Submissions over HTTP: uploads, checks, runs, cards, comparisons; `app.submissions` and `app.feedback` have the
rules.
"""
