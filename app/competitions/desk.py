"""Data of the organisers' desk: new submissions, the queue, missing teams, upcoming events.

For organisers only: callers must check this first (`app.people.rights.check_may_organise`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from sqlalchemy import Select, func, select
from sqlalchemy.orm import Session

from app.base.db import likely
from app.charts.hours import Hour
from app.competitions.find import boards_of
from app.competitions.limits import PhaseState, phase_state
from app.competitions.visibility import View, Viewer, declared_of, views_of
from app.models import (
    Board,
    BoardShown,
    Competition,
    Phase,
    PhaseTask,
    RunStatus,
    ScoringRun,
    Slices,
    Submission,
    Team,
    TeamKind,
    TeamMember,
)

HOUR = timedelta(hours=1)
#: Two days, so that last night can be compared with the night before.
HOURS = 48
_IN_VAIN = (RunStatus.REJECTED, RunStatus.FAILED)


def submissions_by_hour(session: Session, competition: Competition, now: datetime) -> list[Hour]:
    """Return the counts of submissions in the last hours, oldest first, including the current hour and empty ones."""
    last = now.astimezone(UTC).replace(minute=0, second=0, microsecond=0)
    first = last - (HOURS - 1) * HOUR
    of_competition = select(PhaseTask.id).join(Phase).where(Phase.competition_id == competition.id)
    rows = session.execute(
        select(Submission.submitted_at, ScoringRun.status)
        .join(ScoringRun, ScoringRun.submission_id == Submission.id)
        .where(Submission.phase_task_id.in_(of_competition), Submission.submitted_at >= first, ScoringRun.is_current)
    )
    received, in_vain = Counter[int](), Counter[int]()
    for moment, status in rows:
        at = int((moment - first) // HOUR)
        received[at] += 1
        in_vain[at] += status in _IN_VAIN
    return [Hour(first + at * HOUR, received[at], in_vain[at]) for at in range(HOURS)]


#: Submissions within this period count as today's.
TODAY = timedelta(days=1)
#: Waiting for longer than this needs attention.
LONG = timedelta(minutes=5)


@dataclass(frozen=True, slots=True)
class TaskToday:
    """A task in a phase: outcomes of the last day's submissions, and everything that waits, however old.

    states: the last day's submissions by the status of their run; waiting_since: when the oldest waiting one was
    queued.
    """

    phase: Phase
    phase_task: PhaseTask
    states: Mapping[str, int]
    waiting: int = 0
    waiting_since: datetime | None = None

    @property
    def received(self) -> int:
        """The number of submissions within the last day."""
        return sum(self.states.values())

    @property
    def scored(self) -> int:
        """The number of these that were scored."""
        return self.states.get(RunStatus.SCORED, 0)

    @property
    def rejected(self) -> int:
        """The number of these that were rejected."""
        return self.states.get(RunStatus.REJECTED, 0)

    def waits_long(self, now: datetime) -> bool:
        """Return True if a submission has been waiting for longer than usual."""
        return self.waiting_since is not None and now - self.waiting_since > LONG


@dataclass(frozen=True, slots=True)
class MissingTeams:
    """Names of teams without a valid submission in a phase. tried: with an invalid one; silent: without any."""

    phase: Phase
    tried: tuple[str, ...]
    silent: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Moment:
    """A scheduled event."""

    at: datetime
    what: str


@dataclass(frozen=True, slots=True)
class Embargo:
    """A task in a phase, the participants' current view of it, and its boards, for preview as a participant."""

    phase: Phase
    state: PhaseState
    phase_task: PhaseTask
    view: View
    boards: tuple[Board, ...]

    @property
    def is_restricted(self) -> bool:
        """True if participants do not see all scores."""
        view = self.view
        is_whole = view.board is BoardShown.PUBLIC and view.names and view.own_scores
        return not (is_whole and view.slices is Slices.ALL and view.has_statistics)


def tasks_today(session: Session, competition: Competition, now: datetime) -> list[TaskToday]:
    """List every task in a phase with recent or waiting submissions, in the organisers' order."""
    came, waiting = _came_today(session, competition, now), _waiting(session, competition)
    found = []
    for phase, phase_task in _phase_tasks(competition):
        states = {str(status): number for (task, status), number in came.items() if task == phase_task.id}
        waits, since = waiting.get(phase_task.id, (0, None))
        if states or waits:
            found.append(TaskToday(phase, phase_task, states, waits, since))
    return found


def _came_today(session: Session, competition: Competition, now: datetime) -> dict[tuple[int, RunStatus], int]:
    """Return the number of submissions of the last day by phase task and status."""
    rows = session.execute(
        select(Submission.phase_task_id, ScoringRun.status, func.count())
        .join(ScoringRun, ScoringRun.submission_id == Submission.id)
        .where(
            Submission.phase_task_id.in_(_tasks_of(competition)),
            Submission.submitted_at > now - TODAY,
            ScoringRun.is_current,
        )
        .group_by(Submission.phase_task_id, ScoringRun.status)
    )
    return {(task, RunStatus(status)): number for task, status, number in rows}


def _waiting(session: Session, competition: Competition) -> dict[int, tuple[int, datetime | None]]:
    """Return the number of unfinished submissions by phase task, with the time at which the oldest was queued."""
    rows = session.execute(
        select(
            Submission.phase_task_id,
            func.count(),
            func.min(ScoringRun.queued_at).filter(ScoringRun.status == RunStatus.QUEUED),
        )
        .join(ScoringRun, ScoringRun.submission_id == Submission.id)
        .where(
            Submission.phase_task_id.in_(_tasks_of(competition)),
            ScoringRun.is_current,
            ScoringRun.status.in_((RunStatus.QUEUED, RunStatus.RUNNING)),
        )
        .group_by(Submission.phase_task_id)
    )
    return {task: (number, since) for task, number, since in rows}


def _tasks_of(competition: Competition) -> Select[int]:
    return select(PhaseTask.id).join(Phase).where(Phase.competition_id == competition.id)


def missing_teams(session: Session, competition: Competition, now: datetime) -> list[MissingTeams]:
    """List the teams without a valid submission for each open phase. Valid means scored, or waiting to be scored."""
    teams = session.execute(
        select(Team.id, Team.name)
        .where(Team.competition_id == competition.id, Team.kind == TeamKind.TEAM)
        .where(select(TeamMember.team_id).where(TeamMember.team_id == Team.id).exists())
    )
    names = {team_id: name for team_id, name in teams}
    found = []
    for phase in competition.phases:
        if phase_state(phase, now) != "open":
            continue
        valid, sent = _teams_in(session, phase)
        missing = names.keys() - valid
        tried, silent = missing & sent, missing - sent
        found.append(MissingTeams(phase, _named(tried, names), _named(silent, names)))
    return found


def _teams_in(session: Session, phase: Phase) -> tuple[set[int], set[int]]:
    """Return the ids of teams with a valid submission in the phase, and of those with any submission."""
    own = session.scalars(select(PhaseTask.id).where(PhaseTask.phase_id == phase.id)).all()
    any_of_it = (
        select(Submission.id)
        .join(ScoringRun, ScoringRun.submission_id == Submission.id)
        .where(Submission.team_id == Team.id, Submission.phase_task_id.in_(own), ScoringRun.is_current)
        .correlate(Team)
    )
    # Team by team, stopping at the first submission that counts: PostgreSQL turns "exists" into a join of everything.
    is_valid = likely(ScoringRun.status.not_in((RunStatus.REJECTED, RunStatus.FAILED)))
    counts = any_of_it.where(is_valid, Submission.withdrawn_at.is_(None))
    here = select(Team.id).where(Team.competition_id == phase.competition_id)
    took_part = (here.where(some.limit(1).scalar_subquery().is_not(None)) for some in (counts, any_of_it))
    valid, all_of_them = (set(session.scalars(query)) for query in took_part)
    return valid, all_of_them


def _named(teams: Iterable[int], names: Mapping[int, str]) -> tuple[str, ...]:
    return tuple(sorted((names[team] for team in teams), key=str.casefold))


def next_moments(competition: Competition, now: datetime) -> list[Moment]:
    """List scheduled events, the next one first: phases that open and close, embargoes that are lifted."""
    found = {moment for phase in competition.phases for moment in _of_phase(phase)}
    found |= {moment for phase, phase_task in _phase_tasks(competition) for moment in _of_task(phase, phase_task)}
    return sorted((one for one in found if one.at > now), key=lambda one: (one.at, one.what))


def _of_phase(phase: Phase) -> list[Moment]:
    opens = [Moment(phase.starts_at, f"{phase.title} opens")]
    return opens + ([Moment(phase.ends_at, f"{phase.title} closes")] if phase.ends_at is not None else [])


def _of_task(phase: Phase, phase_task: PhaseTask) -> list[Moment]:
    declared, where = declared_of(phase, phase_task), f"{phase.title}, {phase_task.task.title}"
    lifted = [(declared.public_from, "boards become public")]
    if declared.is_anonymous:
        lifted.append((declared.names_from, "teams get their names"))
    return [Moment(at, f"{where}: {what}") for at, what in lifted if at is not None]


def embargoes(session: Session, competition: Competition, now: datetime) -> list[Embargo]:
    """List every task in a phase that has boards, with the participants' current view."""
    places = _phase_tasks(competition)
    views = views_of(session, [one for _, one in places], Viewer(None, now))
    found = []
    for phase, one in places:
        boards = tuple(board for board in boards_of(competition, phase) if board.task_id == one.task_id)
        if boards:
            found.append(Embargo(phase, phase_state(phase, now), one, views[one.id], boards))
    return found


def _phase_tasks(competition: Competition) -> Sequence[tuple[Phase, PhaseTask]]:
    return [(phase, phase_task) for phase in competition.phases for phase_task in phase.phase_tasks]
