"""Membership of teams: inviting, joining, leaving; and renaming."""

from __future__ import annotations

import secrets
from datetime import datetime, timedelta

from sqlalchemy import delete, exists, func, or_, select, update
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session, joinedload

from app.base.errors import EvergoldError, Forbidden, InvalidForm, NameTaken, NotFound
from app.base.text import hash_of_secret
from app.competitions.changed import boards_changed
from app.models import (
    NAME_CHARACTERS,
    Competition,
    FormerMember,
    MergeOffer,
    Submission,
    Team,
    TeamInvitation,
    TeamKind,
    TeamMember,
    User,
)
from app.people.act import UserAct
from app.people.competition_blocks import check_not_blocked
from app.teams.find import captain_of, find_team, is_name_taken, lock_team, members_max, members_of, names_fixed_at
from app.teams.registration import check_registered
from app.webhooks.keeping import forget_webhooks_of_team
from evergold.moments import deadline_words
from evergold.scoring.characters import can_be_name


class AlreadyInTeam(EvergoldError):
    """The user already has a team in this competition."""

    status = 409
    code = "already_in_team"


class TeamFull(EvergoldError):
    """The team has reached its maximum size (details: members_max)."""

    status = 409
    code = "team_full"


class NamesFixed(EvergoldError):
    """The name is in official results, or the organisers' deadline has passed (details: since)."""

    status = 409
    code = "names_fixed"


# ------------------------------------------------------------------------------------------------- founding, renaming


def create_team(act: UserAct, competition: Competition, name: str) -> Team:
    """Create a team with this user as its captain; return it.

    Raises BlockedHere, RegistrationNeeded, AlreadyInTeam, InvalidForm, NameTaken.
    """
    session = act.session
    check_not_blocked(session, competition, act.user)
    check_registered(session, competition, act.user)
    if find_team(session, act.user, competition.id) is not None:
        raise AlreadyInTeam("You have a team in this competition already: rename it, or leave it first.")
    name = _check_name(session, competition, name)
    team = Team(
        competition_id=competition.id, name=name, kind=TeamKind.TEAM, captain_id=act.user.id, created_at=act.now
    )
    try:
        with session.begin_nested():
            session.add(team)
            session.flush()
            session.add(TeamMember(team_id=team.id, user_id=act.user.id, competition_id=competition.id))
    except IntegrityError:
        raise NameTaken(
            "Another team has just taken this name, or you have just joined a team. Please reload the page."
        ) from None
    _record(act, "create", competition, team, name=name)
    return team


def rename_team(act: UserAct, competition: Competition, name: str) -> Team:
    """Rename the team and return it; only the captain may, until names are fixed. Frozen results keep the old name.

    Raises NotFound, Forbidden, BlockedHere, NamesFixed, InvalidForm, NameTaken.
    """
    session = act.session
    check_not_blocked(session, competition, act.user)
    team = team_of_captain(session, competition, act.user)
    fixed = names_fixed_at(session, competition, team)
    if fixed is not None and act.now >= fixed:
        raise NamesFixed(
            (f"Names of teams can no longer be changed since {deadline_words(fixed)}."), since=fixed.isoformat()
        )
    before, name = team.name, _check_name(session, competition, name, team)
    if name == before:
        return team
    try:
        with session.begin_nested():
            team.name = name
    except IntegrityError:
        raise NameTaken("Another team has just taken this name; please choose another.") from None
    boards_changed(session, select(Submission.phase_task_id).where(Submission.team_id == team.id))
    _record(act, "rename", competition, team, before=before, after=name)
    return team


# -------------------------------------------------------------------------------------------------- joining, leaving


def join_team(act: UserAct, competition: Competition, invitation: TeamInvitation) -> Team:
    """Join a team, leaving a team of one if necessary; return the team. invitation: from `find_invitation`.

    Raises RegistrationNeeded, AlreadyInTeam, TeamFull, and NotFound for an invitation that has just ended.
    """
    session = act.session
    check_registered(session, competition, act.user)
    present = lock_both(session, competition, act.user, invitation.team_id)
    still_open = select(TeamInvitation.id).where(TeamInvitation.id == invitation.id, TeamInvitation.ended_at.is_(None))
    if session.scalar(still_open) is None:
        raise NotFound("This invitation has expired. Please request another.")
    team = session.get_one(Team, invitation.team_id, populate_existing=True)
    if present is not None and present.id == team.id:
        return team
    if present is not None and len(members_of(session, present)) > 1:
        raise AlreadyInTeam(f"You are a member of '{present.name}'; leave it first.")
    limit = members_max(competition)
    if limit is not None and len(members_of(session, team)) >= limit:
        raise TeamFull(f"This team already has {limit} members, the most allowed.", members_max=limit)
    if present is not None:
        _leave(act, competition, present, act.user)
    try:
        with session.begin_nested():
            member = TeamMember(team_id=team.id, user_id=act.user.id, competition_id=competition.id, joined_at=act.now)
            session.add(member)
    except IntegrityError:  # concurrently, by another request of the same user
        raise AlreadyInTeam("You have just joined another team. Please reload the page.") from None
    _record(act, "join", competition, team, name=team.name)
    return team


def leave_team(act: UserAct, competition: Competition) -> None:
    """Leave the team, which keeps its submissions; after a captain the longest-standing member becomes captain."""
    team = locked_team(act.session, competition, act.user)
    _leave(act, competition, team, act.user)


def remove_member(act: UserAct, competition: Competition, username: str) -> None:
    """Remove another member, as the captain. The open invitation ends, because the member may know it."""
    session = act.session
    team = team_of_captain(session, competition, act.user)
    member = _member(session, team, username)
    if member.user_id == act.user.id:
        raise InvalidForm(
            "Please correct the marked fields.",
            fields={"username": "You cannot remove yourself: leave the team instead."},
        )
    _leave(act, competition, team, member.user)
    end_invitations(session, team, act.now)


def transfer_team(act: UserAct, competition: Competition, username: str) -> None:
    """Make another member the captain, as the captain."""
    session = act.session
    team = team_of_captain(session, competition, act.user)
    member = _member(session, team, username)
    if member.user_id != act.user.id:
        team.captain_id = member.user_id
        session.flush()
        _record(act, "transfer", competition, team, to=member.user.username)


def end_invitations(session: Session, team: Team, now: datetime) -> bool:
    """End all invitations to the team; return True if one was open."""
    ended = session.execute(
        update(TeamInvitation)
        .where(TeamInvitation.team_id == team.id, TeamInvitation.ended_at.is_(None))
        .values(ended_at=now)
        .returning(TeamInvitation.expires_at)
    )
    return any(expires_at > now for (expires_at,) in ended)


def locked_team(session: Session, competition: Competition, user: User) -> Team:
    """Return the user's team, locked until the transaction ends. Raises NotFound."""
    while True:
        team = find_team(session, user, competition.id)
        if team is None:
            raise NotFound("You have no team in this competition.")
        lock_team(session, team)
        if _is_still(session, competition, user, team):
            session.refresh(team)
            return team


def team_of_captain(session: Session, competition: Competition, user: User) -> Team:
    """Return the locked team of a captain. Raises NotFound, or Forbidden for other members."""
    team = locked_team(session, competition, user)
    if captain_of(team, members_of(session, team)) != user.id:
        raise Forbidden("Only the captain of the team can do this.")
    return team


def lock_both(session: Session, competition: Competition, user: User, team_id: int) -> Team | None:
    """Lock that team and the user's own, in the order of their ids to avoid deadlocks; return the user's team."""
    while True:
        present = find_team(session, user, competition.id)
        wanted = {team_id, *([present.id] if present else [])}
        session.execute(select(Team.id).where(Team.id.in_(wanted)).order_by(Team.id).with_for_update()).all()
        if _is_still(session, competition, user, present):
            return present


def _is_still(session: Session, competition: Competition, user: User, team: Team | None) -> bool:
    now_in = select(TeamMember.team_id).where(
        TeamMember.user_id == user.id, TeamMember.competition_id == competition.id
    )
    return session.scalar(now_in) == (team.id if team else None)


def _leave(act: UserAct, competition: Competition, team: Team, user: User) -> None:
    """Remove the user from the team, on leaving or by the captain."""
    session = act.session
    member = session.get_one(TeamMember, (team.id, user.id))
    last = last_sent(session, team)
    note_past(session, team, member, last, act.now)
    session.delete(member)
    session.flush()
    captain_id = captain_of(team, members_of(session, team))
    if team.captain_id != captain_id:
        team.captain_id = captain_id
        session.flush()
    deed = "leave" if user.id == act.user.id else "remove"
    _record(act, deed, competition, team, name=team.name, user=user.username)
    if captain_id is None:
        end_invitations(session, team, act.now)
        if last is None:
            forget_team(session, team)


def last_sent(session: Session, team: Team) -> datetime | None:
    """Return the time of the team's last submission; None if there is none."""
    return session.scalar(select(func.max(Submission.submitted_at)).where(Submission.team_id == team.id))


def note_past(session: Session, team: Team, member: TeamMember, last: datetime | None, now: datetime) -> None:
    """Record a former membership, so that the team's usage during it counts for this person in any team.

    last: from `last_sent`, under the team lock.
    """
    if last is None or not _has_used(session, team, member):
        return
    # Requests are timed before they get the lock: everything accepted before now counts, whatever its timestamp.
    past = {"team_id": team.id, "user_id": member.user_id, "competition_id": member.competition_id}
    session.add(FormerMember(**past, joined_at=member.joined_at, left_at=max(now, last)))


def _has_used(session: Session, team: Team, member: TeamMember) -> bool:
    """Return True if anything was submitted during the membership."""
    while_there = Submission.submitted_at >= member.joined_at if member.joined_at else Submission.id.is_not(None)
    used = exists().where(Submission.team_id == team.id, or_(Submission.user_id == member.user_id, while_there))
    return bool(session.scalar(select(used)))


def forget_team(session: Session, team: Team) -> None:
    """Delete a team without members or submissions, unless other rows refer to it; this frees its name."""
    try:
        with session.begin_nested():
            session.execute(delete(TeamInvitation).where(TeamInvitation.team_id == team.id))
            forget_webhooks_of_team(session, team)
            session.execute(
                delete(MergeOffer).where(or_(MergeOffer.asking_id == team.id, MergeOffer.asked_id == team.id))
            )
            session.delete(team)
    except IntegrityError:
        session.refresh(team)


def _member(session: Session, team: Team, username: str) -> TeamMember:
    name = username.strip().lower()
    found = next((one for one in members_of(session, team) if one.user.username == name), None)
    if found is None:
        raise NotFound(f"'{username}' is not a member of your team.")
    return found


def _check_name(session: Session, competition: Competition, name: str, own: Team | None = None) -> str:
    name = " ".join(name.split())
    if not name or len(name) > NAME_CHARACTERS or not can_be_name(name):
        sentence = f"1 to {NAME_CHARACTERS} printable characters." if name else "Enter a name."
        raise InvalidForm("Please correct the marked fields.", fields={"name": sentence})
    if is_name_taken(session, competition.id, name, own):
        raise NameTaken(
            "Another team of this competition has this name, or one that looks like it; please choose another."
        )
    return name


def _record(act: UserAct, deed: str, competition: Competition, team: Team, **details: str) -> None:
    subject = f"competition {competition.name}"
    act.record(f"team.{deed}", subject, {"team_id": team.id, **details})


LINK_DAYS = 7
_SECRET_CHARACTERS = 200


def invite(act: UserAct, competition: Competition) -> tuple[TeamInvitation, str]:
    """Create a link, as the captain, ending the previous one; return its row and its secret.

    Raises NotFound, Forbidden, TeamFull.
    """
    session = act.session
    team = team_of_captain(session, competition, act.user)
    limit = members_max(competition)
    if limit is not None and len(members_of(session, team)) >= limit:
        raise TeamFull(f"Your team has {limit} of at most {limit} members.", members_max=limit)
    end_invitations(session, team, act.now)
    secret = secrets.token_urlsafe(32)
    invitation = TeamInvitation(
        team_id=team.id,
        created_by_id=act.user.id,
        secret_hash=hash_of_secret(secret),
        created_at=act.now,
        expires_at=act.now + timedelta(days=LINK_DAYS),
        ended_at=None,
    )
    session.add(invitation)
    session.flush()
    act.record("team.invite", f"competition {competition.name}", {"team_id": team.id})
    return invitation, secret


def revoke_invitation(act: UserAct, competition: Competition) -> None:
    """End the open link. Raises NotFound if there is none."""
    team = team_of_captain(act.session, competition, act.user)
    if not end_invitations(act.session, team, act.now):
        raise NotFound("Your team has no open invitation.")
    act.record("team.revoke_invitation", f"competition {competition.name}", {"team_id": team.id})


def find_invitation(session: Session, competition: Competition, secret: str, now: datetime) -> TeamInvitation:
    """Return the open invitation with this secret, with its team. secret: or the whole link. Raises NotFound."""
    secret = secret.strip().rpartition("link=")[2][:_SECRET_CHARACTERS]
    found = session.scalar(
        select(TeamInvitation)
        .join(TeamInvitation.team)
        .where(
            TeamInvitation.secret_hash == hash_of_secret(secret),
            Team.competition_id == competition.id,
            TeamInvitation.ended_at.is_(None),
            TeamInvitation.expires_at > now,
        )
        .options(joinedload(TeamInvitation.team, innerjoin=True))
    )
    if found is None:
        raise NotFound("This invitation was revoked, has expired or never existed. Please request another.")
    return found
