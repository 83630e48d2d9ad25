"""People of the whole server: found, confirmed, blocked and unblocked, with limits of their own as organisers."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from sqlalchemy import ColumnElement, Select, and_, func, or_, select, update
from sqlalchemy.orm import Session

from app.administration.access import check_administrator
from app.administration.live import current_settings, note_change
from app.administration.settings import change_setting
from app.administration.views import AccountList, AccountOut, AccountRow, SettingOut
from app.base.config import Settings
from app.base.errors import Forbidden, NotFound
from app.base.live_settings import domains_in
from app.base.text import is_control, refuse
from app.competitions.organisers import limits_of, own_limits, used_bytes
from app.models import (
    ApiToken,
    Competition,
    CompetitionRole,
    Identity,
    LoginSession,
    Role,
    Submission,
    Team,
    TeamMember,
    User,
)
from app.people import auth, second_factor
from app.people.audit import actor_name, record
from app.people.auth import approve_organiser
from app.people.email_confirmations import believe
from app.teams.registration import settle_confirmed

#: People on a page.
PAGE_LENGTH = 50
#: Characters of the reason for a block, which the person reads.
REASON_CHARACTERS = 500
MOST_LIMIT = 1_000_000

#: True for accounts of people. Others are the server's own (`@baselines`) and what stays of deleted ones: nobody can
#: choose their names.
IS_PERSON: ColumnElement[bool] = and_(User.username.not_like("@%"), User.username.not_like("% %"))

Group = Literal["all", "blocked", "unconfirmed", "organisers", "administrators"]
GROUPS: tuple[Group, ...] = ("all", "blocked", "unconfirmed", "organisers", "administrators")
Organising = Literal["rule", "approved", "barred"]


@dataclass(frozen=True, slots=True)
class Search:
    """People to look for. text: in a user name, a name, an address or the name of a team; after: their last user name
    on the page before."""

    text: str = ""
    group: Group = "all"
    after: str = ""


def search_people(session: Session, search: Search) -> AccountList:
    """Return a page of people, by user name."""
    query = select(User).where(*_conditions(search)).order_by(User.username).limit(PAGE_LENGTH + 1)
    found = list(session.scalars(query))
    shown = found[:PAGE_LENGTH]
    return AccountList(
        accounts=[AccountRow.of(user) for user in shown],
        next_after=shown[-1].username if len(found) > PAGE_LENGTH else None,
    )


def _conditions(search: Search) -> list[ColumnElement[bool]]:
    text, found = search.text.strip().lower(), [IS_PERSON]
    if text and not any(map(is_control, text)):
        in_team = (
            select(TeamMember.user_id)
            .join(Team, Team.id == TeamMember.team_id)
            .where(func.lower(Team.name).contains(text, autoescape=True))
        )
        texts = (User.username, User.email, func.lower(User.display_name))
        as_typed = User.display_name.contains(search.text.strip(), autoescape=True)  # SQLite lowers ASCII alone
        found.append(or_(User.id.in_(in_team), as_typed, *(one.contains(text, autoescape=True) for one in texts)))
    elif text:
        found.append(User.id.is_(None))
    if search.after:
        found.append(User.username > search.after)
    conditions: dict[Group, ColumnElement[bool]] = {
        "blocked": User.blocked_at.is_not(None),
        "unconfirmed": User.email_confirmed_at.is_(None),
        "organisers": or_(User.is_approved_organiser, User.id.in_(_organising()), User.id.in_(_owning())),
        "administrators": User.is_administrator.is_(True),
    }
    return found + ([conditions[search.group]] if search.group in conditions else [])


def _organising() -> Select[int]:
    return select(CompetitionRole.user_id).where(CompetitionRole.role == Role.ORGANISER)


def _owning() -> Select[int | None]:
    return select(Competition.owner_id).where(Competition.owner_id.is_not(None))


def find_account(session: Session, username: str) -> User:
    """Return the person's account with this user name. Raises NotFound."""
    name = username.strip().lower()
    found = session.scalar(select(User).where(User.username == name, IS_PERSON)) if name.isprintable() else None
    if found is None:
        raise NotFound(f"There is no account '{username[:60]}' on this server.")
    return found


def describe(session: Session, user: User, settings: Settings, now: datetime) -> AccountOut:
    """Return what administrators see of an account: no secret, nothing of what teams submitted."""
    factors = second_factor.factors_of(session, user)
    limits = own_limits(limits_of(settings), user.competitions_limit, user.mebibytes_limit)
    mine, live = LoginSession.user_id == user.id, ApiToken.revoked_at.is_(None)
    teams = (
        select(Competition.name, Team.name)
        .join(Team, Team.competition_id == Competition.id)
        .join(TeamMember, TeamMember.team_id == Team.id)
        .where(TeamMember.user_id == user.id)
        .order_by(Competition.name)
    )
    roles = (
        select(Competition.name, CompetitionRole.role)
        .join(CompetitionRole, CompetitionRole.competition_id == Competition.id)
        .where(CompetitionRole.user_id == user.id)
        .order_by(Competition.name, CompetitionRole.role)
    )
    owned = select(Competition.name).where(Competition.owner_id == user.id).order_by(Competition.name)
    return AccountOut(
        **AccountRow.of(user).model_dump(),
        blocked_reason=user.blocked_reason,
        teams=[f"{team} ({competition})" for competition, team in session.execute(teams)],
        roles=[f"{role} of {competition}" for competition, role in session.execute(roles)],
        owns=list(session.scalars(owned)),
        submissions=session.scalar(select(func.count(Submission.id)).where(Submission.user_id == user.id)) or 0,
        used_bytes=used_bytes(session, user),
        competitions_limit=user.competitions_limit,
        mebibytes_limit=user.mebibytes_limit,
        may_own=limits.competitions,
        may_hold_bytes=limits.bytes,
        has_password=user.has_password,
        providers=list(session.scalars(select(Identity.provider).where(Identity.user_id == user.id))),
        has_second_factor=factors.is_set_up,
        log_ins=session.scalar(select(func.count(LoginSession.id)).where(mine, LoginSession.expires_at > now)) or 0,
        tokens=session.scalar(select(func.count(ApiToken.id)).where(ApiToken.user_id == user.id, live)) or 0,
        seen_at=session.scalar(select(func.max(LoginSession.seen_at)).where(mine)),
    )


# ------------------------------------------------------------------------------------------------------------ blocking


def block(session: Session, user: User, reason: str, *, by: User | None, now: datetime) -> bool:
    """Block an account: everything that opens it ends at once. Return False if it was blocked already.

    reason: for the person; a new one replaces the first. by: None for the command line. Raises Forbidden, InvalidForm.
    """
    check_administrator(by)
    if by is not None and by.id == user.id:
        raise Forbidden("You cannot block your own account.")
    reason = " ".join(reason.split())
    refuse({"reason": _wrong_reason(reason)})
    session.execute(select(User.id).where(User.id == user.id).with_for_update())
    session.refresh(user)
    was_blocked = user.is_blocked
    user.blocked_at, user.blocked_reason = user.blocked_at or now, reason
    session.flush()
    auth.shut_out(session, user, now)
    note_change(session)
    record(session, by, "account.block", f"user {user.username}", {"reason": reason}, now=now)
    return not was_blocked


def _wrong_reason(reason: str) -> str:
    if len(reason) > REASON_CHARACTERS:
        return f"At most {REASON_CHARACTERS} characters."
    return "It contains characters that cannot be stored." if any(map(is_control, reason)) else ""


def unblock(session: Session, user: User, *, by: User | None, now: datetime) -> bool:
    """Let the owner of a blocked account log in again; their tokens stay revoked. Return False if it was not blocked.

    Raises Forbidden.
    """
    check_administrator(by)
    there = update(User).where(User.id == user.id, User.blocked_at.is_not(None))
    if session.execute(there.values(blocked_at=None, blocked_reason="").returning(User.id)).first() is None:
        return False
    session.refresh(user)
    note_change(session)
    record(session, by, "account.unblock", f"user {user.username}", now=now)
    return True


# ------------------------------------------------------------------------------------------------------ other actions


def confirm_address(session: Session, user: User, *, by: User | None, now: datetime) -> bool:
    """Confirm an address for its owner, as the mailed link would; their log-ins and tokens end. Raises Forbidden.

    Return False if it was confirmed already.
    """
    check_administrator(by)
    changed = believe(session, user, now, actor=by or actor_name(None))
    settle_confirmed(session, user, now)
    session.refresh(user)
    return changed


def reset_second_factor(session: Session, user: User, settings: Settings, *, by: User | None, now: datetime) -> bool:
    """Remove the second factor of somebody who has lost it, and end their log-ins. Raises Forbidden.

    Return False if there was none.
    """
    check_administrator(by)
    return second_factor.clear(session, user, settings, now, actor=by)


def demote(session: Session, user: User, *, by: User | None, now: datetime) -> bool:
    """Make an administrator a user like others; return False if they were none. by: None for the command line.

    Raises Forbidden, LastAdministrator.
    """
    check_administrator(by)
    if by is not None and by.id == user.id:
        raise Forbidden("You cannot revoke your own administration: ask another administrator.")
    return auth.demote(session, user, now, actor=by)


@dataclass(frozen=True, slots=True)
class OrganiserRules:
    """Rules for one organiser. None: those of the server."""

    organising: Organising
    competitions: int | None = None
    mebibytes: int | None = None


def set_organiser_rules(session: Session, user: User, rules: OrganiserRules, *, by: User | None, now: datetime) -> bool:
    """Set whether somebody may create competitions, and their own limits; return False if nothing changed.

    Raises Forbidden, InvalidForm.
    """
    check_administrator(by)
    numbers = {"competitions": rules.competitions, "mebibytes": rules.mebibytes}
    refuse({name: f"Between 0 and {MOST_LIMIT}." for name, one in numbers.items() if not _fits(one)})
    session.execute(select(User.id).where(User.id == user.id).with_for_update())
    session.refresh(user)
    before = _rules_of(user)
    if before == rules:
        return False
    approve_organiser(session, user, rules.organising == "approved", now, actor=by)
    user.is_barred_organiser = rules.organising == "barred"
    user.competitions_limit, user.mebibytes_limit = rules.competitions, rules.mebibytes
    session.flush()
    session.refresh(user)
    details = {"organising": rules.organising, **numbers, "before": before.organising}
    record(session, by, "organiser.rules", f"user {user.username}", details, now=now)
    return True


def _fits(number: int | None) -> bool:
    return number is None or 0 <= number <= MOST_LIMIT


def _rules_of(user: User) -> OrganiserRules:
    organising: Organising = (
        "barred" if user.is_barred_organiser else "approved" if user.is_approved_organiser else "rule"
    )
    return OrganiserRules(organising, user.competitions_limit, user.mebibytes_limit)


def ban_domain(session: Session, domain: str, *, by: User | None, environment: Settings, now: datetime) -> SettingOut:
    """Refuse new addresses of this domain and its subdomains; existing accounts stay. Raises Forbidden, InvalidForm."""
    check_administrator(by)
    note_change(session)  # from here on nobody else changes the list
    known = domains_in(current_settings(session, environment).banned_domains)
    return change_setting(
        session, "banned_domains", ", ".join([*known, domain]), by=by, environment=environment, now=now
    )
