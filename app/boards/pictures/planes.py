"""Scatter plots of two scores, a point per system: seen against unseen MWEs, quality against diversity."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy.orm import Session

from app.boards.pictures.languages import LOOKS, series_of_systems
from app.boards.pictures.seen import Seen, value_of
from app.boards.pictures.splits import check_known, choices, plane_splits, title_of
from app.boards.rows import Cell
from app.charts.picture import AxisOut, Heading, LineOut, Picture, PointOut, Table
from app.competitions.columns import BoardColumn
from app.competitions.metrics import metrics_of
from app.runs.report import aggregates_of

ENTROPY = "entropy"
#: Systems beyond this number are only in the table.
MOST_TOLD = 6


def plane(session: Session, seen: Seen, wanted: str | None = None) -> Picture | None:
    """Return the scatter plot of this task type; None if it has none, or the viewer sees no system with both scores."""
    found = {root: both for root in plane_splits(seen.board, seen.options) if (both := _places(seen, root))}
    if not found:
        return None
    if wanted is not None:
        check_known([wanted], list(found), "split")
    default = seen.board.rank_split.split("/")[0]
    root = wanted or (default if default in found else next(iter(found)))
    at_x, at_y = found[root]
    is_quality = seen.board.task.task_type == "mwe-paraphrase"
    x, y = (_axis(seen, at, _titles(seen, at, is_quality)) for at in (at_x, at_y))
    points = [
        (LOOKS[row.kind], _point(name, row.cells[at_x], row.cells[at_y], is_mine=row.is_mine))
        for name, row in seen.named_rows()
    ]
    drawn = [point for _, point in points if point.x is not None and point.y is not None]
    named, names = drawn[:MOST_TOLD], (x.title, y.title) if is_quality else ("seen", "unseen")
    lines = _references(session, seen, root) if is_quality else ()
    return Picture(
        name="bertscore-entropy" if is_quality else "seen-unseen",
        title="BERTScore against entropy" if is_quality else "Seen against unseen MWEs",
        kind="scatter",
        about=_about(is_quality, has_lines=bool(lines)),
        summary=f"{title_of(root)}, {len(drawn)} of {len(points)} systems. "
        + "; ".join(
            f"{point.label}: {names[1]} {y.text_of(point.y)}, {names[0]} {x.text_of(point.x)}" for point in named
        )
        + ("; the others are in the table." if len(named) < len(drawn) else ".")
        + _not_drawn([point for _, point in points if point not in drawn]),
        x=x,
        y=y,
        series=series_of_systems(points, LOOKS.values()),
        lines=lines,
        diagonal=not is_quality,
        splits=choices(list(found), [root]),
        table=Table(
            (Heading("System"), Heading("Kind"), Heading(y.title, is_number=True), Heading(x.title, is_number=True)),
            (
                *((point.label, look, y.text_of(point.y), x.text_of(point.x)) for look, point in points),
                *((line.label, "reference", "", x.text_of(line.value)) for line in lines),
            ),
        ),
    )


def _places(seen: Seen, root: str) -> tuple[int, int] | None:
    """Return the positions of x and y in a row's cells; None if no system has both."""
    pair = plane_splits(seen.board, seen.options)[root]
    x, y = (seen.place(*score) for score in pair)
    if x is None or y is None:
        return None
    rows = seen.leaderboard.rows
    return (x, y) if any(row.cells[x].value is not None and row.cells[y].value is not None for row in rows) else None


def _axis(seen: Seen, place: int, title: str) -> AxisOut:
    """Return the axis: percent if the metric is; at most two decimals if the board has no column for it."""
    column: BoardColumn = seen.leaderboard.columns[place]
    if column.metric == seen.ranking.metric:
        return AxisOut(title=title, decimals=seen.ranking.decimals, percent=seen.ranking.percent)
    metric = metrics_of(seen.board.task)[column.metric]
    decimals = max(0, min(column.decimals, 3) - 2) if metric.percent else min(column.decimals, 2)
    return AxisOut(title=title, kind="value", decimals=decimals, percent=metric.percent)


def _titles(seen: Seen, place: int, is_quality: bool) -> str:
    column = seen.leaderboard.columns[place]
    title = metrics_of(seen.board.task)[column.metric].title
    return title if is_quality else f"{title}, {column.split.rpartition('/')[2]} MWEs"


def _point(name: str, x: Cell, y: Cell, *, is_mine: bool) -> PointOut:
    (one, why), (other, reason) = value_of(x), value_of(y)
    return PointOut(x=one, y=other, label=name, reason=reason or why, is_mine=is_mine)


def _not_drawn(points: Sequence[PointOut]) -> str:
    """Return a sentence on the first points without a position, with the reasons; "" if there are none."""
    if not points:
        return ""
    words = [f"{point.label} ({point.reason})" for point in points[:MOST_TOLD]]
    more = f" and {len(points) - MOST_TOLD} more" if len(points) > MOST_TOLD else ""
    return f" Not drawn: {', '.join(words)}{more}."


def _references(session: Session, seen: Seen, root: str) -> tuple[LineOut, ...]:
    """Return lines for the entropies of the organisers' own references, from the latest report."""
    newest = max((row.run_id for row in seen.leaderboard.rows if row.run_id is not None), default=None)
    if newest is None:
        return ()
    report = aggregates_of(session, [newest], seen.leaderboard.precision).get(newest, {})
    references: Mapping[str, Any] = report.get("references", {})
    found = {kind: (languages.get(root) or {}).get(ENTROPY) for kind, languages in references.items()}
    return tuple(
        LineOut(label=f"{kind.capitalize()} references", axis="x", value=entropy)
        for kind, entropy in found.items()
        if entropy is not None
    )


def _about(is_quality: bool, *, has_lines: bool) -> str:
    if not is_quality:
        return (
            "Further right is better on MWEs in the training data, further up is better on unseen MWEs; on the "
            "dashed line both are equal."
        )
    lines = " The dashed lines are the entropies of the organisers’ references." if has_lines else ""
    return f"Up is closer to a reference, right is more variety in the new words.{lines}"
