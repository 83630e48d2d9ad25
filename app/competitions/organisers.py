"""The permission to create competitions, and quotas for their number and size, counted under a lock on the user."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace

from sqlalchemy import Select, func, select
from sqlalchemy.orm import Session

from app.base.config import MEBIBYTE, Settings
from app.base.errors import EvergoldError, Forbidden, InvalidForm
from app.base.live_settings import Rule
from app.base.storage import UNLIMITED_BYTES
from app.base.text import readable_size, refuse
from app.models import (
    ALL_RIGHTS,
    Blueprint,
    BlueprintFile,
    Competition,
    CompetitionRole,
    GoldVersion,
    Phase,
    PhaseTask,
    Revision,
    RevisionFile,
    Right,
    Role,
    User,
    rights_in,
)
from app.people.act import Act
from app.people.invitations import end_those_beyond
from app.people.rights import (
    ANY_RIGHT,
    Needs,
    find_typed_user,
    grant_role,
    has_role,
    is_named,
    revoke_role,
    rights_of,
    rights_to_give,
    set_rights,
)


@dataclass(frozen=True, slots=True)
class OrganiserLimits:
    """Limits for organisers who are not administrators."""

    rule: Rule
    competitions: int
    bytes: int


def limits_of(settings: Settings) -> OrganiserLimits:
    """Return the limits from the settings of this server."""
    return OrganiserLimits(
        settings.organise, settings.competitions_per_organiser, settings.mebibytes_per_organiser * MEBIBYTE
    )


class QuotaReached(EvergoldError):
    """A quota of an organiser is used up (details: limit, used)."""

    status = 409
    code = "organiser_quota"


def may_create(user: User | None, rule: Rule) -> bool:
    """Return True if this user may create competitions on this server."""
    if user is None or (user.is_barred_organiser and not user.is_administrator):
        return False
    approved = {"anybody": user.email_confirmed_at is not None, "approved": user.is_approved_organiser, "admins": False}
    return user.is_administrator or approved[rule]


def check_may_create(user: User, rule: Rule) -> None:
    """Raise Forbidden, with an explanation, if this user may not create competitions."""
    if user.is_barred_organiser and not user.is_administrator:
        raise Forbidden(
            "The administrators of this server do not let you create competitions. Write to them if you want to "
            "organise one."
        )
    if not may_create(user, rule):
        hint = {
            "anybody": "Confirm your e-mail address first: your account page sends the link.",
            "approved": "Write to the people who run this server: they approve organisers.",
            "admins": "Only administrators create competitions here: write to them.",
        }[rule]
        raise Forbidden(f"You cannot create a competition on this server yet. {hint}")


def check_competitions_left(session: Session, user: User, limits: OrganiserLimits) -> None:
    """Raise QuotaReached if the user may own no more competitions.

    Concurrent additions by the same owner wait until this transaction ends.
    """
    own = _locked_limits(session, user, limits)
    owned = session.scalar(select(func.count()).select_from(Competition).where(Competition.owner_id == user.id)) or 0
    if not user.is_administrator and owned >= own.competitions:
        raise QuotaReached(
            f"You own {owned} competition{'' if owned == 1 else 's'}, and may own {own.competitions} on this server. "
            "Hand one over, delete one, or write to the people who run this server.",
            limit=own.competitions,
            used=owned,
        )


def check_bytes_left(session: Session, user: User, more: int, limits: OrganiserLimits) -> None:
    """Raise QuotaReached unless `more` bytes fit.

    Concurrent additions by the same owner wait until this transaction ends.
    """
    own = _locked_limits(session, user, limits)
    used = 0 if user.is_administrator else used_bytes(session, user)
    if not user.is_administrator and used + more > own.bytes:
        raise QuotaReached(
            f"Your competitions hold {readable_size(used)} of files and gold; another {readable_size(more)} would "
            f"exceed the {readable_size(own.bytes)} allowed here.",
            limit=own.bytes,
            used=used,
        )


def check_owner_bytes_left(session: Session, competition: Competition, more: int, limits: OrganiserLimits) -> None:
    """Raise QuotaReached unless `more` bytes fit into the quota of the competition's owner, no matter who adds them.

    Competitions of the server itself have no limit.
    """
    owner = owner_of(session, competition)
    if owner is not None:
        check_bytes_left(session, owner, more, limits)


def owner_of(session: Session, competition: Competition) -> User | None:
    """Return the owner; None if the competition belongs to the server."""
    return session.get(User, competition.owner_id) if competition.owner_id is not None else None


@dataclass(frozen=True, slots=True)
class Room:
    """Bytes that an owner may still add. Concurrent uploads may use them up: `check_bytes_left` decides."""

    left: int
    used: int
    limit: int

    def no_room(self) -> QuotaReached:
        """Return the error for a file that turns out to be too large while it is received."""
        return QuotaReached(
            f"Your competitions hold {readable_size(self.used)} of files and gold, and may hold "
            f"{readable_size(self.limit)} here: this file does not fit.",
            limit=self.limit,
            used=self.used,
        )


def room_of(session: Session, user: User | None, limits: OrganiserLimits) -> Room:
    """Return the storage left to an owner.

    user: None for the server, which has no limit; administrators have none either.
    """
    if user is None or user.is_administrator:
        return Room(UNLIMITED_BYTES, 0, UNLIMITED_BYTES)
    used, own = used_bytes(session, user), own_limits(limits, user.competitions_limit, user.mebibytes_limit)
    return Room(max(0, own.bytes - used), used, own.bytes)


def used_bytes(session: Session, user: User) -> int:
    """Return the size in bytes of all files of owned competitions: drafts, revisions (each content once) and gold."""
    written = (
        select(func.coalesce(func.sum(BlueprintFile.size_bytes), 0))
        .join(Blueprint, Blueprint.id == BlueprintFile.blueprint_id)
        .where(Blueprint.owner_id == user.id)
    )
    owned = Competition.owner_id == user.id
    declared = declared_files().join(Competition, Competition.id == Revision.competition_id).where(owned).subquery()
    gold = (
        select(func.coalesce(func.sum(GoldVersion.content_bytes), 0))
        .join(PhaseTask, PhaseTask.id == GoldVersion.phase_task_id)
        .join(Phase, Phase.id == PhaseTask.phase_id)
        .join(Competition, Competition.id == Phase.competition_id)
        .where(owned)
    )
    sums = (written, select(func.coalesce(func.sum(declared.c.size_bytes), 0)), gold)
    return sum(int(session.scalar(one) or 0) for one in sums)


def declared_files() -> Select[int, str, int]:
    """Return a query for the files of revisions: competition, content and size, each content once per competition."""
    return (
        select(Revision.competition_id, RevisionFile.sha256, RevisionFile.size_bytes)
        .join(Revision, Revision.id == RevisionFile.revision_id)
        .distinct()
    )


def own_limits(limits: OrganiserLimits, competitions: int | None, mebibytes: int | None) -> OrganiserLimits:
    """Return the limits of a user for whom administrators set these values; None: the server's value."""
    return replace(
        limits,
        competitions=limits.competitions if competitions is None else competitions,
        bytes=limits.bytes if mebibytes is None else mebibytes * MEBIBYTE,
    )


def _locked_limits(session: Session, user: User, limits: OrganiserLimits) -> OrganiserLimits:
    """Lock the user and return the user's current limits, even if `user` was loaded before."""
    query = select(User.competitions_limit, User.mebibytes_limit).where(User.id == user.id)
    return own_limits(limits, *session.execute(query.with_for_update()).one())


class OwnersRole(EvergoldError):
    """The owner's role cannot be revoked or limited: the owner is always an organiser."""

    status = 409
    code = "owners_role"


class LastOrganiser(EvergoldError):
    """No organiser would be left."""

    status = 409
    code = "last_organiser"


def can_transfer(user: User | None, competition: Competition) -> bool:
    """Return True for the owner and administrators, who may also change organisers' rights.

    user: None for the server's command line.
    """
    return user is None or user.is_administrator or competition.owner_id == user.id


def hand_over(act: Act, competition: Competition, username: str, limits: OrganiserLimits) -> User:
    """Make an organiser with enough quota the owner of the competition; return the new owner.

    Raises Forbidden, InvalidForm, QuotaReached.
    """
    session = act.session
    session.refresh(competition, with_for_update=True)
    if not can_transfer(act.user, competition):
        raise Forbidden("Only the owner of a competition and administrators can hand it over.")
    to = find_typed_user(session, username, "owner")
    if not has_role(session, to, competition, Role.ORGANISER):
        sentence = f"{to.username} is not an organiser of this competition yet: invite them first."
        raise InvalidForm("Please correct the marked fields.", fields={"owner": sentence})
    if competition.owner_id == to.id:
        return to
    check_competitions_left(session, to, limits)
    before = competition.owner_id
    competition.owner_id = to.id
    details = {"to": to.username, "before": before}
    act.record("competition.hand_over", f"competition {competition.name}", details)
    return to


def give_role(act: Act, competition: Competition, user: User, role: Role, rights: Collection[Right] | None) -> bool:
    """Grant the role; return False if the user already had it.

    rights: of an organiser, None for all that the giver has. Raises InvalidForm.
    """
    given = rights_to_give(act.session, act.user, competition, rights) if role is Role.ORGANISER else ALL_RIGHTS
    return grant_role(act.session, competition, user, role, act.now, rights=given, actor=act.user)


def change_rights(act: Act, competition: Competition, user: User, rights: Collection[Right]) -> bool:
    """Set an organiser's rights; return False if unchanged. The user's open invitations that grant other rights end.

    Raises Forbidden, OwnersRole, InvalidForm.
    """
    session = act.session
    if not can_transfer(act.user, competition):
        raise Forbidden("Only the owner of a competition and administrators can change the rights of organisers.")
    if competition.owner_id == user.id:
        raise OwnersRole(f"{user.username} owns this competition and has every right.")
    if not has_role(session, user, competition, Role.ORGANISER):
        refuse({"whom": f"{user.username} is not an organiser of this competition."})
    held = rights_to_give(session, act.user, competition, rights)
    end_those_beyond(session, competition, user, held, act.now)
    return set_rights(session, competition, user, held, act.now, actor=act.user)


def needs_to_take(user: User, role: Role, whom: str) -> Needs:
    """Return the rights needed to revoke a role; leaving needs none. whom: name or address of its holder."""
    return ANY_RIGHT if role is Role.ORGANISER and is_named(user, whom) else Right.EDIT


def take_role(act: Act, competition: Competition, user: User, role: Role) -> bool:
    """Revoke the role, and end the open invitations that an organiser has sent; return False if the user did not have
    it.

    Raises OwnersRole for the owner, LastOrganiser if the last organiser leaves, Forbidden.
    """
    session = act.session
    if role is not Role.ORGANISER:
        return revoke_role(session, competition, user, role, act.now, actor=act.user)
    session.refresh(competition, with_for_update=True)  # blocks a concurrent transfer, or another organiser leaving
    if competition.owner_id == user.id:
        raise OwnersRole(f"{user.username} owns this competition: hand it over first.")
    if act.user is not None and act.user.id == user.id and _is_last(session, competition, user):
        raise LastOrganiser(
            "You are the last organiser of this competition: make somebody else an organiser before you leave."
        )
    row = session.get(CompetitionRole, (competition.id, user.id, role))
    if (
        row is not None
        and act.user is not None
        and not rights_of(session, act.user, competition) >= rights_in(row.rights)
    ):
        raise Forbidden(
            f"{user.username} has rights that you lack: only the owner of the competition and administrators can "
            "revoke this role."
        )
    end_those_beyond(session, competition, user, frozenset(), act.now)
    return revoke_role(session, competition, user, role, act.now, actor=act.user)


def _is_last(session: Session, competition: Competition, user: User) -> bool:
    """Return True if nobody else is an organiser."""
    others = CompetitionRole.competition_id == competition.id, CompetitionRole.role == Role.ORGANISER
    query = select(func.count()).select_from(CompetitionRole).where(*others, CompetitionRole.user_id != user.id)
    return not session.scalar(query)
