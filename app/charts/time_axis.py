"""A time axis in UTC: its ticks and their labels."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

_HOURS = (1, 2, 3, 6, 12)
_DAYS = (1, 2, 4, 7, 14)
_MONTHS = (1, 2, 3, 6, 12, 24, 60, 120)
_NAMES = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")


def time_ticks(first: datetime, last: datetime, most: int) -> list[tuple[datetime, str]]:
    """Return at most this number of round moments from first to last, each with its label."""
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
    """Return `5 Jan`."""
    return f"{moment.day} {_NAMES[moment.month - 1]}"


def month_name(moment: datetime) -> str:
    """Return `Jan 2026`."""
    return f"{_NAMES[moment.month - 1]} {moment.year}"


def _multiples(first: datetime, last: datetime, step: timedelta, most: int) -> list[datetime]:
    """Return whole steps from midnight of the first day, at most one more than `most`, so that excess is detected."""
    moment = datetime(first.year, first.month, first.day, tzinfo=UTC)
    moment += max(0, -((moment - first) // step)) * step
    found: list[datetime] = []
    while moment <= last and len(found) <= most:
        found.append(moment)
        moment += step
    return found


def _months(first: datetime, last: datetime, step: int) -> Iterator[datetime]:
    """Yield the first days of every step-th month, counted from January."""
    number = 12 * first.year + first.month - 1
    number += -number % step
    while (moment := datetime(number // 12, number % 12 + 1, 1, tzinfo=UTC)) <= last:
        if moment >= first:
            yield moment
        number += step
