"""Moments as organisers write them and people read them: UTC offsets and AoE ("anywhere on Earth", UTC-12), exactly."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta, timezone

AOE = timezone(timedelta(hours=-12), "AoE")

_MOMENT = re.compile(
    r"""^(?P<date>\d{4}-\d{2}-\d{2})
        (?:[T\ ](?P<time>\d{2}:\d{2}(?::\d{2})?))?
        \s*(?P<zone>AoE|UTC|Z|[+-]\d{2}:?\d{2})$""",
    re.VERBOSE | re.IGNORECASE,
)
_HOW = "write '2026-01-10 12:00 UTC', '2026-01-10 12:00 +02:00' or '2026-01-10 23:59 AoE'"


def parse_moment(value: object) -> datetime:
    """The aware UTC moment meant by a string; raises ValueError, in words, on anything that leaves room for doubt.

    A zone is required: a date without one is the commonest cause of a deadline that surprises half of the teams.
    """
    if isinstance(value, datetime) and value.tzinfo is not None:
        return value.astimezone(UTC)
    if not isinstance(value, str):
        raise ValueError(f"a moment is text in quotes with a time zone: {_HOW}")
    match = _MOMENT.match(value.strip())
    if not match:
        raise ValueError(f"{value!r} is not a moment with a time zone: {_HOW}")
    if not match["time"]:
        raise ValueError(f"{value!r} has no time of day (is midnight meant at its start or its end?): {_HOW}")
    naive = datetime.fromisoformat(f"{match['date']}T{match['time']}")
    return naive.replace(tzinfo=_zone(match["zone"])).astimezone(UTC)


def _zone(text: str) -> timezone:
    if text.upper() == "AOE":
        return AOE
    if text.upper() in ("UTC", "Z"):
        return UTC
    digits = text.replace(":", "")
    hours, minutes = int(digits[1:3]), int(digits[3:5])
    if hours > 14 or minutes > 59:
        raise ValueError(f"{text!r} is not an offset from UTC")
    offset = timedelta(hours=hours, minutes=minutes)
    return timezone(-offset if digits[0] == "-" else offset)


def in_utc(moment: datetime) -> str:
    """`2026-01-10 12:00 UTC`, with seconds only when there are any."""
    return f"{_clock(moment.astimezone(UTC))} UTC"


def in_aoe(moment: datetime) -> str:
    """`2026-01-10 00:00 AoE`."""
    return f"{_clock(moment.astimezone(AOE))} AoE"


def _clock(moment: datetime) -> str:
    return moment.strftime("%Y-%m-%d %H:%M:%S" if moment.second else "%Y-%m-%d %H:%M")
