"""Candidates of a board: the scored runs of a task in a phase that belong to the board's track and setting."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from typing import Any, NamedTuple
from uuid import UUID

from sqlalchemy import ColumnElement, Select, and_, bindparam, exists, func, or_, select, true
from sqlalchemy.orm import Session, aliased

from app.base.db import UtcDateTime, among, likely
from app.models import (
    EntryChoice,
    EntryRule,
    GoldVersion,
    RowMark,
    RowStatus,
    RunStatus,
    ScoreRow,
    ScoringRun,
    Submission,
    Team,
    TeamKind,
)
from app.standings.choose import BoardRows, Rules, TeamStanding, Try, choose
from evergold.scoring.task import NOT_ENTERED


@dataclass(frozen=True, slots=True)
class Rescored:
    """A rescoring set, to preview a board as if the set were published. gold: identity of its gold, by phase task."""

    rescoring_id: int
    gold: Mapping[int, str]


@dataclass(frozen=True, slots=True)
class RunFilter:
    """A filter of candidates.

    teams, runs: only these.
    since: submitted then or later.
    until: submissions and choices made before then.
    rescoring: replace the current runs by those of this set.
    """

    teams: Collection[int] | None = None
    runs: Collection[int] | None = None
    since: datetime | None = None
    until: datetime | None = None
    rescoring: Rescored | None = None


EVERYTHING = RunFilter()


def is_current_or_in(rescoring_id: int | None = None) -> ColumnElement[bool]:
    """Return the condition for current runs or, with a set, for the runs that would be current once it is published."""
    if rescoring_id is None:
        return ScoringRun.is_current.expression
    ours = aliased(ScoringRun)
    replaced = exists().where(
        ours.submission_id == ScoringRun.submission_id,
        ours.rescoring_id == rescoring_id,
        ours.status.in_((RunStatus.SCORED, RunStatus.REJECTED)),
    )
    return or_(ScoringRun.rescoring_id == rescoring_id, and_(ScoringRun.is_current, ~replaced))


def is_rankable() -> ColumnElement[bool]:
    """Return the condition that a run was scored and its submission is not withdrawn."""
    return and_(likely(ScoringRun.status == RunStatus.SCORED), Submission.withdrawn_at.is_(None))


def gold_of_run() -> ColumnElement[str]:
    """Return the expression for the identity of a run's gold: commitment if sealed, name if plain.

    The caller joins `GoldVersion`.
    """
    return func.coalesce(GoldVersion.commitment, ScoringRun.gold)


def standings_from_runs(session: Session, rows: BoardRows, bounds: RunFilter = EVERYTHING) -> list[TeamStanding]:
    """Return the standings, computed from every scored run; `app.standings.check` is the faster way."""
    rules, board_id = rows.rules, rows.board_id
    tries = scored_runs(session, rows.phase_task_id, [rules], bounds)[rules]
    choices = choices_of(session, rows.phase_task_id, [(board_id, rules)], bounds)[board_id]
    return choose(tries, rules, choices, rows.gold)


def scored_runs(
    session: Session, phase_task_id: int, wanted: Collection[Rules], bounds: RunFilter = EVERYTHING
) -> dict[Rules, list[Try]]:
    """Return the candidates in order of submission, by the rules of each board, with one query for all boards."""
    scores: dict[int, dict[tuple[str, str], float | None]] = {}
    runs: dict[int, _Run] = {}
    session.flush()
    query, where = _query(phase_task_id, {(one.metric, one.split) for one in wanted}, bounds)
    # On the connection: session objects for these rows would cost as much as the query.
    for *run, metric, split, value, reason in session.connection().execute(query, where):
        found = _Run(*run)
        runs[found.run_id] = found
        if metric is not None and split is not None:
            scores.setdefault(found.run_id, {})[metric, split] = _NOT_ENTERED if reason == NOT_ENTERED else value
    return {
        rules: [
            _try(run, value) for run in runs.values() if (value := _entered(run, rules, scores)) is not _NOT_ENTERED
        ]
        for rules in wanted
    }


#: Marks a score whose setting was not entered; no score can have this value.
_NOT_ENTERED = float("inf")


class _Run(NamedTuple):
    """A row of the query below, without its score."""

    run_id: int
    team_id: int
    kind: TeamKind
    submission_id: UUID
    track: str | None
    gold: str
    status: RowStatus | None
    is_late: bool
    system_id: int | None


def _entered(run: _Run, rules: Rules, scores: Mapping[int, Mapping[tuple[str, str], float | None]]) -> float | None:
    """Return the value in the ranking column, or `_NOT_ENTERED` if the run does not enter the board.

    A baseline without a track is on the boards of all tracks.
    """
    is_for_all = run.track is None and run.kind == TeamKind.BASELINE
    if rules.track is not None and run.track != rules.track and not is_for_all:
        return _NOT_ENTERED
    return scores.get(run.run_id, {}).get((rules.metric, rules.split))


def _try(run: _Run, value: float | None) -> Try:
    status = RowStatus(run.status) if run.status is not None else None
    is_baseline = run.kind == TeamKind.BASELINE
    place = run.team_id, run.run_id, run.submission_id
    return Try(*place, is_baseline, run.gold, value, status, run.is_late, run.system_id)


def _query(
    phase_task_id: int, ranking: Collection[tuple[str, str]], bounds: RunFilter
) -> tuple[Select[*tuple[Any, ...]], dict[str, Any]]:
    """Return a statement and its parameters: one row for each run and ranking score, one for a run without ranking
    scores.
    """
    where: dict[str, Any] = {"of_task": phase_task_id}
    if bounds.teams is not None:
        where["of_teams"] = list(bounds.teams)
    if bounds.runs is not None:
        where["of_runs"] = list(bounds.runs)
    if bounds.since is not None:
        where["since"] = bounds.since
    if bounds.until is not None:
        where["until"] = bounds.until
    set_id = bounds.rescoring.rescoring_id if bounds.rescoring else None
    return _statement(tuple(sorted(ranking)), set_id, frozenset(where)), where


@lru_cache(maxsize=64)
def _statement(
    ranking: tuple[tuple[str, str], ...], rescoring_id: int | None, by: frozenset[str]
) -> Select[*tuple[Any, ...]]:
    """Return the statement that selects scored runs, cached because it is executed whenever a run ends and is slow to
    build.
    """
    ranks = or_(*(and_(ScoreRow.metric == metric, ScoreRow.split == split) for metric, split in ranking))
    query = (
        select(
            ScoringRun.id,
            Team.id,
            Team.kind,
            Submission.id,
            Submission.track,
            gold_of_run(),
            RowMark.status,
            Submission.is_late,
            Submission.system_id,
            ScoreRow.metric,
            ScoreRow.split,
            ScoreRow.value,
            ScoreRow.reason,
        )
        .select_from(Submission)
        .join(Team, Team.id == Submission.team_id)
        .join(ScoringRun, ScoringRun.submission_id == Submission.id)
        .outerjoin(GoldVersion, GoldVersion.id == ScoringRun.gold_version_id)
        .outerjoin(RowMark, RowMark.submission_id == Submission.id)
        .outerjoin(ScoreRow, and_(ScoreRow.run_id == ScoringRun.id, ranks))
        .where(is_current_or_in(rescoring_id), is_rankable())
        .order_by(Submission.submitted_at, ScoringRun.id)
    )
    of_task = Submission.phase_task_id == bindparam("of_task")
    # With runs or few teams given, do not scan all submissions of the task.
    query = query.where(likely(of_task) if by & {"of_runs", "of_teams"} else of_task)
    if "of_teams" in by:
        query = query.where(Submission.team_id.in_(bindparam("of_teams", expanding=True)))
    if "of_runs" in by:
        query = query.where(among(ScoringRun.id, "of_runs"))
    if "since" in by:
        query = query.where(Submission.submitted_at >= bindparam("since", type_=UtcDateTime()))
    return query.where(Submission.submitted_at < bindparam("until", type_=UtcDateTime())) if "until" in by else query


def choices_of(
    session: Session, phase_task_id: int, wanted: Collection[tuple[int, Rules]], bounds: RunFilter = EVERYTHING
) -> dict[int, dict[int, UUID]]:
    """Return the chosen submissions by board and team, without a query if no board uses choices."""
    boards = [board_id for board_id, rules in wanted if rules.rule is EntryRule.CHOSEN]
    found: dict[int, dict[int, UUID]] = {board_id: {} for board_id, _ in wanted}
    if not boards:
        return found
    made = session.execute(
        select(EntryChoice.board_id, EntryChoice.team_id, EntryChoice.submission_id).where(
            EntryChoice.phase_task_id == phase_task_id,
            EntryChoice.board_id.in_(boards),
            EntryChoice.chosen_at < bounds.until if bounds.until is not None else true(),
            EntryChoice.team_id.in_(bounds.teams) if bounds.teams is not None else true(),
        )
    )
    for board_id, team_id, submission_id in made:
        found[board_id][team_id] = submission_id
    return found


class Choice(NamedTuple):
    """A team's choice of its entry on a board."""

    team_id: int
    submission_id: UUID
    chosen_at: datetime


def choices_until(session: Session, phase_task_id: int, board_id: int, moment: datetime) -> list[Choice]:
    """Return the choices for a board that were made before this moment, oldest first."""
    where = {"phase_task": phase_task_id, "board": board_id, "until": moment}
    return [Choice(*row) for row in session.execute(_CHOICES_UNTIL, where)]


_CHOICES_UNTIL = (
    select(EntryChoice.team_id, EntryChoice.submission_id, EntryChoice.chosen_at)
    .where(
        EntryChoice.phase_task_id == bindparam("phase_task"),
        EntryChoice.board_id == bindparam("board"),
        EntryChoice.chosen_at < bindparam("until", type_=UtcDateTime()),
    )
    .order_by(EntryChoice.chosen_at, EntryChoice.team_id)
)
