"""Batching: queries are limited in their parameters, and memory in its rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypeVar

Item = TypeVar("Item")


def in_batches(items: Sequence[Item], size: int) -> Iterator[Sequence[Item]]:
    """Yield the items in order, `size` at a time; the last batch may be smaller."""
    return (items[start : start + size] for start in range(0, len(items), size))
