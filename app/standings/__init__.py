"""Chooses the scored run that counts for each team on each board, and caches the choice in a table."""
