"""Images in the Markdown of a declaration: which ones texts name, and how files are processed before they are shown."""
