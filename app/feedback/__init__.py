"""Feedback to teams on their own submissions: scores, history, comparisons, reports; nothing about other teams."""
