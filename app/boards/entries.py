"""A board's entries as rows: which run stands is `app.standings`' to say; here is what is shown of it.

Everything is here, for nobody's eyes: `app.boards.view` says what of it is shown.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import astuple
from datetime import datetime
from functools import cache
from typing import Any, NamedTuple
from uuid import UUID

from sqlalchemy import bindparam, select
from sqlalchemy.orm import Session

from app.base.db import among
from app.boards.marks import Mark, Marks, marks_of
from app.boards.rows import Cell, LeaderboardRow
from app.cards.form import MethodCard
from app.competitions.columns import BoardColumn
from app.models import GoldVersion, PhaseTask, ScoreRow, ScoringRun, Submission, System, Team, TeamKind
from app.runs.private_scores import private_scores
from app.standings.choose import SET_ASIDE, TeamStanding
from app.standings.tries import gold_of_run
from evergold.scoring.halves import Half

NOT_COMPUTED = Cell(None, "not computed", None)


def rows_of(
    session: Session,
    phase_task: PhaseTask,
    standings: Sequence[TeamStanding],
    columns: Sequence[BoardColumn],
    rank_by: int,
    gold: str | None,
    half: Half | None = None,
) -> list[LeaderboardRow]:
    """The rows of what stands on the board, without ranks and in no order.

    rank_by: the ranking column's index; gold: the one in use, what was scored against another is outdated; half: of
    divided items, whose scores are wanted.
    """
    marks, ranked = marks_of(session, phase_task), frozenset(phase_task.ranked_baselines)
    by_run = {one.run_id: one for one in standings}
    cells = cells_of(session, list(by_run), columns, half)
    card = cache(MethodCard)  # equal methods are one
    rows = []
    for found in session.connection().execute(_RUNS, {"runs": list(by_run)}).all():
        run = _Run._make(found)
        standing = by_run[run.run_id]
        row = LeaderboardRow(
            rank=None,
            team=run.team,
            kind="baseline" if run.kind == TeamKind.BASELINE else "team",
            cells=_with_ladder_value(cells[run.run_id], rank_by, standing),
            achieved_at=run.submitted_at,
            method=run.method,
            card=card(run.method),
            system=run.system or "",
            entries=standing.entries,
            track=run.track,
            submission_id=run.submission_id,
            run_id=run.run_id,
            team_id=run.team_id,
            commitment=run.commitment,
            task_version=run.task_version,
            is_outdated=gold is not None and run.gold != gold,
            is_ranked=run.team_id in ranked,
        )
        rows.append(_with_marks(row, marks))
    return rows


class _Run(NamedTuple):
    """Of the query below."""

    run_id: int
    task_version: int | None
    team_id: int
    team: str
    kind: TeamKind
    submission_id: UUID
    submitted_at: datetime
    track: str | None
    method: str
    system: str | None
    gold: str
    commitment: str | None


#: What is shown of runs besides their scores, in the order in which they were submitted. Written once, as every board
#: asks this.
_RUNS = (
    select(
        ScoringRun.id,
        ScoringRun.task_version,
        Team.id,
        Team.name,
        Team.kind,
        Submission.id,
        Submission.submitted_at,
        Submission.track,
        Submission.method,
        System.name,
        gold_of_run(),
        GoldVersion.commitment,
    )
    .join(Submission, Submission.id == ScoringRun.submission_id)
    .join(Team, Team.id == Submission.team_id)
    .outerjoin(System, System.id == Submission.system_id)
    .outerjoin(GoldVersion, GoldVersion.id == ScoringRun.gold_version_id)
    .where(among(ScoringRun.id, "runs"))
    .order_by(Submission.submitted_at, ScoringRun.id)
)


def _with_ladder_value(cells: tuple[Cell, ...], rank_by: int, standing: TeamStanding) -> tuple[Cell, ...]:
    """On a Ladder the ranking score is not what was computed, but what is told."""
    if standing.ladder_value is None:
        return cells
    return (*cells[:rank_by], cells[rank_by]._replace(value=standing.ladder_value), *cells[rank_by + 1 :])


def cells_of(
    session: Session, runs: Sequence[int], columns: Sequence[BoardColumn], half: Half | None = None
) -> Mapping[int, tuple[Cell, ...]]:
    """All cells of these runs, by run. half: of divided items."""
    places = {(column.metric, column.split): index for index, column in enumerate(columns)}
    empty = (NOT_COMPUTED,) * len(columns)
    found: defaultdict[int, list[Cell]] = defaultdict(lambda: list(empty))
    if half is Half.PRIVATE:
        scores: Iterable[Sequence[Any]] = ((run_id, *astuple(score)) for run_id, score in private_scores(session, runs))
    else:
        wanted = {"metrics": sorted({metric for metric, _ in places}), "splits": sorted({split for _, split in places})}
        scores = session.connection().execute(_SCORES, {**wanted, "runs": runs}).all()
    for run_id, metric, split, *cell in scores:
        place = places.get((metric, split))
        if place is not None:
            found[run_id][place] = Cell(*cell)
    return defaultdict(lambda: empty, {run_id: tuple(cells) for run_id, cells in found.items()})


_SCORES = select(
    ScoreRow.run_id, ScoreRow.metric, ScoreRow.split, ScoreRow.value, ScoreRow.reason, ScoreRow.signature
).where(
    ScoreRow.metric.in_(bindparam("metrics", expanding=True)),
    ScoreRow.split.in_(bindparam("splits", expanding=True)),
    among(ScoreRow.run_id, "runs"),
)


# --------------------------------------------------------------------------------------------------------------- marks


def _with_marks(row: LeaderboardRow, marks: Marks) -> LeaderboardRow:
    """With what organisers say of the submission, or of its team where that is more."""
    if not marks.teams and not marks.submissions:
        return row
    row = _marked(row, marks.submissions.get(row.submission_id) if row.submission_id else None)
    return _marked(row, stronger(marks.teams.get(row.team_id or 0), row))


def stronger(mark: Mark | None, row: LeaderboardRow) -> Mark | None:
    """A mark of the whole team, unless more is said of the row already."""
    return mark if mark and SET_ASIDE.get(mark.status, 0) >= SET_ASIDE.get(row.status, 0) else None


def marked_again(rows: Sequence[LeaderboardRow], marks: Marks) -> list[LeaderboardRow]:
    """Rows that were carried over, with what organisers say of their teams where they stand now."""
    return [_marked(row, stronger(marks.teams.get(row.team_id or 0), row)) for row in rows]


def _marked(row: LeaderboardRow, mark: Mark | None) -> LeaderboardRow:
    return row._replace(status=mark.status, note=mark.note) if mark else row
