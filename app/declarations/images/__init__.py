"""Images in the Markdown of a declaration: which ones texts name, and what becomes of a file before anybody sees it."""
