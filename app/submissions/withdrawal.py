"""Withdrawal of a submission by its team: it leaves all boards, still counts against the quota, and organisers see it.

The team, or an organiser, may restore it.
"""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from sqlalchemy import delete, select, update
from sqlalchemy.orm import Session

from app.base.errors import EvergoldError, Forbidden
from app.base.times import in_aoe, in_utc
from app.competitions.access import check_not_archived
from app.competitions.allowances import allowance_of, closes_at
from app.competitions.changed import boards_changed
from app.competitions.entry_rules import entry_settings
from app.competitions.limits import FREE_OF_CHARGE
from app.competitions.visibility import decide, declared_of
from app.models import EntryChoice, EntryRule, Right, Submission, TeamMember, User
from app.people.audit import record
from app.people.rights import may_organise
from app.standings.renew import renew_team
from app.submissions.find import current_run, get_submission
from app.teams.find import lock_team_of_submission


class NotWithdrawable(EvergoldError):
    """The phase is over, or this submission does not count anyway."""

    status = 409
    code = "not_withdrawable"


def withdraw_submission(session: Session, submission_id: UUID, user: User, now: datetime) -> None:
    """Withdraw a submission; no-op if it already is. Raises NotFound, Forbidden, NotWithdrawable."""
    submission = get_submission(session, submission_id, user)
    if not _is_member(session, submission, user):
        raise Forbidden("Only its own team withdraws a submission; organisers can hide its row.")
    if submission.withdrawn_at is not None:
        return
    check_not_archived(submission.phase_task.phase.competition)
    _check(session, submission, now)
    lock_team_of_submission(session, submission)
    marked = update(Submission).where(Submission.id == submission.id, Submission.withdrawn_at.is_(None))
    if not session.scalars(marked.values(withdrawn_at=now).returning(Submission.id)).all():
        return  # another member of the team was faster
    session.execute(delete(EntryChoice).where(EntryChoice.submission_id == submission.id))
    _changed(session, submission, user, "submission.withdraw", now)


def put_back(session: Session, submission_id: UUID, user: User, now: datetime) -> None:
    """Restore a withdrawn submission, without its former choices.

    Allowed to its team as long as it may withdraw, and to organisers at any time. Raises NotFound, Forbidden,
    NotWithdrawable.
    """
    submission = get_submission(session, submission_id, user)
    competition = submission.phase_task.phase.competition
    if submission.withdrawn_at is None:
        return
    check_not_archived(competition)
    if not may_organise(session, user, competition, Right.SUBMISSIONS):
        if not _is_member(session, submission, user):
            raise Forbidden("Only its own team, or an organiser, puts a submission back.")
        _check(session, submission, now)
        _check_open_scores(submission, now)
    lock_team_of_submission(session, submission)
    marked = update(Submission).where(Submission.id == submission.id, Submission.withdrawn_at.is_not(None))
    if session.scalars(marked.values(withdrawn_at=None).returning(Submission.id)).all():
        _changed(session, submission, user, "submission.put-back", now)


def may_put_back(session: Session, submission: Submission, user: User, now: datetime) -> bool:
    """Return whether this user could restore it now; the submission comes from `get_submission`."""
    if submission.withdrawn_at is None:
        return False
    if may_organise(session, user, submission.phase_task.phase.competition, Right.SUBMISSIONS):
        return True
    if not _is_member(session, submission, user):
        return False
    return is_returnable(session, submission, now)


def is_returnable(session: Session, submission: Submission, now: datetime) -> bool:
    """Return whether its team could restore it now if it were withdrawn."""
    try:
        _check(session, submission, now)
        _check_open_scores(submission, now)
    except NotWithdrawable:
        return False
    return True


def _check_open_scores(submission: Submission, now: datetime) -> None:
    """Refuse while teams do not see their scores: they could read them from the board, withdrawing run after run."""
    if not decide(declared_of(submission.phase_task.phase, submission.phase_task), now).own_scores:
        raise NotWithdrawable("Scores are not shown to teams yet, so only the organisers put a submission back.")


def _is_member(session: Session, submission: Submission, user: User) -> bool:
    member = select(TeamMember.user_id).where(TeamMember.team_id == submission.team_id, TeamMember.user_id == user.id)
    return session.scalar(member) is not None


def _changed(session: Session, submission: Submission, user: User, action: str, now: datetime) -> None:
    """Bump the board versions and write an audit entry."""
    boards_changed(session, [submission.phase_task_id])
    renew_team(session, submission.phase_task_id, submission.team_id)
    record(session, user, action, f"submission {submission.id}", _details(submission), now=now)


def is_withdrawable(session: Session, submission: Submission, now: datetime) -> bool:
    """Return whether its team could withdraw it now; the submission comes from `get_submission`."""
    if submission.withdrawn_at is not None:
        return False
    try:
        _check(session, submission, now)
    except NotWithdrawable:
        return False
    return True


def _check(session: Session, submission: Submission, now: datetime) -> None:
    phase, status = submission.phase_task.phase, current_run(submission).status
    if status in FREE_OF_CHARGE:
        raise NotWithdrawable(f"There is nothing to withdraw: this submission was {status}, so it counts nowhere.")
    if entry_settings(phase, submission.phase_task).rule is EntryRule.LADDER:
        # The choice of runs to leave would reveal more about their scores than a Ladder does.
        raise NotWithdrawable("On a Ladder nothing can be withdrawn; write to the organisers, who can hide a row.")
    until = closes_at(phase, allowance_of(session, submission.team_id, phase.id))
    if until is not None and until <= now:
        raise NotWithdrawable(
            f"Your team could withdraw submissions until {in_utc(until)} ({in_aoe(until)}); server time is "
            f"{in_utc(now)}. Write to the organisers, who can hide a row.",
            until=until.isoformat(),
            now=now.isoformat(),
        )


def _details(submission: Submission) -> dict[str, str]:
    phase = submission.phase_task.phase
    place = f"{phase.competition.name}/{phase.name}/{submission.phase_task.task.name}"
    return {"team": submission.team.name, "task": place}
