"""Merging of teams: members, submissions and everything attached move to another team, in one transaction.

Both teams are locked, so that no upload counts for either in the meantime; uploads that waited look up their team
again. Merging is refused only after both have agreed, since a refusal reveals something about the other team. See
decision 048.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from itertools import count
from typing import Any

from sqlalchemy import and_, delete, exists, func, select, update
from sqlalchemy.orm import Session, aliased, contains_eager, joinedload

from app.base.errors import Forbidden, NotFound
from app.cards.systems import find_system
from app.competitions.allowances import allowance_of, closes_at
from app.competitions.changed import boards_changed
from app.competitions.limits import Quota, moments, quota
from app.models import (
    Allowance,
    ClimbingAlert,
    Competition,
    EntryChoice,
    MergeOffer,
    OfferStatus,
    Phase,
    PhaseTask,
    RowMark,
    Submission,
    System,
    Team,
    TeamMember,
)
from app.people.act import UserAct
from app.standings.renew import renew_team
from app.teams.find import captain_of, members_max, members_of
from app.teams.membership import TeamFull, end_invitations, forget_team, last_sent, lock_both, note_past
from app.teams.merge_offers import NoMerging, check_merging, end_offers, mail_members, open_offer, page_of_team

_NAME_CHARACTERS = System.name.type.length


def accept_merge(act: UserAct, competition: Competition, offer_id: int) -> Team:
    """Accept an offer as captain of the team that received it; return the offering team, which now has all members.

    competition: from `find_competition`. Raises NotFound, Forbidden, TeamFull, and NoMerging if the two have submitted
    more than one team could have.
    """
    session = act.session
    check_merging(session, competition, act.user, act.now)
    asking_id = session.scalar(select(MergeOffer.asking_id).where(MergeOffer.id == offer_id))
    source = lock_both(session, competition, act.user, asking_id) if asking_id is not None else None
    if source is None:
        raise NotFound("Offer not found: it was already answered or withdrawn.")
    offer = open_offer(session, offer_id, MergeOffer.asked_id == source.id)
    session.refresh(source)
    joining, staying = members_of(session, source), members_of(session, offer.asking)
    if captain_of(source, joining) != act.user.id:
        raise Forbidden("Only the captain of the team can do this.")
    team = session.get_one(Team, offer.asking_id, populate_existing=True)
    if not staying:
        raise NotFound("Everybody has left the team that made the offer.")
    limit = members_max(competition)
    if limit is not None and len(joining) + len(staying) > limit:
        raise TeamFull(
            f"Together you are {len(joining) + len(staying)}, and a team has at most {limit} members.",
            members_max=limit,
        )
    before = _used_by_both(session, competition, team, source, act.now)
    offer.status, offer.answered_at = OfferStatus.ACCEPTED, act.now
    end_offers(session, (team, source), act.now)
    _move_people(session, source, team, joining, act.now)
    moved = _move_submissions(session, source, team)
    _check_quotas(session, team, before, act.now)
    details = {"team_id": team.id, "into": team.name, "merged": source.name, "submissions": moved}
    members = [one.user.username for one in joining]
    subject = f"competition {competition.name}"
    act.record("merge.accept", subject, {**details, "members": members})
    words = {
        "asked": source.name,
        "asking": team.name,
        "title": competition.title,
        "page": page_of_team(competition, act.settings),
    }
    mail_members(act, competition, [*staying, *joining], _MERGED, words)
    if not moved:
        forget_team(session, source)
    return team


_MERGED = """\
Hello {username},

The teams "{asking}" and "{asked}" have merged, in "{title}". You are all members of "{asking}" now, and everything that
either has submitted is that team's.

{page}
"""


# ------------------------------------------------------------------------------------------------------------- quotas


def _used_by_both(
    session: Session, competition: Competition, team: Team, source: Team, now: datetime
) -> Sequence[PhaseTask]:
    """List the phase tasks for which both teams used quota: only there could merging yield extra submissions."""
    query = (
        select(PhaseTask)
        .join(PhaseTask.phase)
        .where(Phase.competition_id == competition.id)
        .options(contains_eager(PhaseTask.phase), joinedload(PhaseTask.task, innerjoin=True))
        .order_by(Phase.position, PhaseTask.id)
    )
    places = session.scalars(query).all()
    return [
        phase_task
        for phase_task in places
        if all(quota(session, one, phase_task, now).used_total > 0 for one in (team, source))
    ]


def _check_quotas(session: Session, team: Team, places: Sequence[PhaseTask], now: datetime) -> None:
    """Raise NoMerging if the teams have used more quota than one team could have since the phase began.

    This prevents teams from splitting up to submit twice as often before they merge.
    """
    for phase_task in places:
        used = quota(session, team, phase_task, now)
        for limit, words in _bounds(used, phase_task, now):
            if used.used_total > limit:
                raise NoMerging(
                    f"Together your teams have used {used.used_total} submissions of '{phase_task.task.title}' in "
                    f"'{phase_task.phase.title}'; one team could have used {limit} by now ({words}).",
                    merge_until=None,
                    used=used.used_total,
                    limit=limit,
                )


def _bounds(used: Quota, phase_task: PhaseTask, now: datetime) -> list[tuple[int, str]]:
    """Return, for each limit, how many submissions one team could have made until now, and the limit in words."""
    closes = closes_at(phase_task.phase, used.allowance)
    last = now if closes is None or now < closes else closes - timedelta(microseconds=1)
    begun = _windows_begun(phase_task.phase.starts_at, last)
    return [
        (
            one.limit * begun.get(one.span, 1),
            f"{one.limit} a {one.span}" if one.span in begun else f"{one.limit} in all",
        )
        for one in used.windows
    ]


def _windows_begun(start: datetime, end: datetime) -> Mapping[str, int]:
    """Count the days, weeks and months in which submissions were possible, as `moments` does."""
    first, last = moments(start), moments(end)
    months = (last["month_start"].year - first["month_start"].year) * 12
    return {
        "day": (last["day_start"] - first["day_start"]) // timedelta(days=1) + 1,
        "week": (last["week_start"] - first["week_start"]) // timedelta(days=7) + 1,
        "month": months + last["month_start"].month - first["month_start"].month + 1,
    }


# ------------------------------------------------------------------------------------------------------- moved objects


def _move_people(session: Session, source: Team, team: Team, members: Sequence[TeamMember], now: datetime) -> None:
    """Move the members with their past usage, as if each had left their team and joined the other."""
    last = last_sent(session, source)
    for one in members:
        note_past(session, source, one, last, now)
    session.flush()
    moved = update(TeamMember).where(TeamMember.team_id == source.id).values(team_id=team.id, joined_at=now)
    session.execute(moved.execution_options(synchronize_session=False))
    end_invitations(session, source, now)
    source.captain_id = None
    session.flush()


def _move_submissions(session: Session, source: Team, team: Team) -> int:
    """Move the submissions and return their number.

    Boards are locked first, so that runs that end in the meantime wait and then use the new team.
    """
    sent = select(Submission.phase_task_id).where(Submission.team_id == source.id).distinct()
    places = sorted(session.scalars(sent))
    boards_changed(session, places)
    _move_marks(session, source, team)
    _move_unless_there(session, source, team)
    _move_systems(session, source, team)
    _move_allowances(session, source, team)
    moved = session.execute(
        update(Submission)
        .where(Submission.team_id == source.id)
        .values(team_id=team.id, sent_for_id=func.coalesce(Submission.sent_for_id, source.id))
        .returning(Submission.id)
        .execution_options(synchronize_session=False)
    ).all()
    for merged in (Team.id == source.id, Team.merged_into_id == source.id):
        into = update(Team).where(merged).values(merged_into_id=team.id)
        session.execute(into.execution_options(synchronize_session=False))
    for place in places:
        renew_team(session, place, source.id)
    return len(moved)


def _move_marks(session: Session, source: Team, team: Team) -> None:
    """Turn marks of the merged team into marks of its submissions, so that they neither disappear nor apply to the
    others.
    """
    whole = select(RowMark).where(RowMark.team_id == source.id, RowMark.submission_id.is_(None))
    for mark in session.scalars(whole).all():
        sent = select(Submission.id).where(
            Submission.team_id == source.id, Submission.phase_task_id == mark.phase_task_id
        )
        submissions = session.scalars(sent).all()
        session.execute(delete(RowMark).where(RowMark.submission_id.in_(sent)))
        values = {"status": mark.status, "note": mark.note, "user_id": mark.user_id, "set_at": mark.set_at}
        place = {"phase_task_id": mark.phase_task_id, "team_id": team.id}
        session.add_all(RowMark(**place, **values, submission_id=one) for one in submissions)
        session.delete(mark)
    session.flush()
    rest = update(RowMark).where(RowMark.team_id == source.id).values(team_id=team.id)
    session.execute(rest.execution_options(synchronize_session=False))


def _move_unless_there(session: Session, source: Team, team: Team) -> None:
    """Move objects of which a team may have one per place; if both teams have one, the remaining team's is kept."""
    places: tuple[tuple[Any, tuple[str, ...]], ...] = (
        (EntryChoice, ("phase_task_id", "board_id")),
        (ClimbingAlert, ("phase_task_id",)),
    )
    for table, keys in places:
        other = aliased(table)
        same = and_(*(getattr(other, key) == getattr(table, key) for key in keys))
        is_there = exists(select(other.team_id).where(other.team_id == team.id, same).correlate(table))
        own = table.team_id == source.id
        for change in (delete(table).where(own, is_there), update(table).where(own).values(team_id=team.id)):
            session.execute(change.execution_options(synchronize_session=False))


def _move_systems(session: Session, source: Team, team: Team) -> None:
    """Move systems with their cards; on a name collision, append the name of the merged team."""
    for system in session.scalars(select(System).where(System.team_id == source.id).order_by(System.id)).all():
        name = system.name
        for number in count(1):
            if find_system(session, team.id, system.task_id, name) is None:
                break
            more = f" ({source.name})" if number == 1 else f" ({source.name}, {number})"
            name = system.name[: _NAME_CHARACTERS - len(more)] + more
        system.name, system.team_id = name, team.id
        session.flush()


def _move_allowances(session: Session, source: Team, team: Team) -> None:
    """Merge extensions of the same phase by taking the larger value of each part; they do not add up."""
    for given in session.scalars(select(Allowance).where(Allowance.team_id == source.id)).all():
        ours = allowance_of(session, team.id, given.phase_id)
        if ours is None:
            given.team_id = team.id
            continue
        ours.extra_per_day = max(ours.extra_per_day, given.extra_per_day)
        ours.extra_total = max(ours.extra_total, given.extra_total)
        if given.until is not None and (ours.until is None or given.until > ours.until):
            ours.until, ours.is_ranked = given.until, given.is_ranked
        session.delete(given)
    session.flush()
