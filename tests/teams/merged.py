"""Shared by tests of merging teams: two teams, the offer, and the answer."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import Engine, select

from app.base.config import Settings
from app.base.db import reading, writing
from app.competitions.find import find_competition
from app.models import OutgoingMail, User
from app.people.act import UserAct
from app.submissions.merging import accept_merge
from app.teams.merge_offers import ask_to_merge, end_offer, offers_of_user
from tests.world import COMPETITION, DAY, NOW

UNTIL = NOW + 5 * DAY
SETTINGS = Settings(base_url="https://evergold.example")


def allow_merging(engine: Engine, until: datetime | None = UNTIL, **more: Any) -> None:
    with writing(engine) as session:
        teams = {"merge_until": until.isoformat()} if until else {}
        find_competition(session, COMPETITION).teams = {**teams, **more}


def ask(engine: Engine, captain: User, name: str, now: datetime = NOW) -> int:
    with writing(engine) as session:
        return ask_to_merge(UserAct(session, captain, now, SETTINGS), find_competition(session, COMPETITION), name).id


def accept(engine: Engine, captain: User, offer: int, now: datetime = NOW) -> str:
    """Accept an offer; return the name of the team in which they are now."""
    with writing(engine) as session:
        return accept_merge(
            UserAct(session, captain, now, SETTINGS), find_competition(session, COMPETITION), offer
        ).name


def end(engine: Engine, captain: User, offer: int, now: datetime = NOW) -> None:
    with writing(engine) as session:
        end_offer(UserAct(session, captain, now, SETTINGS), find_competition(session, COMPETITION), offer)


def waiting(engine: Engine, user: User, now: datetime = NOW) -> tuple[list[str], list[str]]:
    """Return the teams whose offers to merge wait for this user's team, and those that its own offers wait for."""
    with reading(engine) as session:
        found = offers_of_user(session, find_competition(session, COMPETITION), user, now)
        return [one.asking for one in found.to_us], [one.asked for one in found.by_us]


def mails(engine: Engine) -> list[tuple[str, str]]:
    """Return each mail's recipient, and its first sentence after the greeting, the oldest first."""
    with reading(engine) as session:
        found = session.scalars(select(OutgoingMail).where(OutgoingMail.subject.contains("merging")))
        return [(mail.recipient, mail.body.split("\n")[2]) for mail in sorted(found, key=lambda one: one.id)]
