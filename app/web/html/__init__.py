"""Code shared by all pages: rendering, wording, Markdown, guards; no page of its own."""
