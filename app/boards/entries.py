"""A board's entries as rows: which run stands is `app.standings`' to say; here is what is shown of it.

Everything is here, for nobody's eyes: `app.boards.view` says what of it is shown.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from sqlalchemy import bindparam, select
from sqlalchemy.orm import Session

from app.base.batches import in_batches
from app.boards.marks import Mark, Marks, marks_of
from app.boards.rows import Cell, LeaderboardRow
from app.cards.form import MethodCard
from app.competitions.columns import BoardColumn
from app.models import GoldVersion, PhaseTask, ScoreRow, ScoringRun, Submission, System, Team, TeamKind
from app.runs.private_scores import private_scores
from app.standings.choose import SET_ASIDE, TeamStanding
from app.standings.tries import gold_of_run
from evergold.scoring.halves import Half

#: A query takes only so many parameters.
RUNS_AT_A_TIME = 2000
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
    rows = []
    for run in _runs(session, list(by_run)):
        standing = by_run[run.run_id]
        shown = _with_ladder_value(cells[run.run_id], rank_by, standing)
        row = _row(run, standing, shown, is_ranked=run.team_id in ranked, gold=gold)
        rows.append(_with_marks(row, marks))
    return rows


def _runs(session: Session, runs: Sequence[int]) -> list[Any]:
    """What is shown of runs besides their scores, in the order in which they were submitted."""
    ask = session.connection().execute
    found = [row for some in in_batches(runs, RUNS_AT_A_TIME) for row in ask(_RUNS, {"runs": some}).all()]
    return sorted(found, key=lambda row: (row.submitted_at, row.run_id))


#: Written once, as every board asks this.
_RUNS = (
    select(
        ScoringRun.id.label("run_id"),
        ScoringRun.task_version,
        Team.id.label("team_id"),
        Team.name.label("team"),
        Team.kind,
        Submission.id.label("submission_id"),
        Submission.submitted_at,
        Submission.track,
        Submission.method,
        System.name.label("system"),
        gold_of_run().label("gold"),
        GoldVersion.commitment,
    )
    .join(Submission, Submission.id == ScoringRun.submission_id)
    .join(Team, Team.id == Submission.team_id)
    .outerjoin(System, System.id == Submission.system_id)
    .outerjoin(GoldVersion, GoldVersion.id == ScoringRun.gold_version_id)
    .where(ScoringRun.id.in_(bindparam("runs", expanding=True)))
)


def _with_ladder_value(cells: tuple[Cell, ...], rank_by: int, standing: TeamStanding) -> tuple[Cell, ...]:
    """On a Ladder the ranking score is not what was computed, but what is told."""
    if standing.ladder_value is None:
        return cells
    return (*cells[:rank_by], replace(cells[rank_by], value=standing.ladder_value), *cells[rank_by + 1 :])


def _row(
    run: Any, standing: TeamStanding, cells: tuple[Cell, ...], *, is_ranked: bool, gold: str | None
) -> LeaderboardRow:
    return LeaderboardRow(
        rank=None,
        team=run.team,
        kind="baseline" if run.kind == TeamKind.BASELINE else "team",
        cells=cells,
        achieved_at=run.submitted_at,
        method=run.method,
        card=MethodCard(run.method),
        system=run.system or "",
        entries=standing.entries,
        track=run.track,
        submission_id=run.submission_id,
        run_id=run.run_id,
        team_id=run.team_id,
        commitment=run.commitment,
        task_version=run.task_version,
        is_outdated=gold is not None and run.gold != gold,
        is_ranked=is_ranked,
    )


def cells_of(
    session: Session, runs: Sequence[int], columns: Sequence[BoardColumn], half: Half | None = None
) -> Mapping[int, tuple[Cell, ...]]:
    """All cells of these runs, by run. half: of divided items."""
    place = {(column.metric, column.split): index for index, column in enumerate(columns)}
    empty = (NOT_COMPUTED,) * len(columns)
    found: defaultdict[int, list[Cell]] = defaultdict(lambda: list(empty))
    for run_id, score in private_scores(session, runs) if half is Half.PRIVATE else ():
        if (score.metric, score.split) in place:
            found[run_id][place[score.metric, score.split]] = Cell(score.value, score.reason, score.signature)
    ask = session.connection().execute
    wanted = {"metrics": sorted({metric for metric, _ in place}), "splits": sorted({split for _, split in place})}
    for some in in_batches(runs, RUNS_AT_A_TIME) if half is not Half.PRIVATE else ():
        for run_id, metric, split, value, reason, signature in ask(_SCORES, {**wanted, "runs": some}).all():
            if (metric, split) in place:
                found[run_id][place[metric, split]] = Cell(value, reason, signature)
    return defaultdict(lambda: empty, {run_id: tuple(cells) for run_id, cells in found.items()})


_SCORES = select(
    ScoreRow.run_id, ScoreRow.metric, ScoreRow.split, ScoreRow.value, ScoreRow.reason, ScoreRow.signature
).where(
    ScoreRow.metric.in_(bindparam("metrics", expanding=True)),
    ScoreRow.split.in_(bindparam("splits", expanding=True)),
    ScoreRow.run_id.in_(bindparam("runs", expanding=True)),
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
