"""Names that people would mistake for each other: only one team of a competition has such a name, in whatever way it
got it.
"""

from __future__ import annotations

import pytest
from sqlalchemy import Engine

from app.base.db import reading
from app.models import Team
from app.teams.find import look_alike
from tests.rich_world import own
from tests.threads import in_threads
from tests.world import add_competition, add_user, submit


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Alpha", "Alpha"),
        ("Alpha", "ALPHA"),
        ("Alpha", "\N{CYRILLIC CAPITAL LETTER A}lpha"),
        ("Alpha", "\N{GREEK CAPITAL LETTER ALPHA}lph\N{CYRILLIC SMALL LETTER A}"),
        ("alpha", "\N{CYRILLIC CAPITAL LETTER A}LPHA"),
        ("Alpha", "\N{FULLWIDTH LATIN CAPITAL LETTER A}lpha"),
        ("Idioms", "ldioms"),
        ("IDIOMS", "idioms"),
        ("BOB", "B0B"),
        ("Turner", "Tumer"),
        ("Straße", "STRASSE"),
        ("\N{CYRILLIC CAPITAL LETTER ER}\N{CYRILLIC CAPITAL LETTER A}\N{CYRILLIC CAPITAL LETTER ES}", "PAC"),
    ],
)
def test_what_looks_alike_is_alike(one: str, other: str) -> None:
    assert look_alike(one, other)
    assert look_alike(other, one)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Alpha", "Alphas"),
        ("Ada", "Ida"),
        ("Zoë", "Zoe"),
        ("Team 1", "Team 2"),
        ("Москва", "Минск"),
        ("東京", "京都"),
        ("a b", "ab"),
    ],
)
def test_what_looks_different_is_different(one: str, other: str) -> None:
    assert not look_alike(one, other)


def names(engine: Engine) -> set[str]:
    with reading(engine) as session:
        return {team.name for team in session.scalars(own(Team))}


def test_two_who_come_at_once_with_names_that_look_alike_are_told_apart(engine: Engine) -> None:
    add_competition(engine)
    people = [add_user(engine, "ada", "Alpha"), add_user(engine, "eve", "ALPH\N{GREEK CAPITAL LETTER ALPHA}")]
    in_threads(2, lambda number: submit(engine, people[number]))
    found = names(engine)
    assert len(found) == 2
    assert len(found & {user.display_name for user in people}) == 1, "who came first has it"
