"""Messages of webhooks at this moment: each kind of news about everything that exists, as each role would get it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from app.base.db import reading
from app.competitions.find import boards_of, find_competition
from app.models import (
    Competition,
    GoldVersion,
    NewsKind,
    TeamMember,
    User,
    Webhook,
    WebhookAudience,
    WebhookForm,
)
from app.news.forms import message_of
from app.news.payloads import NotSeen, looking, news_for
from tests.leaks.place import ACCOUNTS, Place
from tests.world import COMPETITION

#: For whom somebody of a role may have webhooks; all others are organisers, or none.
_OUTSIDE = {
    "anonymous": WebhookAudience.PUBLIC,
    "participant": WebhookAudience.TEAM,
    "other team": WebhookAudience.TEAM,
}


def told_to(place: Place, role: str) -> dict[str, str]:
    """Return, by kind of news, each message to this role in each form; news that the role does not get are missing."""
    found = {}
    with reading(place.site.engine) as session:
        competition = find_competition(session, COMPETITION)
        for audience in {WebhookAudience.PUBLIC, _OUTSIDE.get(role, WebhookAudience.ORGANISERS)}:
            webhook = _webhook(session, competition, role, audience)
            for kind, about in _all_news(session, competition, place):
                for form in WebhookForm:
                    webhook.form = form
                    name = f"webhook for {audience}: {kind} {about} {form}"
                    found[name] = _message(session, webhook, kind, about, place)
    return found


def _webhook(session: Session, competition: Competition, role: str, audience: WebhookAudience) -> Webhook:
    """Return a webhook of this role that is not in the database."""
    username = ACCOUNTS.get(role, "olga")
    owner = session.scalars(select(User).where(User.username == username)).one()
    team = select(TeamMember.team_id).where(TeamMember.user_id == owner.id)
    return Webhook(
        competition_id=competition.id,
        team_id=session.scalars(team).first() if audience is WebhookAudience.TEAM else None,
        owner_id=owner.id,
        name="Ours",
        audience=audience,
        address="https://chat.example.org",
        secret="whsec_AAAA",
        bearer="token",
    )


def _all_news(session: Session, competition: Competition, place: Place) -> Iterator[tuple[NewsKind, dict[str, Any]]]:
    for team in ("alpha", "gamma"):
        submission, run = place.submitted[team]
        for kind in (NewsKind.SUBMISSION_SCORED, NewsKind.SUBMISSION_REJECTED, NewsKind.RUN_FAILED):
            yield kind, {"submission": str(submission), "run": run}
    for phase in competition.phases:
        for kind in (NewsKind.PHASE_OPENED, NewsKind.PHASE_CLOSED):
            yield kind, {"phase": phase.id}
        for board in boards_of(competition, phase):
            yield NewsKind.BOARD_CHANGED, {"phase": phase.id, "board": board.id}
    yield NewsKind.QUESTION_ASKED, {"question": 1}
    for version in session.scalars(select(GoldVersion.id).order_by(GoldVersion.id)):
        yield NewsKind.GOLD_CHECKED, {"gold": version}


def _message(session: Session, webhook: Webhook, kind: NewsKind, about: dict[str, Any], place: Place) -> str:
    now = place.site.now
    try:
        look = looking(session, webhook, webhook.competition_id or 0, place.site.settings, now)
        news = news_for(session, webhook, kind, about, now, look)
    except NotSeen:
        return ""
    return message_of(webhook, news, "msg_1", now).body.decode()
