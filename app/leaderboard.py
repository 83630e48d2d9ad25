"""A leaderboard, derived from scored runs whenever it is asked for and never incremented.

Ranked: teams' entries with a defined score in the ranking column. Shown without a rank: entries whose ranking score is
undefined, baselines, and historic rows. Not shown: a team that did not enter the board's setting, or its track.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Literal
from uuid import UUID

from sqlalchemy import ColumnElement, and_, func, or_, select, true
from sqlalchemy.orm import Session

from app.board_columns import BoardColumn, columns_shown
from app.models import (
    Board,
    Competition,
    EntryRule,
    HistoricRow,
    Phase,
    PhaseTask,
    RunStatus,
    ScoreRow,
    ScoringRun,
    Submission,
    Team,
    TeamKind,
    TeamMember,
    User,
)
from scoring.task import NOT_ENTERED

RowKind = Literal["team", "baseline", "historic"]


@dataclass(frozen=True, slots=True)
class Cell:
    """A value, or None with the reason; historic cells have no signature: nobody knows how they were computed."""

    value: float | None
    reason: str | None
    signature: str | None


@dataclass(frozen=True, slots=True)
class LeaderboardRow:
    """rank: None for everything that is shown without one; entries: how many scored submissions the team has here;
    run_id: whose report says more (live rows only; for us, never for readers).
    """

    rank: int | None
    team: str
    kind: RowKind
    cells: tuple[Cell, ...]
    achieved_at: datetime | None
    method: str
    entries: int
    track: str | None = None
    source: str | None = None
    submission_id: UUID | None = None  # of the viewer's own rows only
    is_mine: bool = False
    run_id: int | None = None


@dataclass(frozen=True, slots=True)
class Leaderboard:
    """rank_by: index of the ranking column. version: equal versions show equal boards (to the same viewer).

    has_tracks: whether submissions belong to tracks, which rows then name.
    """

    columns: tuple[BoardColumn, ...]
    rank_by: int
    rows: tuple[LeaderboardRow, ...]
    version: str
    entry_rule: EntryRule
    has_tracks: bool = False


@dataclass(frozen=True, slots=True)
class _Entry:
    run_id: int
    team_id: int
    team: str
    kind: TeamKind
    submission_id: UUID
    submitted_at: datetime
    track: str | None
    method: str
    cells: tuple[Cell, ...]


def board_version(session: Session, phase: Phase, board: Board) -> str:
    """Changes whenever the board could show something else; one small query, for answering from a cache."""
    version = session.scalar(
        select(PhaseTask.board_version).where(PhaseTask.phase_id == phase.id, PhaseTask.task_id == board.task_id)
    )
    return f"{phase.id}-{board.id}-{version or 0}"


def build_leaderboard(session: Session, phase: Phase, board: Board, viewer: User | None, now: datetime) -> Leaderboard:
    """The board as this viewer sees it at this moment. `board.task` must be loaded."""
    version = board_version(session, phase, board)
    options, tracks = _surroundings(session, phase, board)
    columns = columns_shown(board, options)
    rank_by = next(i for i, c in enumerate(columns) if (c.metric, c.split) == (board.rank_metric, board.rank_split))
    entries = [e for e in _entries(session, phase, board, columns) if e.cells[rank_by].reason != NOT_ENTERED]
    sign = -1.0 if columns[rank_by].higher_is_better else 1.0
    chosen, counts = _choose(entries, EntryRule(phase.entry_rule), rank_by, sign)
    mine = _teams_of(session, viewer)
    rows = [_live_row(entry, counts[entry.team_id], entry.team_id in mine) for entry in chosen]
    rows += _historic_rows(session, phase, board, columns)
    ordered = sorted(rows, key=lambda row: _order(row, rank_by, sign))
    ranked = _ranked(ordered, rank_by)
    return Leaderboard(columns, rank_by, ranked, version, EntryRule(phase.entry_rule), bool(tracks))


def _surroundings(session: Session, phase: Phase, board: Board) -> tuple[dict[str, Any], list[Any]]:
    """The task's options as they hold in this phase, and the competition's tracks."""
    found = session.execute(
        select(PhaseTask.options, Competition.tracks)
        .join(Phase, Phase.id == PhaseTask.phase_id)
        .join(Competition, Competition.id == Phase.competition_id)
        .where(PhaseTask.phase_id == phase.id, PhaseTask.task_id == board.task_id)
    ).first()
    return ({**board.task.options, **found.options}, found.tracks) if found else (board.task.options, [])


# ---------------------------------------------------------------------------------------------------------- live rows


def _entries(session: Session, phase: Phase, board: Board, columns: Sequence[BoardColumn]) -> list[_Entry]:
    runs = session.execute(
        select(
            ScoringRun.id,
            Submission.id,
            Submission.submitted_at,
            Submission.track,
            Submission.method,
            Team.id,
            Team.name,
            Team.kind,
        )
        .join(Submission, Submission.id == ScoringRun.submission_id)
        .join(PhaseTask, PhaseTask.id == Submission.phase_task_id)
        .join(Team, Team.id == Submission.team_id)
        .where(
            PhaseTask.phase_id == phase.id,
            PhaseTask.task_id == board.task_id,
            ScoringRun.is_current,
            ScoringRun.status == RunStatus.SCORED,
            _in_track(board),
        )
        .order_by(Submission.submitted_at, ScoringRun.id)
    ).all()
    cells = _cells(session, phase, board, columns)
    return [
        _Entry(run_id, team_id, team, TeamKind(kind), submission_id, submitted_at, track, method, cells[run_id])
        for run_id, submission_id, submitted_at, track, method, team_id, team, kind in runs
    ]


def _in_track(board: Board) -> ColumnElement[bool]:
    """The board's own track; a baseline without one is there for all to compare with."""
    if board.track is None:
        return true()
    for_all = and_(Submission.track.is_(None), Team.kind == TeamKind.BASELINE)
    return or_(Submission.track == board.track, for_all)


def _cells(
    session: Session, phase: Phase, board: Board, columns: Sequence[BoardColumn]
) -> defaultdict[int, tuple[Cell, ...]]:
    place = {(column.metric, column.split): index for index, column in enumerate(columns)}
    empty = tuple(Cell(None, "not computed", None) for _ in columns)
    found: defaultdict[int, list[Cell]] = defaultdict(lambda: list(empty))
    scores = session.execute(
        select(ScoreRow.run_id, ScoreRow.metric, ScoreRow.split, ScoreRow.value, ScoreRow.reason, ScoreRow.signature)
        .join(ScoringRun, ScoringRun.id == ScoreRow.run_id)
        .join(Submission, Submission.id == ScoringRun.submission_id)
        .join(PhaseTask, PhaseTask.id == Submission.phase_task_id)
        .where(
            PhaseTask.phase_id == phase.id,
            PhaseTask.task_id == board.task_id,
            ScoringRun.is_current,
            ScoreRow.metric.in_({column.metric for column in columns}),
            ScoreRow.split.in_({column.split for column in columns}),
        )
    )
    for run_id, metric, split, value, reason, signature in scores:
        if (metric, split) in place:
            found[run_id][place[metric, split]] = Cell(value, reason, signature)
    return defaultdict(lambda: empty, {run_id: tuple(cells) for run_id, cells in found.items()})


def _choose(
    entries: Sequence[_Entry], rule: EntryRule, rank_by: int, sign: float
) -> tuple[list[_Entry], dict[int, int]]:
    """Which entries stand on the board, and how many each team has. `entries` come in order of submission."""
    by_team: defaultdict[int, list[_Entry]] = defaultdict(list)
    for entry in entries:
        by_team[entry.team_id].append(entry)
    counts = {team_id: len(theirs) for team_id, theirs in by_team.items()}
    if rule is EntryRule.ALL:
        return list(entries), counts
    chosen = [
        # Organisers replace a baseline's file; the one they replaced must not outlive it because it was better.
        theirs[-1]
        if rule is EntryRule.LAST or theirs[-1].kind is TeamKind.BASELINE
        else min(theirs, key=lambda entry: _goodness(entry.cells[rank_by].value, sign))
        for theirs in by_team.values()
    ]
    return chosen, counts


def _goodness(value: float | None, sign: float) -> tuple[bool, float]:
    """Sorts better values first and undefined ones last; equal ones keep their order (the earlier submission first)."""
    return value is None, sign * (value or 0.0)


def _live_row(entry: _Entry, entries: int, is_mine: bool) -> LeaderboardRow:
    return LeaderboardRow(
        rank=None,
        team=entry.team,
        kind="baseline" if entry.kind is TeamKind.BASELINE else "team",
        cells=entry.cells,
        achieved_at=entry.submitted_at,
        method=entry.method,
        entries=entries,
        track=entry.track,
        submission_id=entry.submission_id if is_mine else None,
        is_mine=is_mine,
        run_id=entry.run_id,
    )


def _teams_of(session: Session, viewer: User | None) -> frozenset[int]:
    if viewer is None:
        return frozenset()
    return frozenset(session.scalars(select(TeamMember.team_id).where(TeamMember.user_id == viewer.id)))


# ------------------------------------------------------------------------------------------------ historic rows, order


def _historic_rows(
    session: Session, phase: Phase, board: Board, columns: Sequence[BoardColumn]
) -> list[LeaderboardRow]:
    published = session.scalars(
        select(HistoricRow)
        .where(HistoricRow.phase_id == phase.id, HistoricRow.board_id == board.id)
        .order_by(HistoricRow.id)
    )
    rows = []
    for row in published:
        values = [row.scores.get(f"{column.metric} {column.split}") for column in columns]
        cells = tuple(Cell(value, "not published" if value is None else None, None) for value in values)
        rows.append(LeaderboardRow(None, row.team, "historic", cells, row.achieved_at, "", 1, source=row.source))
    return rows


def _order(row: LeaderboardRow, rank_by: int, sign: float) -> tuple[bool, float, float, str]:
    moment = row.achieved_at.timestamp() if row.achieved_at else float("inf")
    return (*_goodness(row.cells[rank_by].value, sign), moment, row.team)


def _ranked(ordered: Sequence[LeaderboardRow], rank_by: int) -> tuple[LeaderboardRow, ...]:
    """Teams get 1, 2, 2, 4 …: equal scores share a rank; every other row stands in its place without one."""
    rows: list[LeaderboardRow] = []
    teams_before, rank, last_value = 0, 0, None
    for row in ordered:
        value = row.cells[rank_by].value
        if row.kind != "team" or value is None:
            rows.append(row)
            continue
        teams_before += 1
        if value != last_value:
            rank, last_value = teams_before, value
        rows.append(replace(row, rank=rank))
    return tuple(rows)


def count_entries(session: Session, phase_task_ids: Sequence[int]) -> dict[int, int]:
    """How many teams have a scored submission, by phase task; for lists of boards."""
    counted = session.execute(
        select(Submission.phase_task_id, func.count(Submission.team_id.distinct()))
        .join(ScoringRun, ScoringRun.submission_id == Submission.id)
        .join(Team, Team.id == Submission.team_id)
        .where(
            Submission.phase_task_id.in_(phase_task_ids),
            ScoringRun.is_current,
            ScoringRun.status == RunStatus.SCORED,
            Team.kind == TeamKind.TEAM,
        )
        .group_by(Submission.phase_task_id)
    )
    return {phase_task_id: count for phase_task_id, count in counted}
