"""Competitions of the whole server by size, activity and owner, and changes of their owner."""

from __future__ import annotations

from collections import defaultdict
from datetime import datetime

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from app.administration.access import check_administrator
from app.administration.views import CompetitionSize
from app.competitions.organisers import OrganiserLimits, declared_files, hand_over
from app.models import (
    ALL_RIGHTS,
    Competition,
    GoldVersion,
    Phase,
    PhaseTask,
    Role,
    Stage,
    Submission,
    Team,
    User,
)
from app.people.act import Act
from app.people.rights import find_user, grant_role, has_role


def list_sizes(session: Session) -> list[CompetitionSize]:
    """List all competitions with their size in bytes, largest first."""
    of_organisers, submitted = _organisers_bytes(session), _submitted(session)
    counted = session.execute(select(Team.competition_id, func.count()).group_by(Team.competition_id))
    teams = {competition: count for competition, count in counted}
    query = select(Competition, User.username).outerjoin(User, User.id == Competition.owner_id)
    found = [
        CompetitionSize(
            name=one.name,
            title=one.title,
            stage=Stage(one.stage),
            owner=owner,
            teams=teams.get(one.id, 0),
            submissions=submitted.get(one.id, _NOTHING)[0],
            submitted_bytes=submitted.get(one.id, _NOTHING)[1],
            organisers_bytes=of_organisers.get(one.id, 0),
            last_submission_at=submitted.get(one.id, _NOTHING)[2],
            created_at=one.created_at,
        )
        for one, owner in session.execute(query)
    ]
    return sorted(found, key=lambda one: (-one.submitted_bytes - one.organisers_bytes, one.name))


_NOTHING: tuple[int, int, datetime | None] = (0, 0, None)


def _submitted(session: Session) -> dict[int, tuple[int, int, datetime | None]]:
    """Return the number of submissions, their bytes, and the time of the latest, by competition."""
    query = (
        select(Phase.competition_id, func.count(), func.sum(Submission.size_bytes), func.max(Submission.submitted_at))
        .select_from(Submission)
        .join(PhaseTask, PhaseTask.id == Submission.phase_task_id)
        .join(Phase, Phase.id == PhaseTask.phase_id)
        .group_by(Phase.competition_id)
    )
    return {competition: (count, int(size), last) for competition, count, size, last in session.execute(query)}


def _organisers_bytes(session: Session) -> dict[int, int]:
    """Return the bytes of files, each content once, and of gold, by competition, as counted in organisers' quotas."""
    files = declared_files().subquery()
    gold = (
        select(Phase.competition_id, func.sum(GoldVersion.content_bytes))
        .select_from(GoldVersion)
        .join(PhaseTask, PhaseTask.id == GoldVersion.phase_task_id)
        .join(Phase, Phase.id == PhaseTask.phase_id)
        .group_by(Phase.competition_id)
    )
    found: defaultdict[int, int] = defaultdict(int)
    declared = select(files.c.competition_id, func.sum(files.c.size_bytes)).group_by(files.c.competition_id)
    for query in (declared, gold):
        for competition, size in session.execute(query):
            found[competition] += int(size or 0)
    return found


def transfer(act: Act, competition: Competition, username: str, limits: OrganiserLimits) -> User:
    """Make somebody the owner of a competition, and first an organiser if needed; return the new owner.

    Administrators may name themselves. Raises Forbidden, NotFound, QuotaReached.
    """
    session = act.session
    check_administrator(act.user)
    to = find_user(session, username)
    if not has_role(session, to, competition, Role.ORGANISER):
        grant_role(session, competition, to, Role.ORGANISER, act.now, rights=ALL_RIGHTS, actor=act.user)
    return hand_over(act, competition, to.username, limits)
