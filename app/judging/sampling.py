"""Which items are drawn and in which order somebody sees them: pure, the same for the same seed, on every machine."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from typing import TypeVar

T = TypeVar("T")

LARGEST_SEED = 2**31 - 1


def draw_items(seed: int, language: str, items: Sequence[str], count: int | None) -> list[str]:
    """`count` of the items (None: all), in their own order: those whose sha256 with seed and language is smallest."""
    if count is None or count >= len(items):
        return list(items)
    drawn = set(sorted(items, key=lambda item: _dice(seed, language, item))[:count])
    return [item for item in items if item in drawn]


def shuffled(seed: int, annotator: str, things: Iterable[tuple[str, T]]) -> list[T]:
    """The things in an order of this annotator's own; each comes with a text that tells it from the others."""
    return [thing for _, thing in sorted(things, key=lambda named: _dice(seed, annotator, named[0]))]


def _dice(seed: int, *parts: str) -> str:
    told = "\0".join([str(seed), *parts])
    return hashlib.sha256(told.encode("utf-8", "replace")).hexdigest()
