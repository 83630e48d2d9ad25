"""Boards rank by the digits that they show: four decimals of hidden gold unless declared otherwise, twelve where all
are shown; and no digit that is not shown moves an entry, a difference or an interval."""

from __future__ import annotations

from dataclasses import replace

import pytest
from sqlalchemy import Engine, select, update

from app.base.db import reading, writing
from app.boards.pair_tests import PairTest, rounded_p
from app.boards.rows import Interval
from app.competitions.find import find_board, find_competition
from app.models import KeptBoard, PhaseTask, User
from app.standings.choose import rules_of
from app.standings.renew import renew_all
from tests.boards.places import board, enter, shown
from tests.competitions.embargo import hide
from tests.sealed import make_key, seal_gold
from tests.world import COMPETITION, NOW, PHASE, the_phase_task

#: Means of absolute errors of which each is exactly 0.025, as floats add up; tests of ties, and of nothing else.
NOISE = (0.024999999999999994, 0.025, 0.025000000000000022, 0.024999999999999994)


def usual(engine: Engine, *, gold_is_public: bool) -> None:
    """Reset digits and slices to the defaults, as if nothing were declared."""
    hide(engine, precision=None, slices=None)
    with writing(engine) as session:
        session.execute(update(PhaseTask).values(gold_is_public=gold_is_public))


@pytest.mark.parametrize("gold_is_public", [False, True])
def test_rounding_noise_decides_no_tie(engine: Engine, people: list[User], gold_is_public: bool) -> None:
    usual(engine, gold_is_public=gold_is_public)
    for person, value in zip(people, NOISE, strict=False):
        enter(engine, person, value)
    assert {rank for rank, _, _ in shown(engine)} == {1}


def test_hidden_gold_ranks_by_four_decimals_in_the_order_of_names(engine: Engine, people: list[User]) -> None:
    ada, bob, cat = people[:3]
    usual(engine, gold_is_public=False)
    enter(engine, bob, 0.61404)
    enter(engine, ada, 0.61401, minute=1)
    enter(engine, cat, 0.61406, minute=2)
    assert shown(engine) == [(1, "Cat", 0.6141), (2, "Ada", 0.614), (2, "Bob", 0.614)]
    usual(engine, gold_is_public=True)
    assert shown(engine) == [(1, "Cat", 0.61406), (2, "Bob", 0.61404), (3, "Ada", 0.61401)]


def test_of_two_files_that_look_equal_the_earlier_stands_until_gold_is_public(
    engine: Engine, people: list[User]
) -> None:
    usual(engine, gold_is_public=False)
    enter(engine, people[0], 0.61401)
    enter(engine, people[0], 0.61404, minute=1)
    (row,) = board(engine).rows
    assert row.achieved_at == NOW
    usual(engine, gold_is_public=True)
    assert [value for _, _, value in shown(engine)] == [0.61404]


def test_standings_are_kept_by_the_digits_that_are_shown(engine: Engine, people: list[User]) -> None:
    """Check that standings are chosen anew as soon as the gold is public, and not trusted before."""
    usual(engine, gold_is_public=False)
    enter(engine, people[0], 0.61401)
    enter(engine, people[0], 0.61404, minute=1)
    assert decimals(engine) == 4
    usual(engine, gold_is_public=True)
    assert decimals(engine) == 12
    before = kept(engine)
    with writing(engine) as session:
        renew_all(session, [the_phase_task(session).id], only_outdated=True)
    assert not before & kept(engine)
    assert [value for _, _, value in shown(engine)] == [0.61404]


def decimals(engine: Engine) -> int | None:
    """Return the decimals by which entries are currently chosen."""
    with reading(engine) as session:
        phase, found = find_board(find_competition(session, COMPETITION), PHASE, "zero-shot")
        rules = rules_of(phase, the_phase_task(session), found)
    assert rules is not None
    return rules.decimals


def kept(engine: Engine) -> set[str]:
    """Return the rules by which the boards' standings were chosen."""
    with reading(engine) as session:
        asked = the_phase_task(session)
        return set(session.scalars(select(KeptBoard.rules).where(KeptBoard.phase_task_id == asked.id)))


def test_until_the_phase_ends_only_the_ranking_score_is_there(engine: Engine, people: list[User]) -> None:
    enter(engine, people[0], 0.7)
    usual(engine, gold_is_public=False)
    assert [column.metric for column in board(engine).columns] == ["macro_f1"]
    usual(engine, gold_is_public=True)
    assert [column.metric for column in board(engine).columns] == ["macro_f1", "accuracy"]


def test_sealed_gold_is_as_it_was_put_whatever_is_declared(engine: Engine, people: list[User]) -> None:
    """Check that editing cannot make sealed gold public, which would show all digits."""
    make_key(engine)
    enter(engine, people[0], 0.7)
    for is_put_public in (False, True, False):
        seal_gold(engine, b"gold", public=is_put_public, publish=True)
        for is_declared_public in (False, True):
            usual(engine, gold_is_public=is_declared_public)
            assert board(engine).precision == (None if is_put_public else 4)


# ---------------------------------------------------------------------------------------------------------- statistics


TEST = PairTest(0.031446, 0.011111, 0.049999, 0.95, 0.05004, 0.04996, "paired")


def test_a_test_has_the_digits_of_the_scores() -> None:
    assert TEST.rounded(4, 0.0315) == replace(TEST, difference=0.0315, low=0.0111, high=0.05, p=0.0501, corrected=0.05)
    assert TEST.rounded(None, 0.0315) is TEST


def test_nothing_becomes_significant_by_rounding() -> None:
    """0.05004 would be 0.05, at which a difference is significant."""
    assert [rounded_p(p) for p in (0.05, 0.05004, 0.0500000001, 0.0001, 1.0)] == [0.05, 0.0501, 0.0501, 0.0001, 1.0]


def test_an_interval_has_the_digits_of_its_score() -> None:
    interval = Interval(0.123456, 0.654321, 0.95, "jackknife")
    assert interval.rounded(4) == replace(interval, low=0.1235, high=0.6543)
    assert interval.rounded(None) is interval
