"""Revisions: every declaration that was ever in force, as documents with their files. Access is checked elsewhere."""
