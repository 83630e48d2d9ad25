"""Pictures over time: the record and all entries, and the number of submissions per day."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from datetime import UTC, date, timedelta

from app.boards.pictures.seen import Seen
from app.boards.rows import LeaderboardRow
from app.charts.axes import month_name
from app.charts.picture import AxisOut, Heading, LineOut, Picture, PointOut, SeriesOut, Table
from evergold.moments import date_words

#: Maximum number of drawn entries, since more would overlap: all records are drawn, and the latest of the others.
MOST_ENTRIES = 1000
#: A longer time is counted by months.
MOST_DAYS = 92
_EVERY = "Points are scored submissions; the line is the best score to date."
_NEWEST = "Points are the latest scored submissions; the line is the best score among them."
_STOOD = "Points are all entries so far, including those replaced since; the line is the best score to date."
_STANDING = "Points are current entries; the line is the best score to date."


def progress(seen: Seen) -> Picture | None:
    """Return a picture of the ranking score over time: a step for each record, a point for each entry; None if there
    are none.
    """
    ranking = seen.entries.columns[0]
    rows = sorted(
        (row for row in seen.entries.rows if row.kind == "team" and row.achieved_at and row.cells[0].value is not None),
        key=lambda row: (row.achieved_at, row.team),
    )
    if not rows:
        return None
    x, y = AxisOut(title="Submitted", kind="time"), seen.ranking_axis
    records = _records(rows, higher_is_better=ranking.higher_is_better)
    kept = [at for at in range(len(rows)) if at in records or at >= len(rows) - MOST_ENTRIES]
    points = tuple(_point(rows[at]) for at in kept)
    steps = tuple(_point(rows[at]) for at in records)
    lines = _lines(seen)
    return Picture(
        name="progress",
        title="Progress over time",
        kind="steps",
        about=_about(seen),
        summary=_progress_summary(rows, rows[records[-1]], lines, y),
        x=x,
        y=y,
        series=(
            SeriesOut(name="Entries", look="team", points=points),
            SeriesOut(name="Record", look="record", points=steps),
        ),
        lines=lines,
        table=Table(
            (Heading("Team"), Heading("Submitted"), Heading(y.title, is_number=True), Heading("Record")),
            (
                *(
                    (point.label, x.text_of(point.x), y.text_of(point.y), "record" if at in records else "")
                    for at, point in zip(kept, points, strict=True)
                ),
                *((line.label, "", y.text_of(line.value), "") for line in lines),
            ),
        ),
        left_out=len(rows) - len(kept),
    )


def _about(seen: Seen) -> str:
    if seen.drawn == "current":
        return _STANDING
    return _NEWEST if seen.is_cut else _STOOD if seen.drawn == "stood" else _EVERY


def _progress_summary(
    rows: Sequence[LeaderboardRow], record: LeaderboardRow, lines: Sequence[LineOut], y: AxisOut
) -> str:
    count = "1 entry" if len(rows) == 1 else f"{len(rows)} entries"
    latest = "".join(f" {line.label} {y.text_of(line.value)}." for line in lines)
    return (
        f"{count} {_span(_day(rows[0]), _day(rows[-1]))}. The record is {y.text_of(record.cells[0].value)}, by "
        f"{record.team} since {_day(record)}.{latest}"
    )


def daily(seen: Seen) -> Picture | None:
    """Return a picture of the number of scored submissions per day; None if there were none."""
    if not seen.submitted:
        return None
    days = [day.astimezone(UTC).date() for day in seen.submitted]
    first, last = min(days), max(days)
    by_month = (last - first).days >= MOST_DAYS
    names = _months(first, last) if by_month else _days(first, last)
    counted = Counter(f"{day:%Y-%m}" if by_month else day.isoformat() for day in days)
    unit = "month" if by_month else "day"
    which = "The newest scored submissions" if seen.is_cut else "Scored submissions"
    x, y = (
        AxisOut(title=f"{unit.capitalize()} (UTC)", kind="category", categories=tuple(names)),
        AxisOut(title="Scored submissions"),
    )
    busiest = max(names, key=lambda name: counted[name])
    shown = month_name(date.fromisoformat(f"{busiest}-01")) if by_month else date_words(date.fromisoformat(busiest))
    points = tuple(PointOut(x=name, y=float(counted[name])) for name in names)
    total = "1 scored submission" if len(days) == 1 else f"{len(days)} scored submissions"
    return Picture(
        name="submissions",
        title=f"Submissions per {unit}",
        kind="bars",
        about=f"{which} of all teams on this board; rejected files do not count.",
        summary=f"{total} {_span(date_words(first), date_words(last))}. The busiest {unit} was {shown} with "
        f"{counted[busiest]}.",
        x=x,
        y=y,
        series=(SeriesOut(name="Scored submissions", look="count", points=points),),
        table=Table(
            (Heading(x.title), Heading(y.title, is_number=True)),
            tuple((str(point.x), y.text_of(point.y)) for point in points),
        ),
    )


def _records(rows: Sequence[LeaderboardRow], *, higher_is_better: bool) -> list[int]:
    """Return the indices of rows that were better than all before them."""
    found: list[int] = []
    sign, best = 1 if higher_is_better else -1, float("-inf")
    for at, row in enumerate(rows):
        value = row.cells[0].value
        if value is not None and sign * value > best:
            best = sign * value
            found.append(at)
    return found


def _lines(seen: Seen) -> tuple[LineOut, ...]:
    """Return lines for the best baseline and the best published result; rows are ordered best first."""
    found = []
    for kind, word in (("baseline", "Baseline"), ("historic", "Published")):
        best = next((row for row in seen.entries.rows if row.kind == kind and row.cells[0].value is not None), None)
        if best is not None and best.cells[0].value is not None:
            found.append(LineOut(label=f"{word}: {best.team}", axis="y", value=best.cells[0].value))
    return tuple(found)


def _point(row: LeaderboardRow) -> PointOut:
    moment = row.achieved_at.astimezone(UTC).isoformat() if row.achieved_at else None
    return PointOut(x=moment, y=row.cells[0].value, label=row.team, is_mine=row.is_mine)


def _day(row: LeaderboardRow) -> str:
    return date_words(row.achieved_at.astimezone(UTC)) if row.achieved_at else ""


def _span(first: str, last: str) -> str:
    return f"on {first}" if first == last else f"from {first} to {last}"


def _days(first: date, last: date) -> list[str]:
    return [(first + timedelta(days=number)).isoformat() for number in range((last - first).days + 1)]


def _months(first: date, last: date) -> list[str]:
    count = 12 * (last.year - first.year) + last.month - first.month + 1
    start = 12 * first.year + first.month - 1
    return [f"{(start + number) // 12}-{(start + number) % 12 + 1:02}" for number in range(count)]
