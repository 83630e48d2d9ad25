"""Detects hill climbing: teams whose submissions repeatedly differ in a few lines. Organisers are alerted once per
team.

The sweep counts the changed lines (`workers.climbing`); this module stores them and decides who is climbing. Nothing
happens to a team: small changes can be honest, and organisers decide.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from sqlalchemy import Select, and_, exists, func, select, tuple_
from sqlalchemy.orm import Session, aliased

from app.base.addresses import public_address
from app.base.config import Settings
from app.models import (
    ClimbingAlert,
    Competition,
    CompetitionTask,
    LineChange,
    Phase,
    PhaseTask,
    Right,
    RunStatus,
    ScoringRun,
    Submission,
    Team,
    TeamKind,
)
from app.people.mail import send_mail
from app.people.rights import organisers_of

#: A change of at most this share of the lines is a small step (one line always is) …
SMALL_SHARE = 0.02
#: … and a team with this many in one phase's task climbs.
SMALL_STEPS = 5
#: Maximum number per sweep; the next continues.
MEASURED_AT_ONCE = 50
#: Submissions not measured within this time are skipped; otherwise each sweep would scan all submissions.
MEASURED_WITHIN = timedelta(days=7)


@dataclass(frozen=True, slots=True)
class Unmeasured:
    """A scored submission and the team's previous one in the same phase and task, if any."""

    submission_id: UUID
    sha256: str
    previous_id: UUID | None
    previous_sha256: str | None


@dataclass(frozen=True, slots=True)
class Climber:
    """A team with many small steps. told_at: when organisers were alerted."""

    team: str
    phase: str
    task: str
    small_steps: int
    submissions: int
    told_at: datetime | None


def unmeasured(session: Session, now: datetime) -> list[Unmeasured]:
    """List teams' scored submissions whose changed lines are not counted yet, oldest first."""
    earlier = aliased(Submission)
    before = (
        select(earlier.id)
        .where(
            earlier.team_id == Submission.team_id,
            earlier.phase_task_id == Submission.phase_task_id,
            earlier.submitted_at < Submission.submitted_at,
        )
        .order_by(earlier.submitted_at.desc(), earlier.id)
        .limit(1)
        .correlate(Submission)
        .scalar_subquery()
    )
    previous = aliased(Submission)
    found = session.execute(
        select(Submission.id, Submission.sha256, previous.id, previous.sha256)
        .join(ScoringRun, and_(ScoringRun.submission_id == Submission.id, ScoringRun.is_current))
        .join(Team, Team.id == Submission.team_id)
        .outerjoin(LineChange, LineChange.submission_id == Submission.id)
        .outerjoin(previous, previous.id == before)
        .where(
            ScoringRun.status == RunStatus.SCORED,
            ScoringRun.queued_at > now - MEASURED_WITHIN,
            Team.kind == TeamKind.TEAM,
            LineChange.submission_id.is_(None),
        )
        .order_by(Submission.submitted_at, Submission.id)
        .limit(MEASURED_AT_ONCE)
    )
    return [Unmeasured(*row) for row in found]


def mail_organisers(session: Session, measured: Collection[UUID], settings: Settings, now: datetime) -> int:
    """Mail the organisers of every team that these submissions make a climber; return the number of alerts."""
    mailed = 0
    alerted = exists().where(
        ClimbingAlert.team_id == Submission.team_id, ClimbingAlert.phase_task_id == Submission.phase_task_id
    )
    sent = select(Submission.team_id, Submission.phase_task_id).where(Submission.id.in_(measured), ~alerted).distinct()
    for (team_id, phase_task_id), (climber, competition) in _climbers(session, sent).items():
        session.add(ClimbingAlert(team_id=team_id, phase_task_id=phase_task_id, times=climber.small_steps, at=now))
        body = _body(climber, competition, settings)
        for organiser in organisers_of(session, competition.name, Right.SUBMISSIONS):
            send_mail(session, organiser, _subject(climber), body, now=now, competition_id=competition.id)
        mailed += 1
    return mailed


def climbing_teams(session: Session, competition: Competition) -> list[Climber]:
    """List the climbing teams of this competition, most small steps first; organisers were alerted of all of them."""
    alerted = (
        select(ClimbingAlert.team_id, ClimbingAlert.phase_task_id)
        .join(Team, Team.id == ClimbingAlert.team_id)
        .where(Team.competition_id == competition.id)
    )
    found = [climber for climber, _ in _climbers(session, alerted).values()]
    return sorted(found, key=lambda one: (-one.small_steps, one.team, one.phase, one.task))


def _climbers(session: Session, places: Select[int, int]) -> dict[tuple[int, int], tuple[Climber, Competition]]:
    """Return the climbers among these teams in these tasks of phases, by (team, phase task)."""
    small = func.count().filter(
        LineChange.changed > 0,
        (LineChange.changed <= 1) | (LineChange.changed <= SMALL_SHARE * LineChange.of_lines),
    )
    here = tuple_(Submission.team_id, Submission.phase_task_id).in_([tuple(row) for row in session.execute(places)])
    counted = (
        select(Submission.team_id, Submission.phase_task_id, small.label("small_steps"), func.count().label("sent"))
        .join(LineChange, LineChange.submission_id == Submission.id)
        .where(here)
        .group_by(Submission.team_id, Submission.phase_task_id)
        .having(small >= SMALL_STEPS)
        .subquery()
    )
    rows = session.execute(
        select(counted, Team.name, Phase.name, CompetitionTask.name, Competition, ClimbingAlert.at)
        .join(Team, Team.id == counted.c.team_id)
        .join(Competition, Competition.id == Team.competition_id)
        .join(PhaseTask, PhaseTask.id == counted.c.phase_task_id)
        .join(Phase, Phase.id == PhaseTask.phase_id)
        .join(CompetitionTask, CompetitionTask.id == PhaseTask.task_id)
        .outerjoin(
            ClimbingAlert,
            and_(ClimbingAlert.team_id == Team.id, ClimbingAlert.phase_task_id == PhaseTask.id),
        )
        .order_by(counted.c.team_id, counted.c.phase_task_id)
    )
    return {
        (team_id, phase_task_id): (Climber(team, phase, task, small_steps, submissions, told_at), where)
        for team_id, phase_task_id, small_steps, submissions, team, phase, task, where, told_at in rows
    }


def _subject(climber: Climber) -> str:
    return f"{climber.team} keeps submitting small changes"


def _body(climber: Climber, competition: Competition, settings: Settings) -> str:
    page = public_address(settings, f"/competitions/{competition.name}")
    return (
        f"In {competition.title}, phase {climber.phase}, task {climber.task}, {climber.small_steps} of "
        f"{climber.submissions} submissions of the team {climber.team} changed no more than one line, or "
        f"{100 * SMALL_SHARE:.0f} % of the lines, of the one before.\n\nThis may be honest work, but it is also how "
        "a team can learn hidden labels from a board. To prevent it, allow fewer submissions per day, show fewer "
        f"decimals (visibility: precision), or use a Ladder (entry: ladder).\n\n{page}\n`evergold climbers "
        f"{competition.name}` lists all such teams.\n"
    )
