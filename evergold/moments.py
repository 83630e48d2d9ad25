"""Moments in words, in one format for pages, mails, commands and feeds.

A deadline has its day of the week and is given in AoE first, with a second time zone in brackets: `Mon 7 Dec 2026,
12:00 AoE (8 Dec, 00:00 UTC)`. A past event is `8 Dec 2026, 00:00 UTC`. The year is always part of it: pages are cached
and boards stay for ever. Words never depend on the machine's language.
"""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta, timezone, tzinfo

#: "Anywhere on Earth": a day ends when it has ended everywhere.
AOE = timezone(timedelta(hours=-12), "AoE")

_DAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")


def deadline_words(moment: datetime, own_zone: tzinfo | None = None) -> str:
    """Return `Mon 7 Dec 2026, 12:00 AoE (8 Dec, 00:00 UTC)`, or `(8 Dec, 01:00 your time)` in the reader's own zone.

    moment: a declared time with a time zone, such as a deadline, that people must meet or wait for.
    """
    return f"{aoe_words(moment)} ({other_clock_words(moment, own_zone)})"


def aoe_words(moment: datetime) -> str:
    """Return `Mon 7 Dec 2026, 12:00 AoE`, the first part of a deadline."""
    there = moment.astimezone(AOE)
    return f"{_DAYS[there.weekday()]} {date_words(there)}, {_clock(there)} AoE"


def other_clock_words(moment: datetime, own_zone: tzinfo | None = None) -> str:
    """Return `8 Dec, 00:00 UTC`, the second part of a deadline; with the year if it is not the same in AoE."""
    here = moment.astimezone(own_zone or UTC)
    shown = date_words(here) if here.year != moment.astimezone(AOE).year else _day_and_month(here)
    return f"{shown}, {_clock(here)} {'your time' if own_zone else 'UTC'}"


def moment_words(moment: datetime) -> str:
    """Return `8 Dec 2026, 00:00 UTC`, for an event; with seconds if there are any."""
    there = moment.astimezone(UTC)
    return f"{date_words(there)}, {_clock(there)} UTC"


def minute_words(moment: datetime) -> str:
    """Return `8 Dec 2026, 00:00 UTC`, for a list of events; without seconds."""
    return moment_words(moment.replace(second=0, microsecond=0))


def date_words(day: date) -> str:
    """Return `8 Dec 2026`, in the zone that the moment has."""
    return f"{_day_and_month(day)} {day.year}"


def _day_and_month(day: date) -> str:
    return f"{day.day} {_MONTHS[day.month - 1]}"


def _clock(moment: datetime) -> str:
    return moment.strftime("%H:%M:%S" if moment.second else "%H:%M")
