"""Rights in a competition, which follow from roles; granting and revoking roles."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime

from sqlalchemy import delete, select
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session, contains_eager

from app.base.db import ReadingSession, once
from app.base.errors import Forbidden, InvalidForm, NotAuthenticated, NotFound
from app.base.text import PLEASE_CORRECT, is_address, refuse
from app.models import ALL_RIGHTS, Competition, CompetitionRole, Right, Role, User, rights_in, rights_text
from app.people.account_blocks import check_account_not_blocked
from app.people.audit import record
from app.people.views import RoleOut


def has_role(session: Session, user: User, competition: Competition, role: Role) -> bool:
    """True if the user was granted this role here; administrators have no implicit roles."""
    return session.get(CompetitionRole, (competition.id, user.id, role)) is not None


def list_roles(session: Session, competition: Competition) -> list[RoleOut]:
    """List all roles in this competition, by role and name."""
    query = (
        select(CompetitionRole)
        .join(CompetitionRole.user)
        .options(contains_eager(CompetitionRole.user))
        .where(CompetitionRole.competition_id == competition.id)
        .order_by(User.username)
    )
    order = list(Role)
    found = [RoleOut.of(row, competition) for row in session.scalars(query)]
    return sorted(found, key=lambda one: order.index(one.role))


def grant_role(
    session: Session,
    competition: Competition,
    user: User,
    role: Role,
    now: datetime,
    *,
    rights: Collection[Right] = ALL_RIGHTS,
    actor: User | str | None = None,
) -> bool:
    """Grant the role; return False if the user already had it.

    rights: of an organiser; actor: as for `app.people.audit.record`.
    """
    if has_role(session, user, competition, role):
        return False
    held = rights_text(rights) if role is Role.ORGANISER else ""
    try:
        with session.begin_nested():
            session.add(
                CompetitionRole(competition_id=competition.id, user_id=user.id, role=role, rights=held, granted_at=now)
            )
    except IntegrityError:  # granted concurrently by somebody else
        return False
    details = _details(user, role) | ({"rights": held} if held else {})
    record(session, actor, "role.grant", f"competition {competition.name}", details, now=now)
    return True


def revoke_role(
    session: Session,
    competition: Competition,
    user: User,
    role: Role,
    now: datetime,
    *,
    actor: User | str | None = None,
) -> bool:
    """Revoke the role; return False if the user did not have it. actor: as for `app.people.audit.record`."""
    taken = session.execute(
        delete(CompetitionRole)
        .where(
            CompetitionRole.competition_id == competition.id,
            CompetitionRole.user_id == user.id,
            CompetitionRole.role == role,
        )
        .returning(CompetitionRole.user_id)
    )
    if taken.first() is None:
        return False
    record(session, actor, "role.revoke", f"competition {competition.name}", _details(user, role), now=now)
    return True


def _details(user: User, role: Role) -> dict[str, str]:
    return {"user": user.username, "role": role}


def is_named(user: User, username: str) -> bool:
    """Return True if this is the user's own name; no other accounts are looked up."""
    return username.strip().lower() == user.username


def find_user(session: Session, username: str) -> User:
    """Return the account with this user name or confirmed e-mail address. Raises NotFound.

    An unconfirmed address matches nobody: the person who registered with it may not be its owner.
    """
    name = username.strip().lower()
    by_address = (User.email == name) & User.email_confirmed_at.is_not(None)
    same = by_address if "@" in name else User.username == name
    found = session.scalar(select(User).where(same)) if name.isprintable() else None  # PostgreSQL accepts no NUL
    if found is None and "@" in name:
        raise NotFound(
            f"No account on this server has confirmed the address '{username}'. Its owner can register with this "
            "address and confirm it on the account page; or give the account's user name."
        )
    if found is None:
        raise NotFound(f"There is no account '{username}' on this server.")
    return found


#: Requirement: one right, or all of several.
Needs = Right | tuple[Right, ...]
#: Requirement that any organiser meets.
ANY_RIGHT: tuple[Right, ...] = ()

RIGHT_WORDS = {
    Right.EDIT: "edit the competition, and manage its people",
    Right.SUBMISSIONS: "see submissions and scores, and decide about them",
    Right.GOLD: "upload, check and publish gold",
    Right.MESSAGES: "write announcements and answer questions",
}


class RightMissing(Forbidden):
    """The user organises the competition, but lacks a right (details: needed, rights)."""

    code = "right_missing"


def find_typed_user(session: Session, username: str, field: str) -> User:
    """Return the account that is named in a field of a form, as find_user does. Raises InvalidForm."""
    try:
        return find_user(session, username)
    except NotFound as unknown:  # shown at the field
        raise InvalidForm(PLEASE_CORRECT, fields={field: unknown.message}) from None


def rights_of(session: Session, user: User | None, competition: Competition) -> frozenset[Right]:
    """Return the rights of this user: empty only for users who do not organise the competition."""
    if user is None:
        return frozenset()
    if user.is_administrator or competition.owner_id == user.id:
        return ALL_RIGHTS
    # Several parts of a page check this, mostly for people without rights.
    key = (competition.id, user.id, Role.ORGANISER)
    return once(session, ("rights", *key), lambda: _rights_declared(session, key))


def _rights_declared(session: Session, key: tuple[int, int, Role]) -> frozenset[Right]:
    row = session.get(CompetitionRole, key)
    return rights_in(row.rights) if row is not None else frozenset()


def may_organise(session: Session, user: User | None, competition: Competition, needs: Needs) -> bool:
    """True if this user organises the competition and has the required rights."""
    held = rights_of(session, user, competition)
    return bool(held) and held.issuperset(_all_of(needs))


def check_may_organise(session: Session, user: User | None, competition: Competition, needs: Needs) -> User:
    """Return the user who organises the competition. Raises NotAuthenticated, Forbidden for users who do not organise
    this competition, RightMissing.

    Raises Blocked for writes of blocked users.
    """
    if user is None:
        raise NotAuthenticated("Only organisers of the competition can do this: log in first.")
    held = rights_of(session, user, competition)
    if not held:
        raise Forbidden("Only organisers of the competition can do this.")
    if not isinstance(session, ReadingSession):  # they may have been blocked since the request began
        check_account_not_blocked(session, user)
    missing = [right for right in _all_of(needs) if right not in held]
    if missing:
        raise RightMissing(
            f"You organise this competition without the right {' and '.join(map(_right_in_words, missing))}. "
            f"{_who_gives(session, competition)}",
            needed=[str(right) for right in missing],
            rights=rights_text(held).split(),
        )
    return user


def _all_of(needs: Needs) -> tuple[Right, ...]:
    return (needs,) if isinstance(needs, Right) else needs


def _right_in_words(right: Right) -> str:
    return f"'{right}' (to {RIGHT_WORDS[right]})"


def _who_gives(session: Session, competition: Competition) -> str:
    owner = session.get(User, competition.owner_id) if competition.owner_id else None
    return f"{f'Its owner, {owner.username},' if owner else 'An administrator of this server'} can give it to you."


def rights_to_give(
    session: Session, by: User | None, competition: Competition, wanted: Collection[Right] | None
) -> frozenset[Right]:
    """Return the rights for a new organiser, checked to be among the giver's. Raises InvalidForm.

    wanted: None for all of the giver's; by: None for the server's command line.
    """
    own = ALL_RIGHTS if by is None else rights_of(session, by, competition)
    rights = own if wanted is None else frozenset(wanted)
    refuse({"rights": "" if rights else "Choose at least one."})
    beyond = rights_text(rights - own).split()
    refuse({"rights": f"You can only give rights that you have; you lack: {', '.join(beyond)}." if beyond else ""})
    return rights


def set_rights(
    session: Session,
    competition: Competition,
    user: User,
    rights: frozenset[Right],
    now: datetime,
    *,
    actor: User | str | None,
) -> bool:
    """Set an organiser's rights; return False if unchanged or if they are not an organiser.

    actor: as for `app.people.audit.record`.
    """
    row = session.get(CompetitionRole, (competition.id, user.id, Role.ORGANISER), with_for_update=True)
    if row is None or rights_in(row.rights) == rights:
        return False
    details = {"user": user.username, "rights": rights_text(rights), "before": row.rights}
    row.rights = rights_text(rights)
    session.flush()
    record(session, actor, "role.rights", f"competition {competition.name}", details, now=now)
    return True


def organisers_of(session: Session, competition_name: str, right: Right) -> list[User]:
    """Return the organisers to notify: those with this right, or the administrators if there are none.

    Users without a confirmed address are excluded, because they receive no mail.
    """
    role = (CompetitionRole.user_id == User.id) & (CompetitionRole.role == Role.ORGANISER)
    organisers = (
        select(User, CompetitionRole.rights, Competition.owner_id == User.id)
        .join(CompetitionRole, role)
        .join(Competition, Competition.id == CompetitionRole.competition_id)
        .where(Competition.name == competition_name, User.email_confirmed_at.is_not(None))
        .order_by(User.email)
    )
    reachable = [user for user, held, owns in session.execute(organisers) if owns or right in rights_in(held)]
    return reachable or list(
        session.scalars(
            select(User).where(User.is_administrator, User.email_confirmed_at.is_not(None)).order_by(User.email)
        )
    )


def addresses_for_replies(session: Session, competition_id: int) -> list[str]:
    """Return the reply addresses of a competition's mails: its contact if that is an address, else organisers for
    questions.
    """
    competition = session.get_one(Competition, competition_id)
    if is_address(competition.contact):
        return [competition.contact]
    return [user.email for user in organisers_of(session, competition.name, Right.MESSAGES)]
