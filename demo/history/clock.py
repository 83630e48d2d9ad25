"""The times of the demo's past: when it began, what happens when, in order."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import datetime, timedelta

#: Days before the first start of the server.
RENAMED, CORRECTED, BLIND_TEST, MARKED = 15.4, 9.3, 7.9, 5.2


@dataclass(order=True, slots=True)
class Event:
    """Something that happened; `name` keeps apart what happened at the same moment."""

    at: datetime
    name: str
    happen: Callable[[datetime], None] = field(compare=False)


def before(start: datetime, days: float) -> datetime:
    """So many days before the first start."""
    return start - timedelta(days=days)


def play(events: Iterable[Event]) -> None:
    """Let everything happen, the oldest first."""
    for event in sorted(events):
        event.happen(event.at)
