"""Texts in Markdown, as organisers write them: their HTML, its bounds and its cache; not where texts are kept."""
