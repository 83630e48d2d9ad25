"""Phases of a draft as dates, times and a zone, each in its own field."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from typing import Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from app.base.errors import InvalidForm
from app.base.times import parse_moment
from app.declarations.revisions.documents import Document
from evergold.moments import AOE

#: Zones that every form offers; a browser adds its own by name.
ZONES = {"AoE": "AoE, anywhere on Earth", "UTC": "UTC"}
#: The format of a submitted date field.
_FIELD = "%Y-%m-%dT%H:%M"
_LASTS = timedelta(days=14)


@dataclass(frozen=True, slots=True)
class PhaseDates:
    """A phase in the form. start, end: in the format of date fields; end is empty for a phase that stays open."""

    name: str
    title: str
    start: str
    end: str
    zone: str


@dataclass(frozen=True, slots=True)
class NewPhase:
    """A phase that can be added. after: whether it follows the last one and stays open; otherwise it precedes the
    first.
    """

    name: str
    title: str
    hint: str
    after: bool


NEW_PHASES = (
    NewPhase("practice", "Practice", "Before the others, to try the format.", after=False),
    NewPhase("post-evaluation", "Post-evaluation", "Stays open afterwards.", after=True),
)


def dates_in(document: Document) -> list[PhaseDates]:
    """Return the phases of a declaration; invalid times become empty fields."""
    found = []
    for phase in document["phases"]:
        zone = _zone_of(phase.get("end") or phase.get("start"))
        there = _known_zone(zone)
        found.append(
            PhaseDates(
                phase["name"],
                phase.get("title", ""),
                _field(phase.get("start"), there),
                _field(phase.get("end"), there),
                zone,
            )
        )
    return found


def as_typed(document: Document, form: Mapping[str, str]) -> Document:
    """Return a copy with the titles and dates typed so far, for a drawing of the phases.

    Fields that were not sent change nothing; a phase with an invalid time gets no dates.
    """
    changed = copy.deepcopy(document)
    for place, phase in enumerate(changed["phases"]):
        prefix = f"phase.{place}."
        if title := " ".join(form.get(f"{prefix}title", "").split()):
            phase["title"] = title
        for name in ("start", "end"):
            if (text := form.get(f"{prefix}{name}")) is not None:
                moment = _typed(text, form.get(f"{prefix}zone", ""))
                phase[name] = text if isinstance(moment, InvalidMoment) else moment
    return changed


def with_dates(document: Document, form: Mapping[str, str]) -> Document:
    """Return a copy with the titles and dates of a form's fields, such as `phase.0.start`.

    Raises InvalidForm with all errors.
    """
    changed, faults = copy.deepcopy(document), dict[str, str]()
    for place, phase in enumerate(changed["phases"]):
        prefix = f"phase.{place}."
        if title := " ".join(form.get(f"{prefix}title", "").split()):
            phase["title"] = title
        zone = form.get(f"{prefix}zone", "")
        start, end = (_typed(form.get(f"{prefix}{name}", ""), zone) for name in ("start", "end"))
        if start is None:
            faults[f"{prefix}start"] = "Choose the day and time when the phase opens."
        elif isinstance(start, InvalidMoment):
            faults[f"{prefix}start"] = start.sentence
        else:
            phase["start"] = start
        if end is None:
            phase.pop("end", None)
            if any("shown_from" not in task["private_part"] for task in _divided(phase)):
                faults[f"{prefix}end"] = "Half of the items are private until the phase closes, so it needs an end."
        elif isinstance(end, InvalidMoment):
            faults[f"{prefix}end"] = end.sentence
        else:
            phase["end"] = end
        if isinstance(start, str) and isinstance(end, str) and parse_moment(end) <= parse_moment(start):
            faults[f"{prefix}end"] = "The phase closes before it opens."
    if faults:
        raise InvalidForm("Please check the dates again.", fields=faults)
    return changed


def _divided(phase: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the tasks of a phase that have a private part."""
    return [task for task in phase["tasks"].values() if task and task.get("private_part")]


def with_phase(document: Document, name: str) -> Document:
    """Return a copy with another phase of `NEW_PHASES`, with the same tasks; unknown names change nothing.

    Its gold is uploaded as for any phase.
    """
    new = next((one for one in NEW_PHASES if one.name == name), None)
    if new is None or name in {phase["name"] for phase in document["phases"]}:
        return document
    changed = copy.deepcopy(document)
    phases: list[dict[str, Any]] = changed["phases"]
    nearest = phases[-1] if new.after else phases[0]
    phase = {"name": new.name, "title": new.title, "tasks": copy.deepcopy(nearest["tasks"])}
    if new.after:
        phase["start"] = nearest.get("end") or nearest["start"]
        phase["carry_over"] = nearest["name"]
        for task in _divided(phase):  # the same items decide, so that entries compare; nothing is private any more
            task["private_part"] = {**task["private_part"], "shown_from": phase["start"]}
        phases.append(phase)
    else:
        begins = parse_moment(nearest["start"])
        phase |= {"start": f"{begins - _LASTS:%Y-%m-%d %H:%M} UTC", "end": nearest["start"]}
        phases.insert(0, phase)
    return changed


def without_phase(document: Document, name: str) -> Document:
    """Return a copy without this phase, unless it is the only one."""
    changed = copy.deepcopy(document)
    kept = [phase for phase in changed["phases"] if phase["name"] != name]
    if kept:
        changed["phases"] = kept
    for phase in changed["phases"]:
        if phase.get("carry_over") == name:
            del phase["carry_over"]
    return changed


@dataclass(frozen=True, slots=True)
class InvalidMoment:
    """A time that cannot be parsed. sentence: the reason."""

    sentence: str


def _typed(text: str, zone: str) -> str | InvalidMoment | None:
    """Return a time in the format of declarations, or the reason why it is invalid; None for an empty field."""
    if not text.strip():
        return None
    there = _known_zone(zone)
    if there is None:
        return InvalidMoment("Choose a time zone.")
    try:
        moment = datetime.strptime(text.strip().replace(" ", "T")[:16], _FIELD).replace(tzinfo=there)
        words = f"{moment:%Y-%m-%d %H:%M} {_offset_words(moment)}"
        parse_moment(words)
    except ValueError:
        return InvalidMoment("Write the day and the time as 2027-01-31 23:59.")
    return words


def _offset_words(moment: datetime) -> str:
    if moment.tzinfo in (AOE, UTC):
        return "AoE" if moment.tzinfo is AOE else "UTC"
    offset = moment.strftime("%z")
    return f"{offset[:3]}:{offset[3:5]}"


def _known_zone(zone: str) -> tzinfo | None:
    """Return the zone with this name, or with an offset such as +02:00; None if it is unknown."""
    if zone in ZONES:
        return AOE if zone == "AoE" else UTC
    try:
        if zone[:1] in ("+", "-"):
            return parsed_offset(zone)
        return ZoneInfo(zone)
    except (ValueError, ZoneInfoNotFoundError, OSError):
        return None


def parsed_offset(text: str) -> timezone:
    """Return the zone with an offset from UTC; raise ValueError if it is invalid."""
    hours, _, minutes = text[1:].partition(":")
    offset = timedelta(hours=int(hours), minutes=int(minutes or 0))
    return timezone(-offset if text[0] == "-" else offset)


def _zone_of(moment: object) -> str:
    last = str(moment or "").rsplit(" ", 1)[-1] if " " in str(moment or "") else ""
    return last if last in ZONES or last[:1] in ("+", "-") else "UTC"


def _field(moment: object, zone: tzinfo | None) -> str:
    try:
        return parse_moment(moment).astimezone(zone).strftime(_FIELD)
    except ValueError:
        return ""


def zones_for(phases: Sequence[PhaseDates]) -> dict[str, str]:
    """Return the zones that a form offers: the usual ones, and those in use."""
    return ZONES | {one.zone: f"UTC {one.zone}" for one in phases if one.zone not in ZONES}
