"""One bounded process that reads files and texts of strangers for the web process; no rule of any subject."""
