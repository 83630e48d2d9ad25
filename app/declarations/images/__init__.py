"""Images in the Markdown of a declaration: which ones texts name, and how their files are processed before display."""
