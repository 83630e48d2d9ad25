"""Phases over time: overlaps and gaps, in words and as a picture, in UTC and AoE.

Intervals are half-open, like phases: a phase that begins at the minute another one ends neither overlaps it nor leaves
a gap.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import combinations

from app.charts.phases import Band, Span, draw_phases
from evergold.moments import deadline_words


@dataclass(frozen=True, slots=True)
class Dates:
    """The dates of a phase. end: None if it stays open.

    published: when boards become public, other than at its start and its end.
    """

    title: str
    start: datetime
    end: datetime | None
    published: tuple[datetime, ...] = ()


@dataclass(frozen=True, slots=True)
class Overlap:
    """Two phases that are open at once. end: None if both stay open."""

    first: Dates
    second: Dates
    start: datetime
    end: datetime | None


@dataclass(frozen=True, slots=True)
class Gap:
    """A period without an open phase, from the end of one phase to the start of the next."""

    before: Dates
    after: Dates
    start: datetime
    end: datetime


@dataclass(frozen=True, slots=True)
class Calendar:
    """A picture of the phases in two widths, and its content in words and data."""

    wide: str
    narrow: str
    words: str
    sentences: tuple[str, ...]
    phases: tuple[Dates, ...]


def calendar_of(phases: Sequence[Dates], now: datetime) -> Calendar | None:
    """Return the calendar; None if there are no phases."""
    if not phases:
        return None
    found = sentences(phases) or ["One phase." if len(phases) == 1 else "No overlaps, no gaps."]
    found += published_sentences(phases)
    words = " ".join(found)
    spans = [Span(one.title, f"{one.title}: {_words(one)}", one.start, one.end, one.published) for one in phases]
    both = overlaps_of(phases)
    bands = [Band(one.start, one.end) for one in both]
    drawn = draw_phases("phases", words, spans, bands, now)
    return Calendar(drawn.wide, drawn.narrow, words, tuple(found), tuple(phases))


def overlaps_of(phases: Sequence[Dates]) -> list[Overlap]:
    """Return every pair of overlapping phases, by the start of the overlap."""
    found = []
    for first, second in combinations(phases, 2):
        start = max(first.start, second.start)
        end = min((one.end for one in (first, second) if one.end is not None), default=None)
        if end is None or start < end:
            found.append(Overlap(first, second, start, end))
    return sorted(found, key=lambda one: one.start)


def gaps_of(phases: Sequence[Dates]) -> list[Gap]:
    """Return every period between the first and the last start in which no phase is open."""
    found: list[Gap] = []
    latest: Dates | None = None
    for phase in sorted(phases, key=lambda one: one.start):
        if latest is not None and latest.end is not None and latest.end < phase.start:
            found.append(Gap(latest, phase, latest.end, phase.start))
        if latest is None or (latest.end is not None and (phase.end is None or latest.end < phase.end)):
            latest = phase
    return found


def sentences(phases: Sequence[Dates]) -> list[str]:
    """Return sentences on overlaps and gaps."""
    words = []
    for one in overlaps_of(phases):
        until = f" to {_clocks(one.end)}, {_lasting(one.end - one.start)}" if one.end else " on"
        words.append(f"“{one.first.title}” and “{one.second.title}” are both open from {_clocks(one.start)}{until}.")
    for gap in gaps_of(phases):
        words.append(
            f"Between “{gap.before.title}” and “{gap.after.title}” no phase is open, "
            f"from {_clocks(gap.start)} to {_clocks(gap.end)}, {_lasting(gap.end - gap.start)}."
        )
    return words


def published_sentences(phases: Sequence[Dates]) -> list[str]:
    """Return a sentence for each phase whose scores become public at another time than its start and end."""
    return [
        f"Scores of “{one.title}” are public from {_clocks(moment)} (the dashed line in its row)."
        for one in phases
        for moment in one.published
    ]


def _words(phase: Dates) -> str:
    return f"from {_clocks(phase.start)} {f'to {_clocks(phase.end)}' if phase.end else 'without an end'}"


def _clocks(moment: datetime) -> str:
    return deadline_words(moment)


def _lasting(span: timedelta) -> str:
    """Return a duration as `3 days`, `5 hours` or `20 minutes`: in the largest unit with a count of at least two."""
    minutes = int(span / timedelta(minutes=1))
    for unit, each in (("day", 24 * 60), ("hour", 60)):
        if minutes >= 2 * each:
            return f"{minutes // each} {unit}s"
    return f"{minutes} minute{'' if minutes == 1 else 's'}"
