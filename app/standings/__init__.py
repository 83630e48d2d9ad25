"""Choice of the scored run that counts for each team on each board, and the table that caches it."""
