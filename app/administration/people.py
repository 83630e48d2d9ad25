"""People of the whole server: search, confirmation, blocks, and limits for single organisers."""

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
from app.people.act import Act
from app.people.audit import actor_name
from app.people.auth import approve_organiser
from app.people.email_confirmations import believe
from app.teams.registration import settle_confirmed

#: Number of people on a page.
PAGE_LENGTH = 50
#: Maximum number of characters of the reason for a block, which is shown to the blocked person.
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
    """A search for people. text: in a user name, a name, an address or the name of a team; after: the last user name of
    the previous page.
    """

    text: str = ""
    group: Group = "all"
    after: str = ""


def search_people(session: Session, search: Search) -> AccountList:
    """Return a page of people, sorted by user name."""
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
    """Return the account with this user name. Raises NotFound."""
    name = username.strip().lower()
    found = session.scalar(select(User).where(User.username == name, IS_PERSON)) if name.isprintable() else None
    if found is None:
        raise NotFound(f"There is no account '{username[:60]}' on this server.")
    return found


def describe(session: Session, user: User, settings: Settings, now: datetime) -> AccountOut:
    """Return the API object of an account for administrators, without secrets and submissions of teams."""
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


def block(act: Act, user: User, reason: str) -> bool:
    """Block an account: all access to it ends immediately. Return False if it was blocked already.

    reason: shown to the person; a new one replaces the first. Raises Forbidden, InvalidForm.
    """
    check_administrator(act.user)
    if act.user is not None and act.user.id == user.id:
        raise Forbidden("You cannot block your own account.")
    reason = " ".join(reason.split())
    refuse({"reason": _wrong_reason(reason)})
    act.session.execute(select(User.id).where(User.id == user.id).with_for_update())
    act.session.refresh(user)
    was_blocked = user.is_blocked
    user.blocked_at, user.blocked_reason = user.blocked_at or act.now, reason
    act.session.flush()
    auth.shut_out(act.session, user, act.now)
    note_change(act.session)
    act.record("account.block", f"user {user.username}", {"reason": reason})
    return not was_blocked


def _wrong_reason(reason: str) -> str:
    if len(reason) > REASON_CHARACTERS:
        return f"At most {REASON_CHARACTERS} characters."
    return "It contains characters that cannot be stored." if any(map(is_control, reason)) else ""


def unblock(act: Act, user: User) -> bool:
    """Unblock an account, so that its owner can log in again; tokens stay revoked. Return False if it was not blocked.

    Raises Forbidden.
    """
    check_administrator(act.user)
    there = update(User).where(User.id == user.id, User.blocked_at.is_not(None))
    if act.session.execute(there.values(blocked_at=None, blocked_reason="").returning(User.id)).first() is None:
        return False
    act.session.refresh(user)
    note_change(act.session)
    act.record("account.unblock", f"user {user.username}")
    return True


# ------------------------------------------------------------------------------------------------------ other actions


def confirm_address(act: Act, user: User) -> bool:
    """Confirm an address for its owner, like the mailed link; log-ins and tokens of the account end.

    Return False if it was confirmed already. Raises Forbidden.
    """
    check_administrator(act.user)
    changed = believe(act.session, user, act.now, actor=act.user or actor_name(None))
    settle_confirmed(act.session, user, act.now)
    act.session.refresh(user)
    return changed


def reset_second_factor(act: Act, user: User) -> bool:
    """Remove the second factor of a user who has lost it, and end the user's log-ins.

    Return False if there was none. Raises Forbidden.
    """
    check_administrator(act.user)
    return second_factor.clear(act.session, user, act.settings, act.now, actor=act.user)


def demote(act: Act, user: User) -> bool:
    """Make an administrator a normal user; return False if the user was not one.

    Raises Forbidden, LastAdministrator.
    """
    check_administrator(act.user)
    if act.user is not None and act.user.id == user.id:
        raise Forbidden("You cannot revoke your own administration: ask another administrator.")
    return auth.demote(act.session, user, act.now, actor=act.user)


@dataclass(frozen=True, slots=True)
class OrganiserRules:
    """Rules for one organiser. None: the server's rule applies."""

    organising: Organising
    competitions: int | None = None
    mebibytes: int | None = None


def set_organiser_rules(act: Act, user: User, rules: OrganiserRules) -> bool:
    """Set whether a user may create competitions, and the user's limits; return False if nothing changed.

    Raises Forbidden, InvalidForm.
    """
    check_administrator(act.user)
    numbers = {"competitions": rules.competitions, "mebibytes": rules.mebibytes}
    refuse({name: f"Between 0 and {MOST_LIMIT}." for name, one in numbers.items() if not _fits(one)})
    act.session.execute(select(User.id).where(User.id == user.id).with_for_update())
    act.session.refresh(user)
    before = _rules_of(user)
    if before == rules:
        return False
    approve_organiser(act.session, user, rules.organising == "approved", act.now, actor=act.user)
    user.is_barred_organiser = rules.organising == "barred"
    user.competitions_limit, user.mebibytes_limit = rules.competitions, rules.mebibytes
    act.session.flush()
    act.session.refresh(user)
    details = {"organising": rules.organising, **numbers, "before": before.organising}
    act.record("organiser.rules", f"user {user.username}", details)
    return True


def _fits(number: int | None) -> bool:
    return number is None or 0 <= number <= MOST_LIMIT


def _rules_of(user: User) -> OrganiserRules:
    organising: Organising = (
        "barred" if user.is_barred_organiser else "approved" if user.is_approved_organiser else "rule"
    )
    return OrganiserRules(organising, user.competitions_limit, user.mebibytes_limit)


def ban_domain(act: Act, domain: str, *, environment: Settings) -> SettingOut:
    """Refuse new addresses of this domain and its subdomains; existing accounts are kept. Return the changed setting.

    Raises Forbidden, InvalidForm.
    """
    check_administrator(act.user)
    note_change(act.session)  # from here on nobody else changes the list
    known = domains_in(current_settings(act.session, environment).banned_domains)
    return change_setting(act, "banned_domains", ", ".join([*known, domain]), environment=environment)
