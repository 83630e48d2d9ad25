"""What all pages share: rendering, words, Markdown, guards; no page of its own."""
