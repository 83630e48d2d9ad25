"""Look-up of submissions that a user may see."""

from __future__ import annotations

from uuid import UUID

from sqlalchemy import ColumnElement, Select, and_, or_, select
from sqlalchemy.orm import Session, defer, joinedload, selectinload

from app.base.errors import NotFound
from app.models import (
    Phase,
    PhaseTask,
    Right,
    RunStatus,
    ScoringRun,
    Submission,
    TeamMember,
    User,
)
from app.people.rights import may_organise
from app.submissions.newest import has_current_status, newest_in
from app.submissions.own import is_at, own_places


def current_run(submission: Submission) -> ScoringRun:
    """Return the run that counts; `submission.runs` must be loaded."""
    return next(run for run in submission.runs if run.is_current)


def get_submission(session: Session, submission_id: UUID, viewer: User | None) -> Submission:
    """Return a submission with all a page needs. Raises NotFound except for its team, submitter and organisers."""
    return _visible(session, _whole_submissions().where(Submission.id == submission_id), viewer)


def get_submission_with_report(session: Session, submission_id: UUID, viewer: User | None) -> Submission:
    """Return a submission as `get_submission` does, but its current run has the report instead of score rows."""
    runs = selectinload(Submission.runs.and_(ScoringRun.is_current))
    return _visible(session, _located_submissions().options(runs).where(Submission.id == submission_id), viewer)


def _visible(session: Session, query: Select[Submission], viewer: User | None) -> Submission:
    submission = session.scalar(query)
    if submission is None or viewer is None or not _may_see(session, submission, viewer):
        raise NotFound("There is no such submission, or it is not yours.")
    return submission


def _may_see(session: Session, submission: Submission, viewer: User) -> bool:
    """Return whether the viewer may see it. Former members see only what they submitted themselves."""
    if submission.user_id == viewer.id:
        return True
    member = select(TeamMember.user_id).where(TeamMember.team_id == submission.team_id, TeamMember.user_id == viewer.id)
    competition = submission.phase_task.phase.competition
    return session.scalar(member) is not None or may_organise(session, viewer, competition, Right.SUBMISSIONS)


def list_submissions(
    session: Session,
    user: User,
    *,
    competition: str | None = None,
    phase: str | None = None,
    task: str | None = None,
    status: RunStatus | None = None,
    with_withdrawn: bool = True,
    after: UUID | None = None,
    limit: int = 50,
) -> tuple[list[Submission], UUID | None]:
    """Return a page of the user's submissions, newest first, and the start of the next page (None: this is the last).

    Includes those of the user's teams and those that the user made for former teams.
    """
    if any("\0" in (name or "") for name in (competition, phase, task)):  # PostgreSQL takes no NUL
        return [], None
    conditions = []
    if status is not None:
        conditions.append(has_current_status(status))
    if not with_withdrawn:
        conditions.append(Submission.withdrawn_at.is_(None))
    if after is not None:
        conditions.append(_older_than(session, user, after))
    places = own_places(session, user, competition=competition, phase=phase, task=task)
    newest = newest_in(session, [is_at(place, user) for place in places], conditions, limit + 1)
    wanted = _whole_submissions().where(Submission.id.in_(newest[:limit]))
    found = session.scalars(wanted.order_by(Submission.submitted_at.desc(), Submission.id.desc())).unique().all()
    return list(found), (newest[limit - 1] if len(newest) > limit else None)


def runs_of_team(session: Session, submission: Submission, limit: int) -> list[Submission]:
    """List the team's latest submissions to the same task of the same phase, newest first."""
    query = (
        _whole_submissions()
        .where(Submission.team_id == submission.team_id, Submission.phase_task_id == submission.phase_task_id)
        .order_by(Submission.submitted_at.desc(), Submission.id.desc())
        .limit(limit)
    )
    return list(session.scalars(query).unique())


def _older_than(session: Session, user: User, submission_id: UUID) -> ColumnElement[bool]:
    own = select(Submission.submitted_at).where(Submission.id == submission_id, _is_ones_own(user))
    moment = session.scalar(own)
    if moment is None:
        raise NotFound("This page of the list does not exist any more; start again from its beginning.")
    same = and_(Submission.submitted_at == moment, Submission.id < submission_id)
    return or_(Submission.submitted_at < moment, same)


def _is_ones_own(user: User) -> ColumnElement[bool]:
    """Return the condition for submissions of the user's teams, or by the user."""
    teams = select(TeamMember.team_id).where(TeamMember.user_id == user.id)
    return or_(Submission.team_id.in_(teams), Submission.user_id == user.id)


def _whole_submissions() -> Select[Submission]:
    return _located_submissions().options(
        selectinload(Submission.runs.and_(ScoringRun.is_current)).options(
            defer(ScoringRun.report, raiseload=True), selectinload(ScoringRun.scores)
        ),
    )


def _located_submissions() -> Select[Submission]:
    """Select submissions with all parent objects, but without runs."""
    above = joinedload(Submission.phase_task)
    return select(Submission).options(
        above.joinedload(PhaseTask.phase).joinedload(Phase.competition),
        above.joinedload(PhaseTask.task),
        joinedload(Submission.team),
        joinedload(Submission.system),
        joinedload(Submission.user),
    )
