"""Everything that answers HTTP: the JSON API, the pages, and what both share; nothing below imports this package."""
