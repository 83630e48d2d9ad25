"""Rescoring sets: runs next to the current ones, a preview of who moves, and publishing or dropping in one
transaction."""
