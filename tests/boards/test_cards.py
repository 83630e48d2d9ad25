"""Method cards on boards: their questions, and nothing where names or scores are hidden."""

from __future__ import annotations

import pytest
from sqlalchemy import Engine, select

from app.base.db import reading
from app.models import TeamKind, User
from tests.cards.writing import ask, write
from tests.competitions.embargo import enter, hide, look
from tests.world import DAY, NOW, add_team, add_user

CLOSE = NOW + DAY
LINK = "https://example.org/code"


@pytest.fixture
def engine(sqlite_engine: Engine) -> Engine:
    """Boards are the same on each kind of database."""
    return sqlite_engine


def test_boards_show_cards_and_what_is_asked_for_them(engine: Engine, people: list[User]) -> None:
    ask(engine)
    said = {"summary": "How it works.", "fields": {"parameters": 560, "training": "long"}}
    enter(engine, people[0], 0.5, card=said)
    enter(engine, people[1], 0.4)
    found = look(engine)
    assert [column.name for column in found.card_columns] == ["parameters", "ensemble"]
    first, second = found.rows
    assert first.card is not None
    assert (first.card.summary, first.answer("parameters").text) == ("How it works.", "560")  # type: ignore[union-attr]
    assert (second.answer("parameters"), second.card is not None) == (None, True)


def test_where_names_are_hidden_cards_are(engine: Engine, people: list[User]) -> None:
    ask(engine)
    ada, bob = people[:2]
    enter(engine, ada, 0.5, method="ours", card={"code": LINK, "fields": {"parameters": 560}})
    enter(engine, bob, 0.4)
    add_team(engine, add_user(engine, "bot"), name="Majority", kind=TeamKind.BASELINE)
    with reading(engine) as session:
        bot = session.scalars(select(User).where(User.username == "bot")).one()
    enter(engine, bot, 0.1, method="majority class")
    hide(engine, names_from="close")
    found = look(engine, bob)
    assert found.card_columns == ()
    assert [(row.method, row.card is not None) for row in found.rows] == [
        ("", False),
        ("", True),
        ("majority class", True),
    ]
    assert look(engine, ada).rows[0].card is not None, "one's own"
    assert look(engine, now=CLOSE).card_columns


@pytest.mark.parametrize("board", ["hidden", "ranks_only"])
def test_where_scores_are_hidden_cards_are(engine: Engine, people: list[User], board: str) -> None:
    """Check that cards are hidden with scores: which of a team's submissions counts would reveal which
    scored better.
    """
    ask(engine)
    enter(engine, people[0], 0.5, card={"code": LINK})
    hide(engine, board=board, public_from="close")
    for viewer in (None, people[0], people[1]):
        found = look(engine, viewer)
        assert found.card_columns == ()
        assert [row.card for row in found.rows] == [None] * len(found.rows)


def test_the_version_of_a_board_follows_the_card(engine: Engine, people: list[User]) -> None:
    ada = people[0]
    sent = enter(engine, ada, 0.5)
    before = look(engine).version
    write(engine, sent, ada, summary="more")
    assert look(engine).version != before
