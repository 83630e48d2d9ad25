"""The HTTP layer: the JSON API, the pages, and code shared by both; nothing below imports this package."""
