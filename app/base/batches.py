"""Many things a few at a time: a query takes only so many parameters, and memory only so many rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypeVar

Item = TypeVar("Item")


def in_batches(items: Sequence[Item], size: int) -> Iterator[Sequence[Item]]:
    """In their order, `size` at a time; the last may be fewer."""
    return (items[start : start + size] for start in range(0, len(items), size))
