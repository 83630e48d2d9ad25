"""A board's rows computed the slow way: from everything that was ever scored, with nothing cached.

The results of `app.standings` are compared with these; the two share no code. Do not make this faster.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import ColumnElement, and_, exists, func, or_, select, true
from sqlalchemy.orm import Session, aliased

from app.boards.leaderboard import EntrySource
from app.boards.marks import Mark, Marks, marks_of
from app.boards.rows import Cell, LeaderboardRow
from app.cards.form import MethodCard
from app.competitions.columns import BoardColumn
from app.competitions.entry_rules import EntrySettings, entry_settings
from app.competitions.ordering import effective_decimals, goodness, sign_of
from app.competitions.visibility import declared_of, rounded
from app.models import (
    Board,
    EntryChoice,
    EntryRule,
    GoldVersion,
    PhaseTask,
    RowMark,
    RowStatus,
    RunStatus,
    ScoreRow,
    ScoringRun,
    Submission,
    System,
    Team,
    TeamKind,
)
from app.standings.tries import Rescored, RunFilter
from evergold.scoring.halves import Half
from evergold.scoring.ladder import ladder, record_holder
from evergold.scoring.task import NOT_ENTERED

#: A query takes only so many parameters.
RUNS_AT_A_TIME = 500
NOT_COMPUTED = Cell(None, "not computed", None)


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
    ranking: Cell  # in the ranking column
    task_version: int | None = None  # of the task type that scored it
    system: str = ""  # what its team calls what made it
    is_ranked: bool = False  # of a baseline
    status: RowStatus | None = None  # what organisers say of the team, or of this submission
    note: str = ""


def entries_of(
    session: Session,
    phase_task: PhaseTask,
    board: Board,
    column: BoardColumn,
    until: datetime | None = None,
    rescoring: Rescored | None = None,
) -> list[Entry]:
    """Return the entries in the order of submission, without those that organisers set aside (`with_marks`).

    column: the ranking one; until: only entries before this time; rescoring: this set's runs replace the current ones.
    """
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
            ScoringRun.task_version,
            System.name,
            ScoreRow.value,
            ScoreRow.reason,
            ScoreRow.signature,
        )
        .join(Submission, Submission.id == ScoringRun.submission_id)
        .join(Team, Team.id == Submission.team_id)
        .outerjoin(GoldVersion, GoldVersion.id == ScoringRun.gold_version_id)
        .outerjoin(System, System.id == Submission.system_id)
        .outerjoin(
            ScoreRow,
            and_(ScoreRow.run_id == ScoringRun.id, ScoreRow.metric == column.metric, ScoreRow.split == column.split),
        )
        .where(
            Submission.phase_task_id == phase_task.id,
            is_current_or_in(rescoring),
            is_scored(),
            Submission.withdrawn_at.is_(None),
            _in_track(board),
            Submission.submitted_at < until if until is not None else true(),
        )
        .order_by(Submission.submitted_at, ScoringRun.id)
    ).all()
    ranked = frozenset(phase_task.ranked_baselines)
    entered = [entry for entry in (_entry(run, ranked) for run in runs) if entry.ranking.reason != NOT_ENTERED]
    return with_marks(entered, marks_of(session, phase_task))


def _entry(found: Sequence[Any], ranked: frozenset[int]) -> Entry:
    """Return an entry from a row of the query above. ranked: the baselines that have a rank."""
    run_id, team_id, team, kind, submission_id, at, track, method, gold, commitment, version, system, *score = found
    value, reason, signature = score
    cell = NOT_COMPUTED if signature is None else Cell(value, reason, signature)
    is_ranked = team_id in ranked
    return Entry(
        run_id,
        team_id,
        team,
        TeamKind(kind),
        submission_id,
        at,
        track,
        method,
        gold,
        commitment,
        cell,
        version,
        system or "",
        is_ranked,
    )


def with_marks(entries: Sequence[Entry], marks: Marks) -> list[Entry]:
    """Return the entries with which a team may be on the board, each with the organisers' mark.

    A disqualified submission is set aside, and so is a hidden one: the entry rule is applied to the rest. If nothing is
    left, the team is shown as disqualified, or, if everything is hidden, as hidden.
    """
    if not marks.teams and not marks.submissions:
        return list(entries)
    said = [_marked(entry, marks.submissions.get(entry.submission_id)) for entry in entries]
    best: dict[int, int] = {}
    for entry in said:
        best[entry.team_id] = min(best.get(entry.team_id, len(_SET_ASIDE)), _SET_ASIDE.get(entry.status, 0))
    kept = [entry for entry in said if _SET_ASIDE.get(entry.status, 0) == best[entry.team_id]]
    return [_marked(entry, stricter_mark(marks.teams.get(entry.team_id), entry)) for entry in kept]


#: The higher, the less may stand on a board.
_SET_ASIDE: Mapping[RowStatus | None, int] = {RowStatus.DISQUALIFIED: 1, RowStatus.HIDDEN: 2}


def stricter_mark(mark: Mark | None, row: Entry | LeaderboardRow) -> Mark | None:
    """Return the mark of the whole team, unless the row already has a stricter one."""
    return mark if mark and _SET_ASIDE.get(mark.status, 0) >= _SET_ASIDE.get(row.status, 0) else None


def _marked(entry: Entry, mark: Mark | None) -> Entry:
    return replace(entry, status=mark.status, note=mark.note) if mark else entry


def is_current_or_in(rescoring: Rescored | None = None) -> ColumnElement[bool]:
    """Return the condition that a run is current; with a set, that it would be current once the set is published."""
    if rescoring is None:
        return ScoringRun.is_current.expression
    ours = aliased(ScoringRun)
    replaced = exists().where(
        ours.submission_id == ScoringRun.submission_id,
        ours.rescoring_id == rescoring.rescoring_id,
        ours.status.in_((RunStatus.SCORED, RunStatus.REJECTED)),
    )
    return or_(ScoringRun.rescoring_id == rescoring.rescoring_id, and_(ScoringRun.is_current, ~replaced))


def is_scored() -> ColumnElement[bool]:
    """Return the condition that a run, found by its submission, is scored.

    It is written so that no index of statuses is usable: SQLite would use that index and walk through everything ever
    scored.
    """
    return func.coalesce(ScoringRun.status, "") == RunStatus.SCORED


def chosen_rows(
    session: Session,
    phase_task: PhaseTask,
    board: Board,
    entries: Sequence[Entry],
    settings: EntrySettings,
    columns: Sequence[BoardColumn],
    ranking: tuple[int, BoardColumn, int | None],
    until: datetime | None = None,
) -> list[LeaderboardRow]:
    """Return the rows of the entries that count on the board, without ranks and in no order.

    ranking: the ranking column's index, the column, and the decimals by which the best is found: of two that look equal
    the earlier counts, so that the choice reveals nothing. until: later choices are ignored.
    """
    rows = _rows(session, phase_task, board, entries, settings, ranking, until)
    cells = _cells(session, [row.run_id for row in rows if row.run_id is not None], columns)
    rank_by = ranking[0]
    # On a Ladder the ranking score is not what was computed, but what is told.
    return [
        row._replace(cells=(*found[:rank_by], *row.cells, *found[rank_by + 1 :]))
        for row, found in ((row, cells[row.run_id]) for row in rows)
    ]


def _rows(
    session: Session,
    phase_task: PhaseTask,
    board: Board,
    entries: Sequence[Entry],
    settings: EntrySettings,
    ranking: tuple[int, BoardColumn, int | None],
    until: datetime | None,
) -> list[LeaderboardRow]:
    """Return the same rows as `chosen_rows`, but with only the ranking score."""
    by_team: defaultdict[int, list[Entry]] = defaultdict(list)
    for entry in entries:
        by_team[entry.team_id].append(entry)
    if settings.rule is EntryRule.ALL:
        return [_row(entry, len(by_team[entry.team_id])) for entry in entries]
    if settings.rule is EntryRule.LADDER and settings.ladder_step is not None:
        return [_on_ladder(theirs, settings.ladder_step, ranking) for theirs in by_team.values()]
    choices = _choices(session, phase_task, board, until) if settings.rule is EntryRule.CHOSEN else {}
    return [_row(_standing(theirs, settings, choices, ranking), len(theirs)) for theirs in by_team.values()]


def _standing(
    theirs: Sequence[Entry],
    settings: EntrySettings,
    choices: Mapping[int, UUID],
    ranking: tuple[int, BoardColumn, int | None],
) -> Entry:
    """Return the entry that counts for a team."""
    chosen = choices.get(theirs[0].team_id)
    found = next((entry for entry in theirs if entry.submission_id == chosen), None)
    if found is not None:
        return found
    rule = settings.without_choice if settings.rule is EntryRule.CHOSEN else settings.rule
    # Organisers replace a baseline's file; the one they replaced must not outlive it because it was better.
    if rule is EntryRule.LAST or theirs[-1].kind is TeamKind.BASELINE:
        return theirs[-1]
    _, column, precision = ranking
    decimals, sign = effective_decimals(column, precision), sign_of(column)
    return min(theirs, key=lambda entry: goodness(rounded(entry.ranking.value, decimals), sign))


def _on_ladder(theirs: Sequence[Entry], step: float, ranking: tuple[int, BoardColumn, int | None]) -> LeaderboardRow:
    """Return the row of the record's holder with the displayed ranking score; a team without a defined score gets its
    last entry.
    """
    column = ranking[1]
    if theirs[-1].kind is TeamKind.BASELINE:
        return _row(theirs[-1], len(theirs))
    decimals = effective_decimals(column, ranking[2])
    values = [rounded(entry.ranking.value, decimals) for entry in theirs]
    holder = record_holder(values, step, higher_is_better=column.higher_is_better)
    if holder is None:
        return _row(theirs[-1], len(theirs))
    told = ladder(values, step, higher_is_better=column.higher_is_better)[-1]
    entry = theirs[holder]
    return _row(replace(entry, ranking=entry.ranking._replace(value=told)), len(theirs))


def _choices(session: Session, phase_task: PhaseTask, board: Board, until: datetime | None) -> dict[int, UUID]:
    """Return the chosen submissions by team."""
    made = session.execute(
        select(EntryChoice.team_id, EntryChoice.submission_id).where(
            EntryChoice.phase_task_id == phase_task.id,
            EntryChoice.board_id == board.id,
            EntryChoice.chosen_at < until if until is not None else true(),
        )
    )
    return {team_id: submission_id for team_id, submission_id in made}


def _row(entry: Entry, entries: int) -> LeaderboardRow:
    return LeaderboardRow(
        rank=None,
        team=entry.team,
        kind="baseline" if entry.kind is TeamKind.BASELINE else "team",
        cells=(entry.ranking,),
        achieved_at=entry.submitted_at,
        method=entry.method,
        card=MethodCard(entry.method),
        entries=entries,
        track=entry.track,
        submission_id=entry.submission_id,
        run_id=entry.run_id,
        team_id=entry.team_id,
        commitment=entry.commitment,
        task_version=entry.task_version,
        system=entry.system,
        is_ranked=entry.is_ranked,
        status=entry.status,
        note=entry.note,
    )


def _in_track(board: Board) -> ColumnElement[bool]:
    """Return the condition for the board's own track; a baseline without a track belongs to every one."""
    if board.track is None:
        return true()
    for_all = and_(Submission.track.is_(None), Team.kind == TeamKind.BASELINE)
    return or_(Submission.track == board.track, for_all)


def _cells(
    session: Session, runs: Sequence[int], columns: Sequence[BoardColumn]
) -> defaultdict[int | None, tuple[Cell, ...]]:
    """Return all cells of these runs, by run."""
    place = {(column.metric, column.split): index for index, column in enumerate(columns)}
    empty = (NOT_COMPUTED,) * len(columns)
    found: defaultdict[int | None, list[Cell]] = defaultdict(lambda: list(empty))
    for start in range(0, len(runs), RUNS_AT_A_TIME):
        scores = session.execute(
            select(
                ScoreRow.run_id, ScoreRow.metric, ScoreRow.split, ScoreRow.value, ScoreRow.reason, ScoreRow.signature
            ).where(
                ScoreRow.run_id.in_(runs[start : start + RUNS_AT_A_TIME]),
                ScoreRow.metric.in_({column.metric for column in columns}),
                ScoreRow.split.in_({column.split for column in columns}),
            )
        )
        for run_id, metric, split, value, reason, signature in scores:
            if (metric, split) in place:
                found[run_id][place[metric, split]] = Cell(value, reason, signature)
    return defaultdict(lambda: empty, {run_id: tuple(cells) for run_id, cells in found.items()})


def live_rows(
    session: Session,
    bounds: RunFilter,
    asked: EntrySource,
    *,
    board: Board,
    columns: Sequence[BoardColumn],
    gold: str | None,
    half: Half | None,
) -> list[LeaderboardRow]:
    """Return the current rows of a board. gold: the one in use; rows that are carried over were scored against it, or
    are missing.
    """
    assert half is None, "items are divided nowhere here"
    until = bounds.until
    rank_by = [(one.metric, one.split) for one in columns].index((board.rank_metric, board.rank_split))
    entries = entries_of(session, asked.phase_task, board, columns[rank_by], until, bounds.rescoring)
    if asked.is_carried:
        entries = [entry for entry in entries if entry.gold == gold]
    outdated = {entry.run_id for entry in entries if gold is not None and entry.gold != gold}
    settings = entry_settings(asked.phase, asked.phase_task)
    ranking = (rank_by, columns[rank_by], declared_of(asked.phase, asked.phase_task).ranks_by)
    rows = chosen_rows(session, asked.phase_task, board, entries, settings, columns, ranking, until)
    return [row._replace(is_outdated=row.run_id in outdated) for row in rows]


def counted(session: Session, phase_task_id: int) -> tuple[int, int]:
    """Count, one by one, the teams that have a scored submission that is not hidden, and these submissions."""
    query = (
        select(Submission.id, Team.id)
        .join(Team, Team.id == Submission.team_id)
        .join(ScoringRun, ScoringRun.submission_id == Submission.id)
        .where(Submission.phase_task_id == phase_task_id, Team.kind == TeamKind.TEAM)
        .where(ScoringRun.is_current, ScoringRun.status == RunStatus.SCORED, Submission.withdrawn_at.is_(None))
    )
    hidden = select(RowMark.submission_id, RowMark.team_id).where(
        RowMark.phase_task_id == phase_task_id, RowMark.status == RowStatus.HIDDEN
    )
    marks = session.execute(hidden).all()
    gone = {submission for submission, _ in marks if submission is not None}
    gone_teams = {team for submission, team in marks if submission is None}
    seen = [team for one, team in session.execute(query) if one not in gone and team not in gone_teams]
    return len(set(seen)), len(seen)
