"""Announcements: shown as organisers want them, mailed once to exactly the chosen group, and never to those who opted
out.
"""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from sqlalchemy import Engine, func, select

from app.base.config import Settings
from app.base.db import reading, writing
from app.base.errors import IdempotencyConflict, InvalidForm, NotFound
from app.boards.freshness import freshness
from app.competitions.find import find_competition
from app.messages.announcements import (
    AnnouncementForm,
    all_groups,
    announcements_of,
    chosen_group,
    edit,
    group_of,
    groups_for,
    publish,
    receivers,
    withdraw,
)
from app.models import Announcement, AuditEntry, MailChoice, OutgoingMail, Right, Role, TeamKind, User
from app.people import audit
from app.people.act import UserAct
from app.people.mail import MailKind, choose, find_link
from app.people.mail_delivery import Letter, _message
from app.people.rights import RightMissing, grant_role, rights_of
from tests.beside import one_right_each
from tests.competitions.embargo import add_phase
from tests.rich_world import NEIGHBOURS
from tests.threads import in_threads
from tests.world import COMPETITION, DAY, HOUR, NOW, add_competition, add_team, add_user, reject, score, submit

SETTINGS = Settings(base_url="https://scores.example.org")
FORM = AnnouncementForm("The deadline moves", "Until **Sunday**.\r\n")


@pytest.fixture
def olga(engine: Engine) -> User:
    """Organises the competition."""
    add_competition(engine, per_day=None)
    user = add_user(engine, "olga")
    with writing(engine) as session:
        grant_role(session, find_competition(session, COMPETITION), user, Role.ORGANISER, NOW)
    return user


def announce(
    engine: Engine,
    author: User,
    form: AnnouncementForm = FORM,
    *,
    mail: str = "",
    key: str | None = None,
    competition: str = COMPETITION,
) -> Announcement:
    with writing(engine) as session:
        found = find_competition(session, competition)
        return publish(UserAct(session, author, NOW, SETTINGS), found, form, group=group_of(found, mail), key=key)


def titles(engine: Engine, *, with_withdrawn: bool = False) -> list[str]:
    with reading(engine) as session:
        found = find_competition(session, COMPETITION)
        return [one.title for one in announcements_of(session, found, with_withdrawn=with_withdrawn)]


def mailed(engine: Engine) -> list[str]:
    with reading(engine) as session:
        return sorted(session.scalars(select(OutgoingMail.recipient).where(OutgoingMail.subject.startswith("["))))


def freshness_of(engine: Engine) -> str | None:
    return freshness(engine, COMPETITION, NOW)


# -------------------------------------------------------------------------------------------------------------- showing


def test_pinned_ones_stand_first_then_the_newest(engine: Engine, olga: User) -> None:
    for number in range(3):
        announce(engine, olga, replace(FORM, title=f"number {number}", is_pinned=number == 1))
    assert titles(engine) == ["number 1", "number 2", "number 0"]


def test_an_edit_is_marked_and_a_pin_alone_is_none(engine: Engine, olga: User) -> None:
    made = announce(engine, olga)
    for at, form in ((HOUR, replace(FORM, is_pinned=True)), (2 * HOUR, replace(FORM, text="Until Monday."))):
        with writing(engine) as session:
            found = find_competition(session, COMPETITION)
            changed = edit(UserAct(session, olga, NOW + at, SETTINGS), found, made.id, form)
        assert changed.edited_at == (None if at == HOUR else NOW + 2 * HOUR)
    with reading(engine) as session:
        entries = session.scalars(select(AuditEntry).where(AuditEntry.action.startswith("announcement"))).all()
    told = [(entry.action, entry.details.get("before")) for entry in entries]
    befores = [{"title": FORM.title, "is_pinned": is_pinned} for is_pinned in (False, True)]
    assert told == [("announcement.publish", None), *(("announcement.edit", before) for before in befores)]
    assert mailed(engine) == []


def test_a_withdrawn_one_is_gone_for_all_but_organisers(engine: Engine, olga: User) -> None:
    made = announce(engine, olga)
    with writing(engine) as session:
        withdraw(UserAct(session, olga, NOW, SETTINGS), find_competition(session, COMPETITION), made.id)
    assert titles(engine) == []
    assert titles(engine, with_withdrawn=True) == [FORM.title]
    with pytest.raises(NotFound), writing(engine) as session:
        withdraw(UserAct(session, olga, NOW, SETTINGS), find_competition(session, COMPETITION), made.id)
    with pytest.raises(NotFound), writing(engine) as session:
        edit(UserAct(session, olga, NOW, SETTINGS), find_competition(session, COMPETITION), made.id, FORM)


def test_one_of_another_competition_is_not_there(engine: Engine, olga: User) -> None:
    made = announce(engine, olga)
    add_competition(engine, name="proverbs")
    with pytest.raises(NotFound), writing(engine) as session:
        edit(UserAct(session, olga, NOW, SETTINGS), find_competition(session, "proverbs"), made.id, FORM)


def test_kept_pages_notice_every_change(engine: Engine, olga: User) -> None:
    seen = [freshness_of(engine)]
    made = announce(engine, olga)
    seen.append(freshness_of(engine))
    with writing(engine) as session:
        edit(
            UserAct(session, olga, NOW, SETTINGS),
            find_competition(session, COMPETITION),
            made.id,
            replace(FORM, text="x"),
        )
    seen.append(freshness_of(engine))
    with writing(engine) as session:
        withdraw(UserAct(session, olga, NOW, SETTINGS), find_competition(session, COMPETITION), made.id)
    seen.append(freshness_of(engine))
    assert len(set(seen)) == 4


@pytest.mark.both
@pytest.mark.parametrize(
    ("title", "text", "wrong"),
    [
        (" ", "", {"title", "text"}),
        ("x" * 201, "x" * 20_001, {"title", "text"}),
        ("bell \a", "NUL \0", {"title", "text"}),
        ("fine", "\x1b[31m", {"text"}),
    ],
)
def test_everything_wrong_is_told_at_once_and_nothing_is_kept(
    engine: Engine, olga: User, title: str, text: str, wrong: set[str]
) -> None:
    with pytest.raises(InvalidForm) as refused:
        announce(engine, olga, AnnouncementForm(title, text), mail="organisers")
    assert set(refused.value.details["fields"]) == wrong
    assert titles(engine) == []
    assert mailed(engine) == []


# -------------------------------------------------------------------------------------------------------------- mailing


@pytest.fixture
def entrants(engine: Engine, olga: User) -> Engine:
    """Ada and Abe are a team with a score; Bob's file was rejected; Cat has a team, and sent to practice alone; a
    baseline is nobody."""
    add_phase(engine, "practice", starts_at=NOW - DAY)
    ada, abe, bob, cat = (add_user(engine, name) for name in ("ada", "abe", "bob", "cat"))
    add_team(engine, ada, abe, name="Both")
    score(engine, submit(engine, ada).run_id, 0.5)
    reject(engine, submit(engine, bob).run_id)
    add_team(engine, cat, name="Cats")
    add_team(engine, add_user(engine, "bot"), name="Majority", kind=TeamKind.BASELINE)
    return engine


@pytest.mark.parametrize(
    ("group", "reached"),
    [
        ("all", ["abe", "ada", "bob", "cat", "earl"]),
        ("entered:evaluation", ["abe", "ada", "bob"]),
        ("without-valid:evaluation", ["bob", "cat", "earl"]),
        ("entered:practice", []),
        ("without-valid:practice", ["abe", "ada", "bob", "cat", "earl"]),
        ("organisers", ["olga"]),
        ("", []),
    ],
)
def test_each_group_gets_one_mail_each(entrants: Engine, olga: User, group: str, reached: list[str]) -> None:
    made = announce(entrants, olga, mail=group)
    assert mailed(entrants) == [f"{name}@example.org" for name in reached]
    assert (made.mailed_to, made.mailed_count) == (group, len(reached))


def test_nobody_learns_another_address(entrants: Engine, olga: User) -> None:
    announce(entrants, olga, mail="all")
    with reading(entrants) as session:
        mails = session.scalars(select(OutgoingMail).where(OutgoingMail.subject.startswith("["))).all()
    for mail in mails:
        written = _message(Letter(mail, mail.body), SETTINGS).as_string()
        assert set(re.findall(r"\w+@example\.org", written)) == {mail.recipient}
        assert "Until **Sunday**." in written
        assert mail.unsubscribe is not None
        assert f"List-Unsubscribe: <{mail.unsubscribe}>\n" in written, "whole, as mail programs read it"
        assert mail.unsubscribe in mail.body
        assert "List-Unsubscribe-Post: List-Unsubscribe=One-Click\n" in written


def test_who_switched_mails_off_gets_none_and_the_preview_says_so(entrants: Engine, olga: User) -> None:
    with writing(entrants) as session:
        bob = session.scalars(select(User).where(User.username == "bob")).one()
        choose(session, bob, {MailKind.ANNOUNCEMENTS: False})
    with reading(entrants) as session:
        found = find_competition(session, COMPETITION)
        told = receivers(session, found, group_of(found, "all"))
        assert session.scalars(select(func.count()).select_from(MailChoice)).one() == 2, "looking changes nothing"
    assert (told.receivers, told.switched_off) == (4, 1)
    assert announce(entrants, olga, mail="all").mailed_count == 4
    assert "bob@example.org" not in mailed(entrants)


def test_a_form_sent_twice_is_one_announcement_with_one_mail_each(entrants: Engine, olga: User) -> None:
    first = announce(entrants, olga, mail="all", key="once")
    assert announce(entrants, olga, mail="all", key="once").id == first.id
    assert len(mailed(entrants)) == 5
    with pytest.raises(IdempotencyConflict):
        announce(entrants, olga, replace(FORM, text="other"), mail="all", key="once")


def test_a_key_is_of_one_announcement_to_one_group_in_one_competition(engine: Engine, olga: User) -> None:
    first = announce(engine, olga, mail="organisers", key="once")
    assert announce(engine, olga, mail="organisers", key="once", competition=NEIGHBOURS).id != first.id
    assert announce(engine, olga, mail="organisers", key="once").id == first.id
    for group in ("", "all"):
        with pytest.raises(IdempotencyConflict):
            announce(engine, olga, mail=group, key="once")


@pytest.mark.both
def test_ten_clicks_at_once_are_one_announcement_with_one_mail_each(entrants: Engine, olga: User) -> None:
    made = in_threads(6, lambda _: announce(entrants, olga, mail="all", key="once").id)
    assert len(set(made)) == 1
    assert len(mailed(entrants)) == 5


@pytest.mark.both
def test_two_announcements_at_once_make_each_reader_one_link(entrants: Engine, olga: User) -> None:
    """Both make the rows of people who never had one."""
    in_threads(4, lambda number: announce(entrants, olga, mail="all", key=str(number)))
    with reading(entrants) as session:
        assert session.scalars(select(func.count()).select_from(MailChoice)).one() == 6
    assert len(mailed(entrants)) == 20


def test_a_transaction_that_dies_leaves_neither_announcement_nor_mail(
    entrants: Engine, olga: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    def killed(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(audit, "record", killed)
    with pytest.raises(KeyboardInterrupt):
        announce(entrants, olga, mail="all", key="once")
    monkeypatch.undo()
    assert (titles(entrants), mailed(entrants)) == ([], [])
    announce(entrants, olga, mail="all", key="once")
    assert len(mailed(entrants)) == 5


@pytest.mark.parametrize("text", ["everybody", "entered", "entered:", "entered:nowhere", "all:evaluation", "ALL"])
def test_a_group_that_there_is_not_is_refused_in_words(engine: Engine, olga: User, text: str) -> None:
    with reading(engine) as session:
        found = find_competition(session, COMPETITION)
        with pytest.raises(InvalidForm) as refused:
            group_of(found, text)
        assert [str(group_of(found, one)) for one in all_groups(found)] == all_groups(found)
    assert set(refused.value.details["fields"]) == {"mail"}


# ---------------------------------------------------------------------------------------------------------------- links


def links_in(engine: Engine) -> dict[str, str]:
    with reading(engine) as session:
        mails = session.scalars(select(OutgoingMail).where(OutgoingMail.unsubscribe.is_not(None)))
        return {mail.recipient: (mail.unsubscribe or "").partition("link=")[2] for mail in mails}


def test_a_link_knows_whose_it_is_and_no_other(entrants: Engine, olga: User) -> None:
    announce(entrants, olga, mail="all")
    links = links_in(entrants)
    with reading(entrants) as session:
        for address, link in links.items():
            user, kind = find_link(session, link)
            assert (user.email, kind) == (address, MailKind.ANNOUNCEMENTS)
        ada, bob = links["ada@example.org"], links["bob@example.org"]
        forged = [
            "",
            "x",
            ada[:-1],
            ada.replace("announcements", "results"),
            f"{ada.split('.')[0]}.announcements.{bob.split('.')[2]}",
            f"{10**20}.announcements.{bob.split('.')[2]}",
            "99.announcements.ü",
            f"{ada.split('.')[0]}.announcements.\udcff",
        ]
        for link in forged:
            with pytest.raises(NotFound):
                find_link(session, link)


def test_every_word_of_an_announcements_mail_is_in_its_place(entrants: Engine, olga: User) -> None:
    announce(entrants, olga, mail="organisers")
    with reading(entrants) as session:
        mail = session.scalars(select(OutgoingMail).where(OutgoingMail.recipient == "olga@example.org")).one()
    assert mail.subject == "[Idioms] The deadline moves"
    title, text = mail.body.index("The deadline moves"), mail.body.index("Until **Sunday**.")
    assert title < text < mail.body.index("Announced in Idioms: https://scores.example.org/competitions/idioms\n")
    assert "\nYou get it because you organise it.\n" in mail.body


def test_an_announcement_makes_pages_of_its_competition_anew_and_of_no_other(engine: Engine, olga: User) -> None:
    def of(name: str) -> str | None:
        return freshness(engine, name, NOW)

    here, beside = of(COMPETITION), of(NEIGHBOURS)
    announce(engine, olga)
    assert of(COMPETITION) != here
    assert of(NEIGHBOURS) == beside


@pytest.mark.parametrize("right", list(Right))
def test_a_group_by_what_teams_sent_is_for_who_may_see_that(engine: Engine, people: list[User], right: Right) -> None:
    user = one_right_each(engine)[right]
    with reading(engine) as session:
        found = find_competition(session, COMPETITION)
        assert chosen_group(session, found, "all", user) is not None
        assert chosen_group(session, found, "", user) is None
        offered = groups_for(found, rights_of(session, user, found))
        assert offered == (all_groups(found) if right is Right.SUBMISSIONS else ["all", "organisers"])
        if right is Right.SUBMISSIONS:
            assert chosen_group(session, found, "entered:evaluation", user) is not None
        else:
            with pytest.raises(RightMissing):
                chosen_group(session, found, "entered:evaluation", user)
