"""Results from papers in `app/data`: facts, with their source at the head of each file."""

from __future__ import annotations

import csv
from importlib import resources


def read_published(name: str) -> list[dict[str, str]]:
    """Return the rows of a file of `app/data`; lines that begin with # name the source."""
    text = resources.files("app").joinpath("data", name).read_text(encoding="utf-8")
    return list(csv.DictReader(line for line in text.splitlines() if not line.startswith("#")))
