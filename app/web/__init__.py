"""Everything that answers HTTP: the JSON API, the pages, and what both share. Nothing below imports this package."""
