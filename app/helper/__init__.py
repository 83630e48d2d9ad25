"""A sandboxed process that parses strangers' files and texts for the web process; contains no domain logic."""
