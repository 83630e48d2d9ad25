"""Offers to merge: who may make them, what the other team learns, and how they end."""

from __future__ import annotations

import pytest
from sqlalchemy import Engine, select

from app.base.db import reading, writing
from app.base.errors import Forbidden, InvalidForm, NotFound
from app.competitions.access import CompetitionArchived
from app.competitions.find import find_competition
from app.models import AuditEntry, Halt, MergeOffer, User
from app.teams.merge_offers import OFFERS_AT_ONCE, NoMerging
from tests.teams.merged import UNTIL, accept, allow_merging, ask, end, mails, waiting
from tests.teams.test_membership import found, leave
from tests.world import COMPETITION, NOW, SECOND, add_competition, add_team, add_user


@pytest.fixture
def people(engine: Engine) -> list[User]:
    """ada and ben, cat and dan are two teams of two."""
    add_competition(engine)
    allow_merging(engine)
    users = [add_user(engine, name) for name in ("ada", "ben", "cat", "dan")]
    add_team(engine, *users[:2], name="First")
    add_team(engine, *users[2:], name="Second")
    return users


def test_an_offer_waits_for_the_team_that_is_asked(engine: Engine, people: list[User]) -> None:
    ada, ben, cat, dan = people
    ask(engine, ada, " Second ")
    for user in (ada, ben):
        assert waiting(engine, user) == ([], ["Second"])
    for user in (cat, dan):
        assert waiting(engine, user) == (["First"], [])


def test_members_of_the_team_that_is_asked_get_one_mail(engine: Engine, people: list[User]) -> None:
    ada, _, cat, _ = people
    end(engine, ada, ask(engine, ada, "Second"))
    ask(engine, ada, "Second")
    asked = 'Ada offers to merge your team "Second" into the team "First", in "Idioms". Your captain can accept or'
    assert mails(engine) == [("cat@example.org", asked), ("dan@example.org", asked)]


def test_only_captains_ask_and_answer(engine: Engine, people: list[User]) -> None:
    ada, ben, _, dan = people
    with pytest.raises(Forbidden, match="captain"):
        ask(engine, ben, "Second")
    offer = ask(engine, ada, "Second")
    for answer in (accept, end):
        with pytest.raises(Forbidden, match="captain"):
            answer(engine, dan, offer)
    with pytest.raises(Forbidden, match="captain"):
        end(engine, ben, offer)


def test_an_offer_is_nobody_elses_to_answer(engine: Engine, people: list[User]) -> None:
    """Check that not even the existence of an offer is revealed."""
    ada = people[0]
    eve = add_user(engine, "eve")
    found(engine, eve, "Third")
    offer = ask(engine, ada, "Second")
    for number in (offer, offer + 1000):
        for deed in (accept, end):
            with pytest.raises(NotFound, match="Offer not found"):
                deed(engine, eve, number)
    with pytest.raises(NotFound, match="Offer not found"):
        accept(engine, ada, offer)


def test_who_declined_is_not_asked_again_but_may_ask(engine: Engine, people: list[User]) -> None:
    ada, _, cat, _ = people
    end(engine, cat, ask(engine, ada, "Second"))
    assert mails(engine)[2:] == [
        ("ada@example.org", 'The team "Second" does not want to merge with yours, in "Idioms".'),
        ("ben@example.org", 'The team "Second" does not want to merge with yours, in "Idioms".'),
    ]
    with pytest.raises(NoMerging, match="'Second' has declined"):
        ask(engine, ada, "Second")
    ask(engine, cat, "First")
    assert waiting(engine, ada) == (["Second"], [])


def test_a_team_asks_a_few_at_once(engine: Engine, people: list[User]) -> None:
    for number in range(OFFERS_AT_ONCE + 1):
        found(engine, add_user(engine, f"user{number}"), f"Team {number}")
    offers = [ask(engine, people[0], f"Team {number}") for number in range(OFFERS_AT_ONCE)]
    assert ask(engine, people[0], "Team 0") == offers[0], "asked twice it is one offer"
    with pytest.raises(NoMerging, match=f"{OFFERS_AT_ONCE} offers of your team wait"):
        ask(engine, people[0], f"Team {OFFERS_AT_ONCE}")
    end(engine, people[0], offers[0])
    ask(engine, people[0], f"Team {OFFERS_AT_ONCE}")


@pytest.mark.parametrize("name", ["Nobody", "", "first", "Sec\0ond", "Empty"])
def test_there_is_somebody_to_ask(engine: Engine, people: list[User], name: str) -> None:
    add_team(engine, name="Empty")
    with pytest.raises(InvalidForm) as refused:
        ask(engine, people[0], name)
    assert refused.value.details["fields"] == {"team": "There is no team of this name that could answer."}


def test_nobody_merges_with_themselves(engine: Engine, people: list[User]) -> None:
    with pytest.raises(InvalidForm) as refused:
        ask(engine, people[0], "First")
    assert refused.value.details["fields"] == {"team": "That is your own team."}


def test_offers_lapse_at_the_date(engine: Engine, people: list[User]) -> None:
    ada, _, cat, _ = people
    offer = ask(engine, ada, "Second", UNTIL - SECOND)
    assert waiting(engine, cat, UNTIL - SECOND) == (["First"], [])
    assert waiting(engine, cat, UNTIL) == ([], [])
    with pytest.raises(NoMerging, match="could merge until"):
        accept(engine, cat, offer, UNTIL)
    with pytest.raises(NoMerging, match="could merge until"):
        ask(engine, cat, "First", UNTIL)


def test_without_a_date_or_archived_teams_do_not_merge(engine: Engine, people: list[User]) -> None:
    ada, _, cat, _ = people
    offer = ask(engine, ada, "Second")
    with writing(engine) as session:
        find_competition(session, COMPETITION).halt = Halt.ARCHIVED
    with pytest.raises(CompetitionArchived):
        accept(engine, cat, offer)
    with writing(engine) as session:
        find_competition(session, COMPETITION).halt = Halt.NONE
    allow_merging(engine, None)
    assert waiting(engine, cat) == ([], [])
    for refused in (lambda: ask(engine, ada, "Second"), lambda: accept(engine, cat, offer)):
        with pytest.raises(NoMerging, match="Teams cannot merge"):
            refused()


def test_a_team_that_never_was_one_takes_its_offers_along(engine: Engine, people: list[User]) -> None:
    eve = add_user(engine, "eve")
    found(engine, eve, "Third")
    ask(engine, eve, "First")
    ask(engine, people[0], "Third")
    leave(engine, eve)
    with reading(engine) as session:
        assert session.scalars(select(MergeOffer)).all() == []
    assert waiting(engine, people[0]) == ([], [])


def test_what_is_asked_and_answered_is_recorded(engine: Engine, people: list[User]) -> None:
    ada, _, cat, _ = people
    end(engine, ada, ask(engine, ada, "Second"))
    end(engine, cat, ask(engine, ada, "Second"))
    accept(engine, ada, ask(engine, cat, "First"), NOW)
    with reading(engine) as session:
        deeds = session.scalars(
            select(AuditEntry).where(AuditEntry.action.like("merge.%")).order_by(AuditEntry.id)
        ).all()
    assert [(one.action, one.actor, one.details.get("asking")) for one in deeds[:-1]] == [
        ("merge.ask", "ada", "First"),
        ("merge.take_back", "ada", "First"),
        ("merge.ask", "ada", "First"),
        ("merge.decline", "cat", "First"),
        ("merge.ask", "cat", "Second"),
    ]
    assert deeds[-1].action == "merge.accept"
    assert deeds[-1].details["members"] == ["ada", "ben"]
    assert (deeds[-1].details["merged"], deeds[-1].details["into"]) == ("First", "Second")
