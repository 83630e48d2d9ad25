"""The server: rules by subject, tables, everything that answers HTTP, the supervisor; never gold, keys or torch."""
