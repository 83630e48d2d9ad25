"""Times as organisers write them in phases.yaml: with UTC offsets or AoE ("anywhere on Earth", UTC-12), exactly.

`evergold.moments` formats them for people.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta, timezone

from evergold.moments import AOE

#: The offsets that exist on Earth.
_OFFSETS = (timedelta(hours=-12), timedelta(hours=14))
#: Other years are typos, and near the ends of the calendar arithmetic overflows.
_YEARS = range(1990, 3000)

#: A date, a time of day, a zone; JSON Schema and Python read it alike.
MOMENT_PATTERN = (
    r"^[0-9]{4}-[0-9]{2}-[0-9]{2}[Tt ][0-9]{2}:[0-9]{2}(:[0-9]{2})? *"
    r"([Aa][Oo][Ee]|[Uu][Tt][Cc]|[Zz]|[+-][0-9]{2}:?[0-9]{2})$"
)
_MOMENT = re.compile(
    r"""^(?P<date>[0-9]{4}-[0-9]{2}-[0-9]{2})
        (?:[T\ ](?P<time>[0-9]{2}:[0-9]{2}(?::[0-9]{2})?))?
        \ *(?P<zone>AoE|UTC|Z|[+-][0-9]{2}:?[0-9]{2})?$""",
    re.VERBOSE | re.IGNORECASE,
)
_HOW = "write '2026-01-10 12:00 UTC', '2026-01-10 12:00 +02:00' or '2026-01-10 23:59 AoE'"


def parse_moment(value: object) -> datetime:
    """Return a parsed time as aware UTC. Raises ValueError, with a sentence, for anything ambiguous.

    A zone is required: a date without one is the commonest cause of deadlines that surprise half of the teams.
    """
    if isinstance(value, datetime) and value.tzinfo is not None:
        return value.astimezone(UTC)
    if not isinstance(value, str):
        raise ValueError(f"a date and time must be text with a time zone: {_HOW}")
    shown = repr(value if len(value) <= 40 else value[:39] + "…")
    match = _MOMENT.match(value.strip())
    if not match:
        raise ValueError(f"{shown} is not a date and time with a time zone: {_HOW}")
    if not match["time"]:
        raise ValueError(f"{shown} has no time of day (midnight at its start or at its end?): {_HOW}")
    if not match["zone"]:
        raise ValueError(f"{shown} has no time zone: {_HOW}")
    return _naive(match["date"], match["time"], shown).replace(tzinfo=_zone(match["zone"])).astimezone(UTC)


def _naive(date: str, time: str, shown: str) -> datetime:
    if time.startswith("24:"):
        raise ValueError(f"{shown}: write the end of a day as 00:00 of the next day")
    try:
        naive = datetime.fromisoformat(f"{date}T{time}")
    except ValueError:
        raise ValueError(f"{shown}: there is no such date or time of day") from None
    if naive.year not in _YEARS:
        raise ValueError(f"{shown}: check the year")
    return naive


def _zone(text: str) -> timezone:
    if text.upper() == "AOE":
        return AOE
    if text.upper() in ("UTC", "Z"):
        return UTC
    hours, minutes = int(text[1:3]), int(text[-2:])
    offset = timedelta(hours=hours, minutes=minutes) * (-1 if text[0] == "-" else 1)
    if minutes > 59 or not _OFFSETS[0] <= offset <= _OFFSETS[1]:
        raise ValueError(f"'{text}' is not an offset from UTC: it must be from -12:00 to +14:00")
    return timezone(offset)


def in_utc(moment: datetime) -> str:
    """Return a time in the format of phases.yaml: `2026-01-10 12:00 UTC`, with seconds only if they are not zero."""
    return f"{_clock(moment.astimezone(UTC))} UTC"


def in_aoe(moment: datetime) -> str:
    """Return a time as `2026-01-10 00:00 AoE`."""
    return f"{_clock(moment.astimezone(AOE))} AoE"


def _clock(moment: datetime) -> str:
    return moment.strftime("%Y-%m-%d %H:%M:%S" if moment.second else "%Y-%m-%d %H:%M")
