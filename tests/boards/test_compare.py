"""Differences to a row and changes of rank since a day, from what a viewer is shown."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

import pytest
from sqlalchemy import Engine

from app.base.db import reading, writing
from app.boards.leaderboard import build_leaderboard
from app.boards.query import Move, difference, is_better, moves, reference_row, references, row_key
from app.boards.rows import Cell, Leaderboard
from app.competitions.find import find_board, find_competition
from app.competitions.visibility import Viewer
from app.models import EntryRule, User
from app.submissions.choices import choose_entry
from tests.boards.test_query import BOARD, COLUMNS, row
from tests.competitions.embargo import declare, enter, hide, look
from tests.world import COMPETITION, HOUR, NOW, PHASE


def then(engine: Engine, until: datetime, viewer: User | None = None) -> Leaderboard:
    """Return the board with what was submitted before that moment."""
    with reading(engine) as session:
        place = find_board(find_competition(session, COMPETITION), PHASE, "zero-shot")
        return build_leaderboard(session, *place, Viewer(viewer, NOW + HOUR), until=until)


def moved(engine: Engine, until: datetime = NOW + HOUR / 2) -> dict[str, Move]:
    now = look(engine, now=NOW + HOUR)
    found = moves(now, then(engine, until))
    return {row.team: found[row_key(now, row)] for row in now.rows if row_key(now, row) in found}


# ------------------------------------------------------------------------------------------------------ changes of rank


def test_ranks_are_compared_with_those_of_then(engine: Engine, people: list[User]) -> None:
    ada, bob, cat = people[:3]
    enter(engine, ada, 0.5)
    enter(engine, bob, 0.6, minute=1)
    enter(engine, ada, 0.7, minute=40)
    enter(engine, cat, 0.65, minute=50)
    assert moved(engine) == {"Ada": Move(2, 1), "Cat": Move(None, None), "Bob": Move(1, -2)}


def test_the_moment_itself_does_not_belong_to_before(engine: Engine, people: list[User]) -> None:
    enter(engine, people[0], 0.5, minute=30)
    assert moved(engine, NOW + HOUR / 2) == {"Ada": Move(None, None)}
    assert moved(engine, NOW + HOUR / 2 + HOUR / 3600)["Ada"] == Move(1, 0)


def test_the_last_of_then_stood_then(engine: Engine, people: list[User]) -> None:
    declare(engine, entry_rule=EntryRule.LAST)
    ada, bob = people[:2]
    enter(engine, ada, 0.9)
    enter(engine, bob, 0.5, minute=1)
    enter(engine, ada, 0.4, minute=40)
    assert moved(engine) == {"Bob": Move(2, 1), "Ada": Move(1, -1)}


def test_what_a_team_chose_since_did_not_stand_then(engine: Engine, people: list[User]) -> None:
    declare(engine, entry_rule=EntryRule.CHOSEN)
    ada, bob = people[:2]
    first = enter(engine, ada, 0.5)
    enter(engine, ada, 0.9, minute=1)
    enter(engine, bob, 0.7, minute=2)
    with writing(engine) as session:
        choose_entry(session, first, ada, NOW + HOUR * 2 / 3)
    assert moved(engine) == {"Bob": Move(2, 1), "Ada": Move(1, -1)}


def test_where_all_submissions_stand_each_has_its_own_past(engine: Engine, people: list[User]) -> None:
    declare(engine, entry_rule=EntryRule.ALL)
    enter(engine, people[0], 0.5)
    enter(engine, people[0], 0.8, minute=40)
    now = look(engine, now=NOW + HOUR)
    found = moves(now, then(engine, NOW + HOUR / 2))
    assert [found[row_key(now, row)] for row in now.rows] == [Move(None, None), Move(1, -1)]


@pytest.mark.parametrize("shown", ["hidden", "ranks_only"])
def test_what_is_not_public_has_no_history(engine: Engine, people: list[User], shown: str) -> None:
    enter(engine, people[0], 0.5)
    enter(engine, people[1], 0.6, minute=40)
    hide(engine, board=shown)
    assert moved(engine) == {}


def test_history_follows_the_digits_that_are_shown(engine: Engine, people: list[User]) -> None:
    """Check that 0.7012 and 0.7049 are both 0.70: neither was ever better than the other."""
    enter(engine, people[0], 0.7012)
    enter(engine, people[1], 0.7049, minute=1)
    hide(engine, precision=2)
    assert moved(engine) == {"Ada": Move(1, 0), "Bob": Move(1, 0)}


def test_history_knows_neutral_names_only(engine: Engine, people: list[User]) -> None:
    enter(engine, people[0], 0.5)
    enter(engine, people[0], 0.7, minute=40)
    enter(engine, people[1], 0.6, minute=1)
    hide(engine, names_from=NOW + 9 * HOUR)
    found = moved(engine)
    assert sorted(found.values(), key=str) == [Move(1, -1), Move(2, 1)]
    assert not {"Ada", "Bob"} & found.keys()


def test_what_was_carried_over_moves_apart_from_the_teams_own_row_and_from_a_baseline_of_its_name() -> None:
    own, carried, baseline = row("Ada", 0.7), row("Ada", 0.6), row("Ada", 0.5)
    carried, baseline = carried._replace(carried_from="before"), baseline._replace(kind="baseline")

    def ranked(*ranks: int) -> Leaderboard:
        rows = (one._replace(rank=rank) for one, rank in zip((own, carried, baseline), ranks, strict=True))
        return replace(BOARD, rows=tuple(rows))

    assert [one.up for one in moves(ranked(1, 2, 3), ranked(3, 1, 2)).values()] == [2, -1, -1]


# ---------------------------------------------------------------------------------------------------------- differences


def test_a_baseline_is_compared_with_first_of_all() -> None:
    assert references(BOARD) == ["Majority", "A Paper", "ada"]
    twice = replace(BOARD, rows=(row("majority", 0.99), *BOARD.rows))
    found = reference_row(twice, "MAJORITY")
    assert found is not None
    assert found.kind == "baseline"
    assert reference_row(BOARD, "") is reference_row(BOARD, "Nobody") is None


def test_a_difference_needs_both() -> None:
    assert difference(Cell(0.75, None, None), Cell(0.5, None, None)) == 0.25
    assert difference(Cell(None, "no", None), Cell(0.5, None, None)) is None
    assert difference(Cell(0.5, None, None), Cell(None, "no", None)) is None


def test_less_is_better_where_lower_is() -> None:
    assert [is_better(delta, COLUMNS[0]) for delta in (0.1, -0.1, 0.0)] == [True, False, False]
    assert [is_better(delta, COLUMNS[3]) for delta in (0.1, -0.1, 0.0)] == [False, True, False]
