"""Times in bundles: time of day, offset and AoE as written; an ambiguous time becomes a question, never a guess."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta, timezone, tzinfo
from enum import StrEnum
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from app.base.times import in_aoe, in_utc
from evergold.moments import AOE

_YEARS = range(1990, 3000)
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_YEAR_FIRST = re.compile(r"(?P<year>[0-9]{4})[-/.](?P<month>[0-9]{1,2})[-/.](?P<day>[0-9]{1,2})")
_YEAR_LAST = re.compile(r"(?P<first>[0-9]{1,2})[-/.](?P<second>[0-9]{1,2})[-/.](?P<year>[0-9]{4})")
_DAY_NAME = r"(?:(?:mon|tue|wed|thu|fri|sat|sun)[a-z]*,? +)?"
_DAY_MONTH = re.compile(
    _DAY_NAME + r"(?P<day>[0-9]{1,2})(?:st|nd|rd|th)?[ -](?P<month>[a-z]{3,9})\.?,?[ -](?P<year>[0-9]{4})"
)
_MONTH_DAY = re.compile(
    _DAY_NAME + r"(?P<month>[a-z]{3,9})\.? (?P<day>[0-9]{1,2})(?:st|nd|rd|th)?,? (?P<year>[0-9]{4})"
)
_CLOCK = re.compile(
    r"(?P<hour>[0-9]{1,2}):(?P<minute>[0-9]{2})(?::(?P<second>[0-9]{2})(?:\.[0-9]+)?)? *(?P<half>am|pm)?"
)
_OFFSET = re.compile(r"(?:utc|gmt)? *(?P<sign>[+-])(?P<hours>[0-9]{1,2}):?(?P<minutes>[0-9]{2})?")
_LONGEST = 60


class DateOrder(StrEnum):
    """The order of day and month in dates that end with the year."""

    MONTH_FIRST = "mdy"
    DAY_FIRST = "dmy"


@dataclass(frozen=True, slots=True)
class Assumed:
    """Answers to what a bundle leaves open; None if not given, so that it becomes a question."""

    zone: tzinfo | None = None
    order: DateOrder | None = None


@dataclass(frozen=True, slots=True)
class Question:
    """A question about a time that only the organisers can answer.

    - about: "zone" or "order".
    - path, line: of the key.
    - written: the value; text: the question.
    """

    about: str
    path: str
    file: str
    line: int
    written: str
    text: str

    def __str__(self) -> str:
        return f"{self.file}, line {self.line}: {self.path}: {self.text}"


class Unanswered(Exception):
    """The bundle cannot be read without answers."""

    def __init__(self, questions: list[Question]) -> None:
        self.questions = questions
        super().__init__("; ".join(str(one) for one in questions))


@dataclass(frozen=True, slots=True)
class Read:
    """A time. notes: sentences on each part that the bundle does not give and that was assumed."""

    moment: datetime
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Unclear:
    """A question to answer first. about: "zone" or "order"."""

    about: str
    text: str


def find_zone(name: str) -> tzinfo:
    """Return the zone with this name: UTC, AoE, an offset such as +02:00, or one of the time zone database.

    Raises ValueError, with a sentence.
    """
    zone = _zone(name.strip())
    if zone is None:
        raise ValueError(f"'{name[:40]}' is not a time zone; write UTC, AoE, +02:00 or Europe/Paris")
    return zone


def read_moment(written: str, assumed: Assumed) -> Read | list[Unclear]:
    """Return a parsed date with or without a time of day and a zone, or everything that is unclear about it.

    A date without a time is the beginning of its day, as in Codabench. Raises ValueError, with a sentence, if it is not
    a date.
    """
    text = " ".join(written.split())
    if len(text) > _LONGEST:
        raise ValueError("this is not a date: it is too long")
    unclear: list[Unclear] = []
    found, rest = _day(text, assumed, unclear)
    at, rest = _clock(rest, text)
    zone = _zone(rest) if rest else assumed.zone
    if rest and zone is None:
        raise ValueError(f"'{text}': '{rest[:20]}' is not a time zone; write UTC, AoE or an offset such as +02:00")
    if zone is None:
        unclear.append(Unclear("zone", f"'{text}' has no time zone"))
    if unclear or found is None or zone is None:
        return unclear
    notes = []
    if at is None:
        notes.append("no time of day is given: 00:00, the start of the day")
    if not rest:
        notes.append(f"no zone is given: {zone_name(zone)}, as chosen for the import")
    naive = datetime.combine(found, at or time())
    return Read(_placed(naive, zone, text), tuple(notes))


def only_order(written: str) -> DateOrder | None:
    """Return the order of day and month in a date that has only one reading; None for other dates."""
    match = _YEAR_LAST.match(" ".join(written.split()).lower()[:_LONGEST])
    if match is None or (int(match["first"]) <= 12) == (int(match["second"]) <= 12):
        return None
    return DateOrder.MONTH_FIRST if int(match["first"]) <= 12 else DateOrder.DAY_FIRST


def shown_moment(moment: datetime) -> str:
    """Return a time in the format of declarations, in its own zone if that is UTC, AoE or an offset."""
    if moment.tzinfo is AOE:
        return in_aoe(moment)
    offset = moment.utcoffset() or timedelta()
    if not offset or offset % timedelta(minutes=1):
        return in_utc(moment)
    clock = moment.strftime("%Y-%m-%d %H:%M:%S" if moment.second else "%Y-%m-%d %H:%M")
    return f"{clock} {moment.strftime('%z')[:3]}:{moment.strftime('%z')[3:5]}"


def zone_name(zone: tzinfo) -> str:
    """Return the name of a zone for people."""
    return zone.key if isinstance(zone, ZoneInfo) else str(zone)


def _placed(naive: datetime, zone: tzinfo, text: str) -> datetime:
    moment = naive.replace(tzinfo=zone)
    if moment.astimezone(UTC).astimezone(zone).replace(tzinfo=None) != naive:
        raise ValueError(f"'{text}': this time does not exist in {zone_name(zone)}; write an offset")
    if moment.utcoffset() != moment.replace(fold=1).utcoffset():
        raise ValueError(f"'{text}': this time occurs twice in {zone_name(zone)}; write an offset")
    return moment


def _day(text: str, assumed: Assumed, unclear: list[Unclear]) -> tuple[date | None, str]:
    lower = text.lower()
    if match := _YEAR_FIRST.match(lower):
        return _date(int(match["year"]), int(match["month"]), int(match["day"]), text), text[match.end() :]
    if match := _YEAR_LAST.match(lower):
        return _year_last(match, text, assumed, unclear), text[match.end() :]
    for pattern in (_DAY_MONTH, _MONTH_DAY):
        if (match := pattern.match(lower)) and match["month"][:3] in _MONTHS:
            month = _MONTHS.index(match["month"][:3]) + 1
            return _date(int(match["year"]), month, int(match["day"]), text), text[match.end() :]
    raise ValueError(f"'{text}' is not a date; write 2026-01-31 23:59 UTC")


def _year_last(match: re.Match[str], text: str, assumed: Assumed, unclear: list[Unclear]) -> date | None:
    first, second, year = int(match["first"]), int(match["second"]), int(match["year"])
    orders = [
        order
        for order, month in ((DateOrder.MONTH_FIRST, first), (DateOrder.DAY_FIRST, second))
        if month <= 12 or first == second
    ]
    if first == second or len(orders) == 1:
        order = orders[0] if orders else DateOrder.MONTH_FIRST
    elif not orders:
        raise ValueError(f"'{text}': there is no such date")
    elif assumed.order is None:
        readings = [_date(year, first, second, text), _date(year, second, first, text)]
        both = " or ".join(f"{one.day} {one:%B}" for one in readings)
        unclear.append(Unclear("order", f"'{text}' is {both} {year}"))
        return None
    else:
        order = assumed.order
    month, day = (first, second) if order is DateOrder.MONTH_FIRST else (second, first)
    return _date(year, month, day, text)


def _date(year: int, month: int, day: int, text: str) -> date:
    if year not in _YEARS:
        raise ValueError(f"'{text}': check the year")
    try:
        return date(year, month, day)
    except ValueError:
        raise ValueError(f"'{text}': there is no such date") from None


def _clock(rest: str, text: str) -> tuple[time | None, str]:
    """Return the time of day, None if none is written, and the rest of the text."""
    rest = rest.lstrip(" ,")
    if rest[:1] in ("T", "t") and rest[1:2].isdigit():
        rest = rest[1:]
    match = _CLOCK.match(rest.lower())
    if not match:
        return None, rest.strip()
    hour = int(match["hour"])
    if match["half"]:
        if not 1 <= hour <= 12:
            raise ValueError(f"'{text}': there is no such time of day")
        hour = hour % 12 + (12 if match["half"] == "pm" else 0)
    try:
        found = time(hour, int(match["minute"]), int(match["second"] or 0))
    except ValueError:
        raise ValueError(f"'{text}': there is no such time of day; for the end of a day write 23:59") from None
    return found, rest[match.end() :].strip(" ()")


def _zone(name: str) -> tzinfo | None:
    lower = name.lower().strip()
    if lower in ("utc", "gmt", "z"):
        return UTC
    if lower in ("aoe", "anywhere on earth"):
        return AOE
    if match := _OFFSET.fullmatch(lower):
        hours, minutes = int(match["hours"]), int(match["minutes"] or 0)
        offset = timedelta(hours=hours, minutes=minutes) * (-1 if match["sign"] == "-" else 1)
        if minutes < 60 and timedelta(hours=-12) <= offset <= timedelta(hours=14):
            return timezone(offset) if offset else UTC
        return None
    if "/" in name and re.fullmatch(r"[A-Za-z_]+(/[A-Za-z0-9_+-]+){1,2}", name):
        try:
            return ZoneInfo(name)
        except (ZoneInfoNotFoundError, ValueError, OSError):
            return None
    return None
