"""Figures below a board's table that compare its systems, by task type."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from sqlalchemy.orm import Session

from app.boards.leaderboard import Leaderboard, LeaderboardRow
from app.models import Board
from app.runs.report import aggregates_of
from app.web.html.drawings import Drawable
from app.web.reports.probing_figures import compared_figures
from app.web.reports.probing_splits import Choice, choices, chosen_split, title_of

#: More systems would be unreadable (and many reports to load): only the first of the board are drawn.
SYSTEMS_DRAWN = 10

#: A system's name on the board, and the report of its run.
System = tuple[str, Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class Picture:
    """The figures of a board.

    title: of the chosen split; systems: number of systems drawn; left_out: number of those not drawn.
    """

    title: str
    split: str
    choices: tuple[Choice, ...]
    figures: Sequence[Drawable]
    systems: int = 0
    left_out: int = 0


def picture_of(session: Session, board: Board, leaderboard: Leaderboard, wanted: str | None) -> Picture | None:
    """Return the board's figures; None if its task type has none, or the board is empty.

    leaderboard: as the viewer sees it. Raise NotFound for a split without entries.
    """
    draw = PICTURES.get(board.task.task_type)
    rows = [row for row in leaderboard.rows if row.run_id is not None]
    if draw is None or not rows:
        return None
    first = rows[:SYSTEMS_DRAWN]
    runs = [row.run_id for row in first if row.run_id is not None]
    reports = aggregates_of(session, runs, leaderboard.precision)
    systems = [(_name(row, rows), reports[row.run_id]) for row in first if row.run_id in reports]
    picture = draw(systems, wanted, board.rank_split)
    return replace(picture, systems=len(first), left_out=len(rows) - len(first)) if picture else None


def _name(row: LeaderboardRow, rows: Sequence[LeaderboardRow]) -> str:
    """Return the team, with its method if the team has several rows."""
    is_alone = sum(other.team == row.team for other in rows) == 1
    return row.team if is_alone or not row.method else f"{row.team}: {row.method}"


def _probing_picture(systems: Sequence[System], wanted: str | None, rank_split: str) -> Picture | None:
    splits = list(dict.fromkeys(split for _, report in systems for split in report.get("splits", {})))
    if not splits:
        return None
    chosen = chosen_split(splits, wanted, rank_split)
    entered = [(name, report["splits"][chosen]) for name, report in systems if chosen in report["splits"]]
    ideals = systems[0][1]["ideals"]
    title = title_of(chosen)
    return Picture(title, chosen, choices(splits, chosen), compared_figures(entered, ideals, title))


PICTURES: dict[str, Callable[[Sequence[System], str | None, str], Picture | None]] = {
    "idiomaticity-probing": _probing_picture,
}
