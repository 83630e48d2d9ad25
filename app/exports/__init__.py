"""Boards as papers want them: Markdown, LaTeX and BibTeX. Made from what a viewer may see, never from score rows."""
