"""Declarations in the database: their revisions, what a change would do, editing them, and YAML back out of them."""
