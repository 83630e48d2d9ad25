"""Rescoring sets: runs next to the current ones, a preview of rank changes, and publication in one transaction."""
