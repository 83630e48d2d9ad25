"""A board's entries: the scored submissions of a phase in its track and setting, and which of them a team stands with.

Everything is here, for nobody's eyes: `app.board_view` says what of it is shown.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from uuid import UUID

from sqlalchemy import ColumnElement, and_, func, or_, select, true
from sqlalchemy.orm import Session

from app.board_columns import BoardColumn
from app.board_rows import Cell, LeaderboardRow, decimals_of, goodness, sign_of
from app.entry_rules import EntrySettings
from app.models import (
    Board,
    EntryChoice,
    EntryRule,
    GoldVersion,
    PhaseTask,
    RunStatus,
    ScoreRow,
    ScoringRun,
    Submission,
    Team,
    TeamKind,
)
from app.visibility import rounded
from scoring.ladder import ladder, record_holder
from scoring.task import NOT_ENTERED


@dataclass(frozen=True, slots=True)
class Entry:
    """A scored submission that entered the board's setting."""

    run_id: int
    team_id: int
    team: str
    kind: TeamKind
    submission_id: UUID
    submitted_at: datetime
    track: str | None
    method: str
    gold: str  # the commitment of sealed gold, the name of plain gold
    commitment: str | None  # of sealed gold
    cells: tuple[Cell, ...]


def entries_of(
    session: Session, phase_task: PhaseTask, board: Board, columns: Sequence[BoardColumn], rank_by: int
) -> list[Entry]:
    """In the order in which they were submitted."""
    runs = session.execute(
        select(
            ScoringRun.id,
            Team.id,
            Team.name,
            Team.kind,
            Submission.id,
            Submission.submitted_at,
            Submission.track,
            Submission.method,
            func.coalesce(GoldVersion.commitment, ScoringRun.gold),
            GoldVersion.commitment,
        )
        .join(Submission, Submission.id == ScoringRun.submission_id)
        .join(Team, Team.id == Submission.team_id)
        .outerjoin(GoldVersion, GoldVersion.id == ScoringRun.gold_version_id)
        .where(
            Submission.phase_task_id == phase_task.id,
            ScoringRun.is_current,
            ScoringRun.status == RunStatus.SCORED,
            _in_track(board),
        )
        .order_by(Submission.submitted_at, ScoringRun.id)
    ).all()
    cells = _cells(session, phase_task, columns)
    found = [
        Entry(run_id, team_id, team, TeamKind(kind), submission_id, at, track, method, gold, sealed, cells[run_id])
        for run_id, team_id, team, kind, submission_id, at, track, method, gold, sealed in runs
    ]
    return [entry for entry in found if entry.cells[rank_by].reason != NOT_ENTERED]


def chosen_rows(
    session: Session,
    phase_task: PhaseTask,
    board: Board,
    entries: Sequence[Entry],
    settings: EntrySettings,
    ranking: tuple[int, BoardColumn, int | None],
) -> list[LeaderboardRow]:
    """The rows of those entries that stand on the board, without ranks and in no order.

    ranking: the ranking column's index, the column, and the precision by which the best is found: of two that look
    equal the earlier stands, so that nobody learns by the choice which one is better.
    """
    by_team: defaultdict[int, list[Entry]] = defaultdict(list)
    for entry in entries:
        by_team[entry.team_id].append(entry)
    if settings.rule is EntryRule.ALL:
        return [_row(entry, len(by_team[entry.team_id])) for entry in entries]
    if settings.rule is EntryRule.LADDER and settings.ladder_step is not None:
        return [_on_ladder(theirs, settings.ladder_step, ranking) for theirs in by_team.values()]
    choices = _choices(session, phase_task, board) if settings.rule is EntryRule.CHOSEN else {}
    return [_row(_standing(theirs, settings, choices, ranking), len(theirs)) for theirs in by_team.values()]


def _standing(
    theirs: Sequence[Entry],
    settings: EntrySettings,
    choices: Mapping[int, UUID],
    ranking: tuple[int, BoardColumn, int | None],
) -> Entry:
    """The entry that a team stands with."""
    chosen = choices.get(theirs[0].team_id)
    found = next((entry for entry in theirs if entry.submission_id == chosen), None)
    if found is not None:
        return found
    rule = settings.without_choice if settings.rule is EntryRule.CHOSEN else settings.rule
    # Organisers replace a baseline's file; the one they replaced must not outlive it because it was better.
    if rule is EntryRule.LAST or theirs[-1].kind is TeamKind.BASELINE:
        return theirs[-1]
    rank_by, column, precision = ranking
    decimals, sign = decimals_of(column, precision), sign_of(column)
    return min(theirs, key=lambda entry: goodness(rounded(entry.cells[rank_by].value, decimals), sign))


def _on_ladder(theirs: Sequence[Entry], step: float, ranking: tuple[int, BoardColumn, int | None]) -> LeaderboardRow:
    """The record's holder, its ranking score as it is told; a team without a defined score stands with its last."""
    rank_by, column, _ = ranking
    if theirs[-1].kind is TeamKind.BASELINE:
        return _row(theirs[-1], len(theirs))
    values = [entry.cells[rank_by].value for entry in theirs]
    holder = record_holder(values, step, higher_is_better=column.higher_is_better)
    if holder is None:
        return _row(theirs[-1], len(theirs))
    told = ladder(values, step, higher_is_better=column.higher_is_better)[-1]
    cells = list(theirs[holder].cells)
    cells[rank_by] = replace(cells[rank_by], value=told)
    return _row(replace(theirs[holder], cells=tuple(cells)), len(theirs))


def _choices(session: Session, phase_task: PhaseTask, board: Board) -> dict[int, UUID]:
    """The chosen submissions by team."""
    made = session.execute(
        select(EntryChoice.team_id, EntryChoice.submission_id).where(
            EntryChoice.phase_task_id == phase_task.id, EntryChoice.board_id == board.id
        )
    )
    return {team_id: submission_id for team_id, submission_id in made}


def _row(entry: Entry, entries: int) -> LeaderboardRow:
    return LeaderboardRow(
        rank=None,
        team=entry.team,
        kind="baseline" if entry.kind is TeamKind.BASELINE else "team",
        cells=entry.cells,
        achieved_at=entry.submitted_at,
        method=entry.method,
        entries=entries,
        track=entry.track,
        submission_id=entry.submission_id,
        run_id=entry.run_id,
        team_id=entry.team_id,
        commitment=entry.commitment,
    )


def _in_track(board: Board) -> ColumnElement[bool]:
    """The board's own track; a baseline without one is there for all to compare with."""
    if board.track is None:
        return true()
    for_all = and_(Submission.track.is_(None), Team.kind == TeamKind.BASELINE)
    return or_(Submission.track == board.track, for_all)


def _cells(
    session: Session, phase_task: PhaseTask, columns: Sequence[BoardColumn]
) -> defaultdict[int, tuple[Cell, ...]]:
    """By run."""
    place = {(column.metric, column.split): index for index, column in enumerate(columns)}
    empty = tuple(Cell(None, "not computed", None) for _ in columns)
    found: defaultdict[int, list[Cell]] = defaultdict(lambda: list(empty))
    scores = session.execute(
        select(ScoreRow.run_id, ScoreRow.metric, ScoreRow.split, ScoreRow.value, ScoreRow.reason, ScoreRow.signature)
        .join(ScoringRun, ScoringRun.id == ScoreRow.run_id)
        .join(Submission, Submission.id == ScoringRun.submission_id)
        .where(
            Submission.phase_task_id == phase_task.id,
            ScoringRun.is_current,
            ScoreRow.metric.in_({column.metric for column in columns}),
            ScoreRow.split.in_({column.split for column in columns}),
        )
    )
    for run_id, metric, split, value, reason, signature in scores:
        if (metric, split) in place:
            found[run_id][place[metric, split]] = Cell(value, reason, signature)
    return defaultdict(lambda: empty, {run_id: tuple(cells) for run_id, cells in found.items()})
