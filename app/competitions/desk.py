"""What an organiser wants to know in the morning: what came in, what waits, who is missing, what comes next.

For organisers only; whoever asks here has made sure of that (`app.people.rights.check_may_organise`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import Select, func, select
from sqlalchemy.orm import Session

from app.base.db import likely
from app.competitions.find import boards_of
from app.competitions.limits import PhaseState, phase_state
from app.competitions.visibility import View, declared_of, views_of
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

#: What came in within so long is today's.
TODAY = timedelta(days=1)
#: Waiting for longer than this deserves a look.
LONG = timedelta(minutes=5)


@dataclass(frozen=True, slots=True)
class TaskToday:
    """A task of a phase: what of the last day's submissions became what, and what waits, from whenever.

    states: how many submissions of the last day, by the state of their run; waiting_since: of the oldest that waits.
    """

    phase: Phase
    phase_task: PhaseTask
    states: Mapping[str, int]
    waiting: int = 0
    waiting_since: datetime | None = None

    @property
    def received(self) -> int:
        """Within the last day."""
        return sum(self.states.values())

    @property
    def scored(self) -> int:
        """Of those."""
        return self.states.get(RunStatus.SCORED, 0)

    @property
    def rejected(self) -> int:
        """Of those."""
        return self.states.get(RunStatus.REJECTED, 0)

    def waits_long(self, now: datetime) -> bool:
        """Whether something waits for longer than it should."""
        return self.waiting_since is not None and now - self.waiting_since > LONG


@dataclass(frozen=True, slots=True)
class MissingTeams:
    """Teams without a valid submission in a phase: tried sent something all the same, silent nothing; by name."""

    phase: Phase
    tried: tuple[str, ...]
    silent: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Moment:
    """Something that happens by itself."""

    at: datetime
    what: str


@dataclass(frozen=True, slots=True)
class Embargo:
    """A task of a phase: what participants see of it now, and its boards, to be looked at as they are seen."""

    phase: Phase
    state: PhaseState
    phase_task: PhaseTask
    view: View
    boards: tuple[Board, ...]

    @property
    def is_restricted(self) -> bool:
        """Whether participants do not see everything."""
        view = self.view
        is_whole = view.board is BoardShown.PUBLIC and view.names and view.own_scores
        return not (is_whole and view.slices is Slices.ALL and view.has_statistics)


def tasks_today(session: Session, competition: Competition, now: datetime) -> list[TaskToday]:
    """Every task of every phase into which something came, or in which something waits, in the organisers' order."""
    came, waiting = _came_today(session, competition, now), _waiting(session, competition)
    found = []
    for phase, asked in _phase_tasks(competition):
        states = {str(status): number for (task, status), number in came.items() if task == asked.id}
        waits, since = waiting.get(asked.id, (0, None))
        if states or waits:
            found.append(TaskToday(phase, asked, states, waits, since))
    return found


def _came_today(session: Session, competition: Competition, now: datetime) -> dict[tuple[int, RunStatus], int]:
    """How many submissions of the last day are in which state, by task of a phase."""
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
    """How many have not ended, and since when the oldest of them is queued, by task of a phase."""
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
    """For each open phase the teams without a valid submission, that is, one that is scored or still may be."""
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
    """The teams with a submission in the phase that counts or may yet, and those with any."""
    own = session.scalars(select(PhaseTask.id).where(PhaseTask.phase_id == phase.id)).all()
    any_of_it = (
        select(Submission.id)
        .join(ScoringRun, ScoringRun.submission_id == Submission.id)
        .where(Submission.team_id == Team.id, Submission.phase_task_id.in_(own), ScoringRun.is_current)
        .correlate(Team)
    )
    # Team by team, and the first submission that counts ends the search: of "exists" PostgreSQL makes a join of all.
    is_valid = likely(ScoringRun.status.not_in((RunStatus.REJECTED, RunStatus.FAILED)))
    counts = any_of_it.where(is_valid, Submission.withdrawn_at.is_(None))
    here = select(Team.id).where(Team.competition_id == phase.competition_id)
    took_part = (here.where(some.limit(1).scalar_subquery().is_not(None)) for some in (counts, any_of_it))
    valid, all_of_them = (set(session.scalars(query)) for query in took_part)
    return valid, all_of_them


def _named(teams: Iterable[int], names: Mapping[int, str]) -> tuple[str, ...]:
    return tuple(sorted((names[team] for team in teams), key=str.casefold))


def next_moments(competition: Competition, now: datetime) -> list[Moment]:
    """What will happen by itself from now on, the next first: phases that open and close, embargoes that lift."""
    found = {moment for phase in competition.phases for moment in _of_phase(phase)}
    found |= {moment for phase, asked in _phase_tasks(competition) for moment in _of_task(phase, asked)}
    return sorted((one for one in found if one.at > now), key=lambda one: (one.at, one.what))


def _of_phase(phase: Phase) -> list[Moment]:
    opens = [Moment(phase.starts_at, f"{phase.title} opens")]
    return opens + ([Moment(phase.ends_at, f"{phase.title} closes")] if phase.ends_at is not None else [])


def _of_task(phase: Phase, asked: PhaseTask) -> list[Moment]:
    declared, where = declared_of(phase, asked), f"{phase.title}, {asked.task.title}"
    lifted = [(declared.public_from, "boards become public")]
    if declared.is_anonymous:
        lifted.append((declared.names_from, "teams get their names"))
    return [Moment(at, f"{where}: {what}") for at, what in lifted if at is not None]


def embargoes(session: Session, competition: Competition, now: datetime) -> list[Embargo]:
    """Every task of every phase that has boards, with what participants see of it now."""
    asked = _phase_tasks(competition)
    views = views_of(session, [one for _, one in asked], None, now)
    found = []
    for phase, one in asked:
        boards = tuple(board for board in boards_of(competition, phase) if board.task_id == one.task_id)
        if boards:
            found.append(Embargo(phase, phase_state(phase, now), one, views[one.id], boards))
    return found


def _phase_tasks(competition: Competition) -> Sequence[tuple[Phase, PhaseTask]]:
    return [(phase, asked) for phase in competition.phases for asked in phase.phase_tasks]
