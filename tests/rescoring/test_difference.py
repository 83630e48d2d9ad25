"""The moves of a rescoring: their order, their places, and rows where every submission counts."""

from __future__ import annotations

from typing import Any

import pytest
from sqlalchemy import Engine

from app.models import EntryRule
from app.rescoring.difference import Move, _largest_first
from tests.competitions.embargo import declare, enter
from tests.rescoring.rescored import difference, name_gold, score_set, start
from tests.world import NOW, add_competition, add_user


def move(team: str, ranks: tuple[int | None, int | None], scores: tuple[float | None, float | None]) -> Move:
    return Move(
        team=team,
        kind="team",
        team_id=1,
        submission=None,
        carried_from=None,
        rank_before=ranks[0],
        rank_after=ranks[1],
        score_before=scores[0],
        score_after=scores[1],
        cells_changed=1,
        words="",
    )


#: As they are told: who comes or goes, then most places up or down, then the larger change of the score, then by name.
IN_ORDER = [
    move("leaves", (1, None), (0.9, None)),
    move("comes", (None, 4), (None, 0.5)),
    move("comes low", (None, 9), (None, 0.25)),
    move("falls three", (1, 4), (0.9, 0.8)),
    move("rises two", (4, 2), (0.1, 0.2)),
    move("loses its score", (None, None), (0.75, None)),
    move("gets a score", (None, None), (None, 0.5)),
    move("a same", (5, 5), (0.5, 0.25)),
    move("b same", (6, 6), (0.25, 0.5)),
    move("least", (7, 7), (0.25, 0.125)),
]


def test_the_largest_move_is_told_first() -> None:
    assert [one.team for one in sorted(reversed(IN_ORDER), key=_largest_first)] == [one.team for one in IN_ORDER]


@pytest.mark.parametrize(
    ("ranks", "places"), [((4, 1), 3), ((1, 4), -3), ((2, 2), 0), ((None, 2), None), ((2, None), None)]
)
def test_places_are_counted_upwards_where_there_are_two_ranks(
    ranks: tuple[int | None, int | None], places: int | None
) -> None:
    assert move("x", ranks, (0.5, 0.5)).places == places


@pytest.fixture
def each(sqlite_engine: Engine) -> dict[str, Any]:
    """Return a board on which every submission counts: Ada's 0.9 and 0.8, Bob's 0.5."""
    add_competition(sqlite_engine, per_day=None)
    declare(sqlite_engine, entry_rule=EntryRule.ALL)
    ada, bob = (add_user(sqlite_engine, name) for name in ("ada", "bob"))
    sent = {
        "first": enter(sqlite_engine, ada, 0.9),
        "second": enter(sqlite_engine, ada, 0.8, minute=1),
        "bob": enter(sqlite_engine, bob, 0.5),
    }
    name_gold(sqlite_engine, "gold-v2.csv")
    return sent


def test_where_every_submission_stands_each_moves_for_itself(sqlite_engine: Engine, each: dict[str, Any]) -> None:
    number = start(sqlite_engine, now=NOW)
    score_set(sqlite_engine, number, {each["first"]: 0.9, each["second"]: 0.4, each["bob"]: 0.5})
    zero_shot = difference(sqlite_engine, number).boards[0]
    told = [(one.team, one.submission, one.rank_before, one.rank_after, one.places) for one in zero_shot.moves]
    assert told == [("Ada", str(each["second"]), 2, 3, -1), ("Bob", str(each["bob"]), 3, 2, 1)]
    assert zero_shot.unchanged == 1
