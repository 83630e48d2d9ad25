"""A board's entries as rows, for the runs chosen by `app.standings`.

Rows are unfiltered; see `app.boards.view` for access rules.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import astuple
from datetime import datetime
from functools import cache
from operator import attrgetter
from typing import Any, NamedTuple
from uuid import UUID

import orjson
from sqlalchemy import bindparam, select
from sqlalchemy.orm import Session

from app.base.db import among
from app.boards.marks import Mark, Marks, marks_of
from app.boards.rows import Cell, LeaderboardRow
from app.cards.form import MethodCard
from app.competitions.columns import BoardColumn
from app.models import GoldVersion, PhaseTask, ScoreRow, ScoringRun, Submission, System, Team, TeamKind
from app.runs.private_scores import private_scores
from app.standings.choose import SET_ASIDE, Rules
from app.standings.facts import Facts
from app.standings.kept import AnyStanding, KeptStanding
from app.standings.tries import gold_of_run
from evergold.scoring.halves import Half

NOT_COMPUTED = Cell(None, "not computed", None)


def rows_of(
    session: Session,
    phase_task: PhaseTask,
    standings: Sequence[AnyStanding],
    columns: Sequence[BoardColumn],
    rules: Rules,
    gold: str | None,
    half: Half | None = None,
) -> list[LeaderboardRow]:
    """Build the rows of the board's entries, without ranks, in order of submission.

    rules: that they were chosen by.
    gold: the one in use; runs scored against another are outdated.
    half: the part of divided items whose scores are wanted.
    """
    marks, ranked = marks_of(session, phase_task), frozenset(phase_task.ranked_baselines)
    by_run = {one.run_id: one for one in standings}
    rank_by = [(column.metric, column.split) for column in columns].index((rules.metric, rules.split))
    card = cache(MethodCard)  # equal methods share an object
    rows = []
    runs, cells = _runs_and_cells(session, standings, columns, rules, half)
    for run in runs:
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


def _runs_and_cells(
    session: Session,
    standings: Sequence[AnyStanding],
    columns: Sequence[BoardColumn],
    rules: Rules,
    half: Half | None,
) -> tuple[list[_Run], Mapping[int, tuple[Cell, ...]]]:
    """Return runs in order of submission, and their cells: from cached standings, else from the original tables."""
    kept = [(one, Facts._make(orjson.loads(one.facts))) for one in standings if isinstance(one, KeptStanding)]
    runs = [_kept_run(*one) for one in kept]
    others = [one.run_id for one in standings if not isinstance(one, KeptStanding)]
    if others:
        runs += [_Run._make(row) for row in session.connection().execute(_RUNS, {"runs": others})]
    runs.sort(key=attrgetter("submitted_at", "run_id"))
    wanted = [(column.metric, column.split) for column in columns]
    if half is Half.PRIVATE or not set(wanted) <= set(rules.columns):
        return runs, cells_of(session, [one.run_id for one in standings], columns, half)
    cells = {}
    if others:
        found = cells_of(session, others, columns, half)
        cells = {run_id: found[run_id] for run_id in others}
    places = [rules.columns.index(column) for column in wanted]
    cells |= {one.run_id: _kept_cells(facts, places) for one, facts in kept}
    return runs, cells


def _kept_run(standing: KeptStanding, facts: Facts) -> _Run:
    return _Run(
        standing.run_id,
        facts.task_version,
        standing.team_id,
        standing.team,
        standing.kind,
        UUID(facts.submission_id),
        datetime.fromisoformat(facts.submitted_at),
        facts.track,
        facts.method,
        standing.system,
        facts.gold,
        facts.commitment,
    )


def _kept_cells(facts: Facts, places: Sequence[int]) -> tuple[Cell, ...]:
    scores = [facts.scores[place] for place in places]
    return tuple([NOT_COMPUTED if score is None else Cell(*score) for score in scores])


class _Run(NamedTuple):
    """A row of the query below, or of a cached standing."""

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


#: Facts of runs besides their scores. Built once, since every board that is not cached executes this.
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
)


def _with_ladder_value(cells: tuple[Cell, ...], rank_by: int, standing: AnyStanding) -> tuple[Cell, ...]:
    """Replace the ranking score by the one that a Ladder reports."""
    if standing.ladder_value is None:
        return cells
    return (*cells[:rank_by], cells[rank_by]._replace(value=standing.ladder_value), *cells[rank_by + 1 :])


def cells_of(
    session: Session, runs: Sequence[int], columns: Sequence[BoardColumn], half: Half | None = None
) -> Mapping[int, tuple[Cell, ...]]:
    """Return all cells of these runs, by run. half: of divided items."""
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
    """Apply the mark of the submission, or that of its team if it is stricter."""
    if not marks.teams and not marks.submissions:
        return row
    row = _marked(row, marks.submissions.get(row.submission_id) if row.submission_id else None)
    return _marked(row, stricter_mark(marks.teams.get(row.team_id or 0), row))


def stricter_mark(mark: Mark | None, row: LeaderboardRow) -> Mark | None:
    """Return the team's mark unless the row's own is stricter."""
    return mark if mark and SET_ASIDE.get(mark.status, 0) >= SET_ASIDE.get(row.status, 0) else None


def apply_team_marks(rows: Sequence[LeaderboardRow], marks: Marks) -> list[LeaderboardRow]:
    """Reapply team marks of the target phase to carried-over rows."""
    return [_marked(row, stricter_mark(marks.teams.get(row.team_id or 0), row)) for row in rows]


def _marked(row: LeaderboardRow, mark: Mark | None) -> LeaderboardRow:
    return row._replace(status=mark.status, note=mark.note) if mark else row
