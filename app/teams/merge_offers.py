"""Merging of two teams by consent: one captain makes an offer, the other responds, until a declared date.

`app.submissions.merging` handles their submissions; see decision 048.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from sqlalchemy import ColumnElement, Select, func, or_, select
from sqlalchemy.orm import Session, aliased, contains_eager, joinedload

from app.base import links
from app.base.addresses import public_address
from app.base.config import Settings
from app.base.errors import EvergoldError, InvalidForm, NotFound
from app.competitions.access import check_not_archived
from app.models import Competition, MergeOffer, OfferStatus, Team, TeamKind, TeamMember, User
from app.people.act import UserAct
from app.people.mail import send_mail
from app.teams.find import find_team, members_of
from app.teams.membership import team_of_captain
from app.teams.registration import check_registered
from app.teams.views import MergingOut
from evergold.moments import deadline_words, moment_words
from evergold.scoring.characters import can_be_name

#: Limit on a team's pending offers: each one mails other people.
OFFERS_AT_ONCE = 5


class NoMerging(EvergoldError):
    """Merging is not allowed here, no longer, or not for these two teams (details: merge_until)."""

    status = 409
    code = "no_merging"


def merge_until(competition: Competition) -> datetime | None:
    """Return the time until which teams may merge; None if they may not."""
    declared = competition.teams.get("merge_until")
    return None if declared is None else datetime.fromisoformat(declared)


def offers_of(session: Session, competition: Competition, team: Team | None, now: datetime) -> MergingOut:
    """Return the pending offers for members of this team; none after the date."""
    until = merge_until(competition)
    if team is None or until is None or now >= until:
        return MergingOut(merge_until=until, to_us=[], by_us=[])
    found = session.scalars(
        _loaded()
        .where(or_(MergeOffer.asking_id == team.id, MergeOffer.asked_id == team.id), _IS_OPEN)
        .order_by(MergeOffer.asked_at, MergeOffer.id)
    ).all()
    return MergingOut.model_validate(
        {
            "merge_until": until,
            "to_us": [one for one in found if one.asked_id == team.id],
            "by_us": [one for one in found if one.asking_id == team.id],
        },
        from_attributes=True,
    )


def check_merging(session: Session, competition: Competition, user: User, now: datetime) -> None:
    """Raise NoMerging after the deadline, CompetitionArchived, RegistrationNeeded."""
    check_not_archived(competition)
    check_registered(session, competition, user)
    until = merge_until(competition)
    if until is None:
        raise NoMerging("Teams cannot merge in this competition.", merge_until=None)
    if now >= until:
        raise NoMerging(
            f"Teams could merge until {deadline_words(until)}; server time is {moment_words(now)}.",
            merge_until=until.isoformat(),
        )


def ask_to_merge(act: UserAct, competition: Competition, name: str) -> MergeOffer:
    """Offer to merge, as the captain of the team that will remain; return the offer, or a pending one to the same team.

    Raises NotFound, Forbidden, InvalidForm, and the errors of `check_merging`.
    """
    session = act.session
    check_merging(session, competition, act.user, act.now)
    team = team_of_captain(session, competition, act.user)
    other = _team_named(session, competition, name)
    if other is None or other.id == team.id:
        wrong = "That is your own team." if other else "There is no team of this name that could answer."
        raise InvalidForm("Please correct the marked fields.", fields={"team": wrong})
    offer = _between(session, team, other)
    if offer is not None and offer.status == OfferStatus.DECLINED:
        raise NoMerging(f"'{other.name}' has declined. They can still make you an offer.", merge_until=None)
    if offer is not None and offer.status == OfferStatus.OPEN:
        return offer
    _check_not_too_many(session, team)
    is_first = offer is None
    if offer is None:
        offer = MergeOffer(asking_id=team.id, asked_id=other.id)
        session.add(offer)
    offer.user_id, offer.status, offer.asked_at, offer.answered_at = act.user.id, OfferStatus.OPEN, act.now, None
    session.flush()
    _record(act, "ask", competition, team, other)
    if is_first:  # an offer that is withdrawn and repeated sends only one mail
        _mail_question(act, competition, team, other)
    return offer


def end_offer(act: UserAct, competition: Competition, offer_id: int) -> None:
    """Decline or withdraw an offer, as the captain of either team. Raises NotFound, Forbidden."""
    session = act.session
    team = team_of_captain(session, competition, act.user)
    offer = open_offer(session, offer_id, or_(MergeOffer.asking_id == team.id, MergeOffer.asked_id == team.id))
    is_ours = offer.asking_id == team.id
    offer.status, offer.answered_at = OfferStatus.TAKEN_BACK if is_ours else OfferStatus.DECLINED, act.now
    _record(act, "take_back" if is_ours else "decline", competition, offer.asking, offer.asked)
    if not is_ours:
        details = {"asked": team.name, "title": competition.title, "page": page_of_team(competition, act.settings)}
        mail_members(act, competition, members_of(session, offer.asking), _DECLINED, details)


def open_offer(session: Session, offer_id: int, *mine: ColumnElement[bool]) -> MergeOffer:
    """Return a pending offer, locked, with its teams. Raises NotFound. mine: conditions for offers of the user."""
    query = _loaded().where(MergeOffer.id == offer_id, _IS_OPEN, *mine)
    locked = query.with_for_update(of=MergeOffer).execution_options(populate_existing=True)
    offer = session.scalar(locked)
    if offer is None:
        raise NotFound("Offer not found: it was already answered or withdrawn.")
    return offer


def end_offers(session: Session, teams: Iterable[Team], now: datetime) -> None:
    """End the pending offers by and to these teams, because one of the teams has changed."""
    ids = [team.id for team in teams]
    waiting = select(MergeOffer).where(or_(MergeOffer.asking_id.in_(ids), MergeOffer.asked_id.in_(ids)), _IS_OPEN)
    for offer in session.scalars(waiting.order_by(MergeOffer.id).with_for_update()):
        offer.status, offer.answered_at = OfferStatus.ENDED, now
    session.flush()


_IS_OPEN = MergeOffer.status == OfferStatus.OPEN


def _loaded() -> Select[MergeOffer]:
    asking = aliased(Team)
    return (
        select(MergeOffer)
        .join(MergeOffer.asking.of_type(asking))
        .join(MergeOffer.user)
        .options(
            contains_eager(MergeOffer.asking.of_type(asking)),
            contains_eager(MergeOffer.user),
            joinedload(MergeOffer.asked, innerjoin=True),
        )
    )


def _between(session: Session, team: Team, other: Team) -> MergeOffer | None:
    """Return an earlier offer between the teams; the offering team must be locked. None if there is none."""
    query = select(MergeOffer).where(MergeOffer.asking_id == team.id, MergeOffer.asked_id == other.id)
    return session.scalar(query.execution_options(populate_existing=True).with_for_update())


def _team_named(session: Session, competition: Competition, name: str) -> Team | None:
    """Return the team with this name, if it has members."""
    name = " ".join(name.split())
    if not can_be_name(name):  # PostgreSQL accepts no NUL
        return None
    query = select(Team).where(
        Team.competition_id == competition.id,
        Team.kind == TeamKind.TEAM,
        Team.name == name,
        select(TeamMember.team_id).where(TeamMember.team_id == Team.id).exists(),
    )
    return session.scalar(query)


def _check_not_too_many(session: Session, team: Team) -> None:
    waiting = session.scalars(select(func.count()).where(MergeOffer.asking_id == team.id, _IS_OPEN)).one()
    if waiting >= OFFERS_AT_ONCE:
        raise NoMerging(f"{waiting} offers of your team wait for an answer; withdraw one first.", merge_until=None)


def _record(act: UserAct, deed: str, competition: Competition, asking: Team, other: Team) -> None:
    details = {"team_id": asking.id, "asking": asking.name, "asked": other.name}
    act.record(f"merge.{deed}", f"competition {competition.name}", details)


# --------------------------------------------------------------------------------------------------------------- mails

_ASKED = """\
Hello {username},

{who} offers to merge your team "{asked}" into the team "{asking}", in "{title}". Your captain can accept or
decline until {until}:

{page}

If they accept, your team's members and submissions become those of "{asking}". Until then nothing changes.
"""
_DECLINED = """\
Hello {username},

The team "{asked}" does not want to merge with yours, in "{title}".

{page}
"""


def _mail_question(act: UserAct, competition: Competition, team: Team, other: Team) -> None:
    until = merge_until(competition)
    details = {
        "who": act.user.display_name,
        "asking": team.name,
        "asked": other.name,
        "title": competition.title,
        "until": deadline_words(until) if until else "",
        "page": page_of_team(competition, act.settings),
    }
    mail_members(act, competition, members_of(act.session, other), _ASKED, details)


def mail_members(
    act: UserAct, competition: Competition, members: Iterable[TeamMember], body: str, details: dict[str, str]
) -> None:
    """Mail each member with a confirmed address."""
    for member in members:
        text = body.format(username=member.user.username, **details)
        subject = f"{competition.title}: merging teams"
        send_mail(act.session, member.user, subject, text, now=act.now, competition_id=competition.id)


def page_of_team(competition: Competition, settings: Settings) -> str:
    """Return the full address of the team page, for a mail."""
    return public_address(settings, links.team(competition.name))


def offers_of_user(session: Session, competition: Competition, user: User, now: datetime) -> MergingOut:
    """Return the pending offers of the user's team, like `offers_of`."""
    return offers_of(session, competition, find_team(session, user, competition.id), now)
