"""Digests: one mail per day or week with all the news, while urgent news are sent at once."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import Engine, delete, select, update
from structlog.testing import capture_logs

from app.base.config import Settings
from app.base.db import reading, writing
from app.competitions.find import find_competition
from app.messages.announcements import AnnouncementForm, announcements_of, edit, group_of, publish, withdraw
from app.models import DigestItem, OutgoingMail, Pace, TextKind, User
from app.moderation.hiding import hide, unhide
from app.moderation.texts import stored_text
from app.people.act import Act, UserAct
from app.people.digests import due_at, send_due_digests, settle_held_back
from app.people.mail import MailKind, choice_of, choose, find_link, wants
from app.privacy import contents
from tests.competitions.embargo import declare
from tests.world import COMPETITION, DAY, HOUR, NOW, score, submit

#: 2026-01-10 is a Saturday.
NEXT_DAY, NEXT_MONDAY = datetime(2026, 1, 11, 6, tzinfo=UTC), datetime(2026, 1, 12, 6, tzinfo=UTC)
SETTINGS = Settings(base_url="https://scores.example.org")


@pytest.fixture
def ada(engine: Engine, people: list[User]) -> User:
    """She takes part; nothing closes soon."""
    declare(engine, ends_at=NOW + 60 * DAY)
    submit(engine, people[0])
    with writing(engine) as session:
        session.execute(delete(OutgoingMail))
    return people[0]


def wish(engine: Engine, user: User, now: datetime = NOW, **paces: Pace | None) -> None:
    """Choose the pace of each kind of mail as the account page does; None: never."""
    with writing(engine) as session:
        kinds = {MailKind(name): pace for name, pace in paces.items()}
        wanted = {kind: pace is not None for kind, pace in kinds.items()}
        choose(session, user, wanted, {kind: pace for kind, pace in kinds.items() if pace})
        settle_held_back(session, user, now)


def announce(engine: Engine, author: User, title: str, now: datetime = NOW) -> None:
    with writing(engine) as session:
        found = find_competition(session, COMPETITION)
        form = AnnouncementForm(title, f"Text of {title}.")
        group = group_of(found, "all")
        publish(UserAct(session, author, now, SETTINGS), found, form, group=group, key=None)


def mails_to(engine: Engine, user: User) -> list[OutgoingMail]:
    with reading(engine) as session:
        mine = select(OutgoingMail).where(OutgoingMail.user_id == user.id).order_by(OutgoingMail.id)
        return list(session.scalars(mine))


def digest(engine: Engine, now: datetime) -> int:
    return send_due_digests(engine, SETTINGS, now)


@pytest.mark.parametrize(
    ("pace", "now", "due"),
    [
        (Pace.DAILY, NOW, NEXT_DAY),
        (Pace.DAILY, NEXT_DAY - timedelta(seconds=1), NEXT_DAY),
        (Pace.DAILY, NEXT_DAY, NEXT_DAY + DAY),
        (Pace.WEEKLY, NOW, NEXT_MONDAY),
        (Pace.WEEKLY, NEXT_MONDAY - timedelta(seconds=1), NEXT_MONDAY),
        (Pace.WEEKLY, NEXT_MONDAY, NEXT_MONDAY + 7 * DAY),
        (Pace.WEEKLY, NEXT_MONDAY + 3 * DAY, NEXT_MONDAY + 7 * DAY),
    ],
)
def test_digests_come_at_six_and_on_mondays(pace: Pace, now: datetime, due: datetime) -> None:
    assert due_at(pace, now) == due


@pytest.mark.both
def test_a_digest_is_one_mail_with_all_news_and_a_link_that_stops_it(
    engine: Engine, people: list[User], ada: User
) -> None:
    wish(engine, ada, announcements=Pace.DAILY, results=Pace.DAILY)
    announce(engine, people[3], "First")
    announce(engine, people[3], "Second")
    score(engine, submit(engine, ada, content="b").run_id, 0.625)
    assert mails_to(engine, ada) == []
    assert (digest(engine, NEXT_DAY - HOUR), digest(engine, NEXT_DAY), digest(engine, NEXT_DAY + DAY)) == (0, 1, 0)
    [mail] = mails_to(engine, ada)
    assert mail.subject == "3 pieces of news"
    places = [mail.body.index(words) for words in ("Text of First.", "Text of Second.", "was scored")]
    assert places == sorted(places)
    assert "0.625" not in mail.body, "the phase may hide scores"
    assert mail.unsubscribe is not None
    with writing(engine) as session:
        user, kind = find_link(session, mail.unsubscribe.partition("link=")[2])
        choose(session, user, {kind: False})
        choice = choice_of(session, ada)
        assert (user.id, wants(choice, MailKind.ANNOUNCEMENTS), wants(choice, MailKind.RESULTS)) == (
            ada.id,
            False,
            False,
        )


@pytest.mark.both
def test_a_digest_has_what_its_announcements_say_by_then(engine: Engine, people: list[User], ada: User) -> None:
    wish(engine, ada, announcements=Pace.DAILY)
    titles = ("Stays", "Wrong", "Withdrawn", "Rude", "Hidden in error", "Rewritten")
    for title in titles:
        announce(engine, people[3], title)
    with writing(engine) as session:
        found = find_competition(session, COMPETITION)
        ids = {one.title: one.id for one in announcements_of(session, found)}
        edit(UserAct(session, people[3], NOW, SETTINGS), found, ids["Wrong"], AnnouncementForm("Right", "Mended."))
        withdraw(UserAct(session, people[3], NOW, SETTINGS), found, ids["Withdrawn"])
        for title in ("Rude", "Hidden in error", "Rewritten"):
            text = stored_text(session, found, TextKind.ANNOUNCEMENT, ids[title])
            assert text is not None
            hidden = hide(Act(session, None, NOW, SETTINGS), found, text, "Rude.")
            if title == "Hidden in error":
                unhide(Act(session, None, NOW, SETTINGS), found, hidden)
        edit(UserAct(session, people[3], NOW, SETTINGS), found, ids["Rewritten"], AnnouncementForm("Polite", "Please."))
    with reading(engine) as session:
        waiting = repr(contents._messages(session, ada, NOW)["next_digest"])
    assert [one in waiting for one in ("Mended.", "Text of Withdrawn.", "Text of Rude.")] == [True, False, False]
    assert digest(engine, NEXT_DAY) == 1
    [mail] = mails_to(engine, ada)
    assert mail.subject == "4 pieces of news"
    told = ("[Idioms] Stays", "Text of Stays.", "[Idioms] Right", "Mended.", "Text of Hidden in error.", "Please.")
    assert [one for one in told if one not in mail.body] == []
    assert not any(one in mail.body for one in ("Wrong", "Withdrawn", "Rude", "Rewritten", "Hidden by"))


def test_no_digest_is_written_of_what_was_withdrawn(engine: Engine, people: list[User], ada: User) -> None:
    wish(engine, ada, announcements=Pace.DAILY)
    announce(engine, people[3], "News")
    with writing(engine) as session:
        found = find_competition(session, COMPETITION)
        [one] = announcements_of(session, found)
        withdraw(UserAct(session, people[3], NOW, SETTINGS), found, one.id)
    assert digest(engine, NEXT_DAY) == 0
    assert mails_to(engine, ada) == []
    with reading(engine) as session:
        assert session.scalars(select(DigestItem)).all() == []


def test_a_digest_that_cannot_be_written_keeps_no_other(engine: Engine, people: list[User], ada: User) -> None:
    bob = people[1]
    submit(engine, bob, content="b")
    for user in (ada, bob):
        wish(engine, user, announcements=Pace.DAILY)
    announce(engine, people[3], "News")
    kind = update(DigestItem).where(DigestItem.user_id == ada.id)
    with writing(engine) as session:
        session.execute(kind.values(kind="of a later version"))
    with capture_logs() as logged:
        assert [digest(engine, NEXT_DAY) for _ in range(2)] == [1, 0]
    assert [(one["event"], one["user_id"]) for one in logged] == [("digest_not_written", ada.id)], "once an hour"
    assert [mail.subject for mail in mails_to(engine, bob)] == ["1 piece of news"]
    with writing(engine) as session:
        session.execute(kind.values(kind=MailKind.ANNOUNCEMENTS))
    assert digest(engine, NEXT_DAY + HOUR) == 1
    assert [mail.subject for mail in mails_to(engine, ada)] == ["1 piece of news"], "nothing is lost"


def test_each_person_has_a_pace_of_their_own(engine: Engine, people: list[User], ada: User) -> None:
    bob = people[1]
    submit(engine, bob, content="b")
    wish(engine, ada, announcements=Pace.WEEKLY)
    announce(engine, people[3], "News")
    assert [mail.subject for mail in mails_to(engine, bob)] == ["[Idioms] News"], "at once, as is usual"
    assert (digest(engine, NEXT_DAY), digest(engine, NEXT_MONDAY)) == (0, 1)
    assert [mail.subject for mail in mails_to(engine, ada)] == ["1 piece of news"]


@pytest.mark.parametrize(("closes", "comes_at_once"), [(NEXT_DAY + DAY, True), (NEXT_DAY + DAY + HOUR, False)])
def test_news_before_a_deadline_comes_at_once(
    engine: Engine, people: list[User], ada: User, closes: datetime, comes_at_once: bool
) -> None:
    declare(engine, ends_at=closes)
    wish(engine, ada, announcements=Pace.DAILY)
    announce(engine, people[3], "News")
    assert bool(mails_to(engine, ada)) is comes_at_once
    assert digest(engine, NEXT_DAY) == int(not comes_at_once)


@pytest.mark.parametrize(
    ("then", "at", "comes"), [(Pace.AT_ONCE, NOW, 1), (Pace.WEEKLY, NEXT_MONDAY, 1), (None, NEXT_MONDAY, 0)]
)
def test_what_was_held_back_follows_a_changed_mind(
    engine: Engine, people: list[User], ada: User, then: Pace | None, at: datetime, comes: int
) -> None:
    wish(engine, ada, announcements=Pace.DAILY)
    announce(engine, people[3], "News")
    wish(engine, ada, announcements=then)
    assert digest(engine, at) == comes
    with reading(engine) as session:
        assert session.scalars(select(DigestItem)).all() == []
