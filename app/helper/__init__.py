"""A sandboxed process that reads strangers' files and texts for the web process; contains no domain logic."""
