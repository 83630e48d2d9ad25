"""Code shared by all pages: rendering, wording, Markdown and guards. It contains no pages."""
