"""Looks up teams: members, captain, name; a single person is a team of one."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from functools import cache, lru_cache
from typing import Any

from sqlalchemy import bindparam, delete, exists, func, select
from sqlalchemy.orm import Session, contains_eager

from app.base import links
from app.base.db import insert_now, once
from app.base.errors import NameTaken, NotAuthenticated
from app.models import (
    AccountDeletion,
    Competition,
    FormerMember,
    Phase,
    PhaseTask,
    Submission,
    Team,
    TeamInvitation,
    TeamKind,
    TeamMember,
    User,
)
from app.teams.views import MemberOut, TeamOut
from evergold.scoring.characters import without_invisible


def is_name_taken(session: Session, competition_id: int, name: str, own: Team | None = None) -> bool:
    """Return True if another team of the competition has this name or one easily confused with it.

    Until the transaction ends, nobody else can take a name in this competition.
    """
    # Rows that refer to the competition can still be written meanwhile.
    session.execute(select(Competition.id).where(Competition.id == competition_id).with_for_update(key_share=True))
    others = select(Team.name).where(Team.competition_id == competition_id)
    if own is not None:
        others = others.where(Team.id != own.id)
    return any(look_alike(name, other) for other in session.scalars(others))


def orcids_of(session: Session, competition_id: int, name: str) -> list[str]:
    """Return the ORCID iDs that members of this team show."""
    query = (
        select(User.orcid)
        .join(TeamMember, TeamMember.user_id == User.id)
        .join(Team, Team.id == TeamMember.team_id)
        .where(Team.competition_id == competition_id, Team.name == name, User.orcid.is_not(None))
        .order_by(User.orcid)
    )
    return [orcid for orcid in session.scalars(query) if orcid]


def is_team(session: Session, competition: Competition, name: str) -> bool:
    """Return True if a team of the competition currently has this name."""
    return bool(session.scalar(select(exists().where(Team.competition_id == competition.id, Team.name == name))))


def look_alike(name: str, other: str) -> bool:
    """Return True if the names differ only in case, invisible characters, and letters of similar shape (Unicode's
    confusables).
    """
    return any(a == b for a, b in zip(_looks(name), _looks(other), strict=True))


@lru_cache(maxsize=10_000)
def _looks(name: str) -> tuple[str, str]:
    """Return the skeleton of a name as written and in lower case: a capital I looks like an l, but is the same letter
    as i.
    """
    plain = unicodedata.normalize("NFKC", without_invisible(name))
    return _skeleton(plain).casefold(), _skeleton(plain.casefold()).casefold()


def _skeleton(text: str) -> str:
    return "".join(map(_prototype, text))


@lru_cache(maxsize=10_000)
def _prototype(letter: str) -> str:
    """Return the letter (or two) that represents all lookalikes of this one.

    In the library's table a prototype is listed with each lookalike, and each lookalike only with the prototype.
    """
    table = _confusables()
    alike = table.get(letter, [])
    if len(alike) != 1:
        return letter
    found: str = alike[0]["c"]
    is_prototype = len(table.get(found, [])) > 1
    return found if is_prototype else min(letter, found)


@cache
def _confusables() -> Mapping[str, list[dict[str, Any]]]:
    """Return Unicode's table, loaded on first use because it takes 7 MB and most processes never need it."""
    from confusable_homoglyphs.confusables import confusables_data

    table: Mapping[str, list[dict[str, Any]]] = confusables_data
    return table


def find_team(session: Session, user: User, competition_id: int) -> Team | None:
    """Return the user's team in this competition; None if there is none yet."""
    return session.scalar(_TEAM_OF, {"user": user.id, "competition": competition_id})


#: Built once, as every upload runs it.
_TEAM_OF = (
    select(Team)
    .join(TeamMember, TeamMember.team_id == Team.id)
    .where(TeamMember.user_id == bindparam("user"), TeamMember.competition_id == bindparam("competition"))
)


def teams_of(session: Session, user: User) -> frozenset[int]:
    """Return the ids of the teams of which the user is a member, in all competitions."""
    where = {"user": user.id}
    return once(session, ("teams", user.id), lambda: frozenset(session.scalars(_TEAMS_OF, where)))


_TEAMS_OF = select(TeamMember.team_id).where(TeamMember.user_id == bindparam("user"))


def members_of(session: Session, team: Team) -> list[TeamMember]:
    """Return the current members with their users, longest membership first."""
    query = (
        select(TeamMember)
        .join(TeamMember.user)
        .options(contains_eager(TeamMember.user))
        .where(TeamMember.team_id == team.id)
        .order_by(TeamMember.joined_at.is_not(None), TeamMember.joined_at, TeamMember.user_id)
    )
    return list(session.scalars(query).unique())


def captain_of(team: Team, members: Sequence[TeamMember]) -> int | None:
    """Return the user id of the captain: the appointed one, or else the longest-standing member."""
    ids = [member.user_id for member in members]
    return team.captain_id if team.captain_id in ids else next(iter(ids), None)


def new_team_for(session: Session, user: User, competition_id: int, now: datetime) -> Team | None:
    """Create a team of one for a user without a team; return None if a concurrent request of the user created one.

    Raises NotAuthenticated if the account was deleted since the request began.
    """
    # A deletion that is under way holds the row; the uploader may be known by its former name.
    session.execute(select(User.id).where(User.id == user.id).with_for_update(key_share=True, read=True))
    if session.scalar(select(AccountDeletion.done_at).where(AccountDeletion.user_id == user.id)) is not None:
        raise NotAuthenticated("This account was deleted.")
    names = _names_for(session, user, competition_id)
    free = next((name for name in names if not is_name_taken(session, competition_id, name)), None)
    if free is None:
        raise NameTaken("No free team name was found; please change your display name.")
    team = Team(competition_id=competition_id, name=free, kind=TeamKind.TEAM, captain_id=user.id, created_at=now)
    if not insert_now(session, team):
        raise RuntimeError("a locked name was taken")
    if insert_now(session, TeamMember(team_id=team.id, user_id=user.id, competition_id=competition_id)):
        return team
    session.expunge(team)
    session.execute(delete(Team).where(Team.id == team.id))
    return None


def lock_team_of(session: Session, user: User, competition_id: int) -> int | None:
    """Return the id of the user's team, locked; None if there is none.

    The user may have changed teams while waiting.
    """
    parameters = {"user": user.id, "competition": competition_id}
    locked: int | None = session.connection().scalar(_LOCKED_TEAM_OF, parameters)  # a plain number needs no ORM
    return locked


def lock_team(session: Session, team: Team) -> None:
    """Lock the team until the transaction ends, so that nobody else counts or submits for it (on SQLite: writes)."""
    session.execute(_LOCKED_TEAM, {"team": team.id})


def lock_team_of_submission(session: Session, submission: Submission) -> None:
    """Lock the submission's team until the transaction ends, so that nobody else counts or submits for it.

    Retries if the team merged into another while waiting.
    """
    while True:
        found = submission.team_id
        session.execute(_LOCKED_TEAM, {"team": found})
        session.refresh(submission, ["team_id"])
        if submission.team_id == found:
            return


#: Subquery with the parameters user and competition.
TEAM_ID_OF = (
    select(TeamMember.team_id)
    .where(TeamMember.user_id == bindparam("user"), TeamMember.competition_id == bindparam("competition"))
    .scalar_subquery()
)
_LOCKED_TEAM_OF = select(Team.id).where(Team.id == TEAM_ID_OF).with_for_update()
_LOCKED_TEAM = select(Team.id).where(Team.id == bindparam("team")).with_for_update()


def _names_for(session: Session, user: User, competition_id: int) -> Iterator[str]:
    """Yield possible names for a team of one, further ones with numbers because the user may have left such teams."""
    yield user.display_name
    yield f"{user.display_name[:50]} ({user.username})"
    yield f"{user.username} #{user.id}"
    left = select(func.count()).where(FormerMember.user_id == user.id, FormerMember.competition_id == competition_id)
    yield from (f"{user.username} #{user.id}-{number + 2}" for number in range(session.scalars(left).one()))


def view_team(session: Session, competition: Competition, team: Team, now: datetime) -> TeamOut:
    """Return the API object of the team for its members."""
    members = members_of(session, team)
    captain, invitation = captain_of(team, members), open_invitation(session, team, now)
    return TeamOut(
        competition=competition.name,
        name=team.name,
        members=[
            MemberOut(
                username=one.user.username,
                display_name=one.user.display_name,
                is_captain=one.user_id == captain,
                joined_at=one.joined_at,
                orcid=one.user.orcid,
            )
            for one in members
        ],
        members_max=members_max(competition),
        invitation_expires_at=invitation.expires_at if invitation else None,
        name_fixed_at=names_fixed_at(session, competition, team),
        page=links.team(competition.name),
    )


def open_invitation(session: Session, team: Team, now: datetime) -> TeamInvitation | None:
    """Return the current invitation link; None if there is none."""
    query = select(TeamInvitation).where(
        TeamInvitation.team_id == team.id, TeamInvitation.ended_at.is_(None), TeamInvitation.expires_at > now
    )
    return session.scalar(query.order_by(TeamInvitation.id.desc()).limit(1))


def members_max(competition: Competition) -> int | None:
    """Return the maximum number of members of a team; None for no limit."""
    declared: int | None = competition.teams.get("members_max")
    return declared


def names_fixed_at(session: Session, competition: Competition, team: Team) -> datetime | None:
    """Return the time at which the team's name becomes final; None if never, as far as known.

    This is the declared time, or the end of the first phase with frozen boards that the team has submitted to.
    """
    declared = competition.teams.get("rename_until")
    if declared is not None:
        return datetime.fromisoformat(declared)
    sent = exists().where(Submission.team_id == team.id, Submission.phase_task_id == PhaseTask.id)
    return session.scalar(
        select(func.min(Phase.ends_at))
        .join(PhaseTask, PhaseTask.phase_id == Phase.id)
        .where(Phase.competition_id == team.competition_id, Phase.has_snapshot, sent)
    )
