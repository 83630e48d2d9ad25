"""Deletion of accounts: scheduled by the owner or an operator, cancellable for some days, then carried out by the
sweep.

Until then the account works as before, so that its owner can log in and cancel it. `erasing` decides what is deleted
and what is kept.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import Select, exists, select
from sqlalchemy.orm import Session, aliased

from app.base import links
from app.base.addresses import public_address
from app.base.config import Settings
from app.base.errors import EvergoldError
from app.competitions.life import submitting_teams
from app.models import AccountDeletion, Competition, CompetitionRole, Role, ScoringRun, Submission, User
from app.models.submissions import TERMINAL
from app.people.act import Act
from app.people.auth import has_other_administrator
from app.people.mail import send_mail
from app.privacy.views import DeletionOut, ObstacleKind, ObstacleOut
from evergold.moments import minute_words

#: Time between the reminder and the deletion.
REMINDER = timedelta(days=3)
#: Actor name in the audit log.
SWEEP = "the sweep"

_ASKED = """\
Hello {username},

Your account "{username}" on {server} will be deleted on {due}. Until then you can undo it:

{page}

If it was not you, undo it there and set a new password.
"""
_REMINDER = """\
Hello {username},

Your account "{username}" on {server} will be deleted on {due}, as you requested. To keep it, undo the deletion:

{page}
"""
_UNDONE = """\
Hello {username},

The deletion of your account "{username}" on {server} was undone. Nothing changes.
"""
_NOT_YET = """\
Hello {username},

Your account "{username}" on {server} should have been deleted today. It was not deleted because

{obstacles}

It will be deleted as soon as this is settled. You can also undo the deletion: {page}
"""

_SUBJECTS = {
    _ASKED: "Your account is going to be deleted",
    _REMINDER: "Your account is going to be deleted soon",
    _UNDONE: "Your account stays",
    _NOT_YET: "Your account was not deleted yet",
}


class NotDeletable(EvergoldError):
    """Something depends on the account (details: obstacles, a list of {kind, competition, message})."""

    status = 409
    code = "account_needed"


@dataclass(frozen=True, slots=True)
class Obstacle:
    """A reason why an account cannot be deleted yet. competition: its name; "" for the server itself."""

    kind: ObstacleKind
    competition: str
    message: str
    page: str


def obstacles_of(session: Session, user: User) -> list[Obstacle]:
    """Return all obstacles, each with what to do about it; runs in progress only delay the deletion."""
    found = []
    owned = select(Competition).where(Competition.owner_id == user.id).order_by(Competition.name)
    for one in session.scalars(owned):
        if one.delete_at is not None:
            words = f"You own “{one.title}”, which is deleted on {minute_words(one.delete_at)}: wait until then."
        else:
            way_out = "" if submitting_teams(session, one) else ", or delete it"
            words = f"You own “{one.title}”: hand it over to another organiser{way_out}."
        found.append(Obstacle("owner", one.name, words, links.people(one.name)))
    for one in session.scalars(_organised_alone(user)):
        words = f"You are the only organiser of “{one.title}”: make somebody else an organiser first."
        found.append(Obstacle("last_organiser", one.name, words, links.people(one.name)))
    if user.is_administrator and not has_other_administrator(session, user):
        words = (
            "You are the only administrator of this server: make somebody else one first (evergold account promote)."
        )
        found.append(Obstacle("last_administrator", "", words, ""))
    return found


def _organised_alone(user: User) -> Select[Competition]:
    """Return a query for competitions without an owner whose only organiser is this user."""
    mine, others = aliased(CompetitionRole), aliased(CompetitionRole)
    other = exists().where(
        others.competition_id == Competition.id, others.role == Role.ORGANISER, others.user_id != user.id
    )
    return (
        select(Competition)
        .join(mine, mine.competition_id == Competition.id)
        .where(mine.user_id == user.id, mine.role == Role.ORGANISER, Competition.owner_id.is_(None), ~other)
        .order_by(Competition.name)
    )


def deletion_of(session: Session, user: User) -> AccountDeletion | None:
    """Return the scheduled deletion of this account; None if there is none."""
    return session.get(AccountDeletion, user.id, populate_existing=True)


def plan_account_deletion(act: Act, user: User, *, at_once: bool = False) -> AccountDeletion:
    """Schedule the deletion and return it, or the one already scheduled. Raises NotDeletable with all obstacles.

    at_once: without the days in which it can be cancelled, for operators.
    """
    session, now = act.session, act.now
    session.execute(select(User.id).where(User.id == user.id).with_for_update())
    found = deletion_of(session, user)
    if found is not None and not at_once:
        return found
    check_deletable(session, user)
    due_at = now if at_once else (now + timedelta(days=act.settings.deletion_days)).replace(second=0, microsecond=0)
    if found is None:
        found = AccountDeletion(
            user_id=user.id, asked_at=now, due_at=due_at, reminded_at=None, told_at=None, done_at=None
        )
        session.add(found)
    found.due_at = min(found.due_at, due_at)
    session.flush()
    act.record("account.delete", f"user {user.username}", {"due_at": due_at.isoformat()})
    if not at_once:
        _write(session, found, user, _ASKED, act.settings, now)
    return found


def check_deletable(session: Session, user: User) -> None:
    """Raise NotDeletable with all obstacles, if there are any."""
    if obstacles := obstacles_of(session, user):
        details = [{"kind": one.kind, "competition": one.competition, "message": one.message} for one in obstacles]
        raise NotDeletable(" ".join(one.message for one in obstacles), obstacles=details)


def undo_account_deletion(act: Act, user: User) -> bool:
    """Cancel the deletion; return False if none is scheduled."""
    session = act.session
    session.execute(select(User.id).where(User.id == user.id).with_for_update())
    found = deletion_of(session, user)
    if found is None or found.done_at is not None:
        return False
    session.delete(found)
    session.flush()
    act.record("account.keep", f"user {user.username}")
    _write(session, found, user, _UNDONE, act.settings, act.now)
    return True


def due_deletions(session: Session, now: datetime) -> list[int]:
    """Return the ids of users whose deletion is due, or so soon that a reminder is due."""
    is_open = AccountDeletion.done_at.is_(None), AccountDeletion.due_at <= now + REMINDER
    return list(session.scalars(select(AccountDeletion.user_id).where(*is_open).order_by(AccountDeletion.user_id)))


def carry_out(session: Session, user_id: int, settings: Settings, now: datetime) -> bool:
    """Send the reminder of this deletion or, if it is due, erase the account; return True if erased. The caller
    commits.

    With an obstacle the deletion is postponed, and its owner notified once; with a file in the queue it waits for the
    next sweep.
    """
    user = session.get_one(User, user_id, with_for_update=True, populate_existing=True)
    found = deletion_of(session, user)
    if found is None or found.done_at is not None:  # cancelled or carried out meanwhile
        return False
    if found.due_at > now:
        if found.reminded_at is None and now - found.asked_at > timedelta(days=1):
            found.reminded_at = now
            _write(session, found, user, _REMINDER, settings, now)
    elif obstacles := obstacles_of(session, user):
        if found.told_at is None:
            found.told_at = now
            words = "\n".join(f"- {one.message}" for one in obstacles)
            _write(session, found, user, _NOT_YET, settings, now, words)
    elif not _is_at_work(session, user):
        from app.privacy.erasing import erase  # with boards and statistics, for which the sweep has no other use

        erase(session, user, settings, now)
        return True
    return False


def _is_at_work(session: Session, user: User) -> bool:
    """Return whether a file of this user is queued or being scored."""
    at_work = select(ScoringRun.id).join(Submission, Submission.id == ScoringRun.submission_id)
    mine = Submission.user_id == user.id, ScoringRun.status.not_in(TERMINAL)
    return session.scalar(at_work.where(*mine).limit(1)) is not None


def _write(
    session: Session,
    deletion: AccountDeletion,
    user: User,
    text: str,
    settings: Settings,
    now: datetime,
    obstacles: str = "",
) -> None:
    body = text.format(
        username=user.username,
        server=public_address(settings, "/"),
        due=minute_words(deletion.due_at),
        page=public_address(settings, links.own_data()),
        obstacles=obstacles,
    )
    send_mail(session, user, _SUBJECTS[text], body, now=now)


# --------------------------------------------------------------------------------------------------------------- shown


def describe_deletion(session: Session, user: User, settings: Settings) -> DeletionOut:
    """Return the API object of the deletion of this account for its owner."""
    found = deletion_of(session, user)
    return DeletionOut(
        due_at=found.due_at if found is not None else None,
        days=settings.deletion_days,
        obstacles=[
            ObstacleOut(kind=one.kind, competition=one.competition, message=one.message)
            for one in obstacles_of(session, user)
        ],
    )
