"""An axis of time: which moments get a number, and what it says. In UTC."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

_HOURS = (1, 2, 3, 6, 12)
_DAYS = (1, 2, 4, 7, 14)
_MONTHS = (1, 2, 3, 6, 12, 24, 60, 120)
_NAMES = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")


def time_ticks(first: datetime, last: datetime, most: int) -> list[tuple[datetime, str]]:
    """Round moments from first to last, at most so many, each with its words."""
    for step in _HOURS:
        if len(found := _multiples(first, last, timedelta(hours=step), most)) <= most:
            return [(moment, f"{moment:%H:%M}" if moment.hour else day_name(moment)) for moment in found]
    for step in _DAYS:
        if len(found := _multiples(first, last, timedelta(days=step), most)) <= most:
            return [(moment, day_name(moment)) for moment in found]
    for step in _MONTHS:
        if len(found := list(_months(first, last, step))) <= most:
            return [(moment, month_name(moment)) for moment in found]
    return [(first, month_name(first)), (last, month_name(last))]


def day_name(moment: datetime) -> str:
    """`5 Jan`."""
    return f"{moment.day} {_NAMES[moment.month - 1]}"


def month_name(moment: datetime) -> str:
    """`Jan 2026`."""
    return f"{_NAMES[moment.month - 1]} {moment.year}"


def _multiples(first: datetime, last: datetime, step: timedelta, most: int) -> list[datetime]:
    """Whole steps from midnight of the first day on; one more than asked for is enough to know that it is too many."""
    moment = datetime(first.year, first.month, first.day, tzinfo=UTC)
    moment += max(0, -((moment - first) // step)) * step
    found: list[datetime] = []
    while moment <= last and len(found) <= most:
        found.append(moment)
        moment += step
    return found


def _months(first: datetime, last: datetime, step: int) -> Iterator[datetime]:
    """The first days of every so many months, January among them."""
    number = 12 * first.year + first.month - 1
    number += -number % step
    while (moment := datetime(number // 12, number % 12 + 1, 1, tzinfo=UTC)) <= last:
        if moment >= first:
            yield moment
        number += step
