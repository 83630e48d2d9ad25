"""Results as printed in papers, carried in `app/data`: facts, with their source at the head of each file."""

from __future__ import annotations

import csv
from importlib import resources


def read_published(name: str) -> list[dict[str, str]]:
    """The rows of a file of `app/data`; lines that begin with # say where they are from."""
    text = resources.files("app").joinpath("data", name).read_text(encoding="utf-8")
    return list(csv.DictReader(line for line in text.splitlines() if not line.startswith("#")))
