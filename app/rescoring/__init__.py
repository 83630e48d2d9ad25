"""Rescoring sets: runs next to the current ones, a preview of who moves, and publication in one transaction."""
