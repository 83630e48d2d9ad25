"""Mail about new places, where rows are carried over or a task has neighbours in its phase."""

from __future__ import annotations

from typing import Any

import pytest
from sqlalchemy import Engine, select

from app.base.db import reading
from app.models import OutgoingMail, User
from tests.beside import add_other_task, enter_other, one_right_each
from tests.boards.test_private_part import CLOSE, divide, enter as enter_halves
from tests.competitions.embargo import INSTANT, add_phase, enter, hide, look, rows
from tests.rescoring.rescored import current_of, look_after, publish, runs_of, score_set, start
from tests.world import DAY, HOUR, NOW, PHASE, TASK, ZERO_SHOT, claim, finish, scores_of, sure

LATER = "post"


@pytest.fixture
def two(sqlite_engine: Engine, people: list[User]) -> dict[str, Any]:
    """Return Ada before Bob, in a phase whose entries are carried over to a later one."""
    add_phase(sqlite_engine, LATER, starts_at=NOW - DAY, carry_over=PHASE)
    return {"ada": enter(sqlite_engine, people[0], 0.8), "bob": enter(sqlite_engine, people[1], 0.7)}


def turn_round(engine: Engine, two: dict[str, Any]) -> None:
    """Let Bob come first; teams are to be notified."""
    number = start(engine, PHASE)
    score_set(engine, number, {two["ada"]: 0.5, two["bob"]: 0.6})
    publish(engine, number, tell_teams=True)


def bodies(engine: Engine) -> list[str]:
    with reading(engine) as session:
        return list(session.scalars(select(OutgoingMail.body).order_by(OutgoingMail.recipient)))


def test_a_mail_names_the_place_in_both_phases_where_both_are_open(sqlite_engine: Engine, two: dict[str, Any]) -> None:
    turn_round(sqlite_engine, two)
    ada, bob = bodies(sqlite_engine)
    assert "zero-shot, Evaluation: rank 2, before rank 1" in ada
    assert "zero-shot, Post: rank 1, before rank 2" in bob


def test_no_mail_goes_out_while_the_phase_that_rows_come_from_hides_its_board(
    sqlite_engine: Engine, two: dict[str, Any]
) -> None:
    hide(sqlite_engine, board="hidden")
    assert rows(look(sqlite_engine, phase=LATER)) == []
    turn_round(sqlite_engine, two)
    assert bodies(sqlite_engine) == []


def test_where_only_the_later_phase_hides_its_board_the_first_one_is_told_alone(
    sqlite_engine: Engine, two: dict[str, Any]
) -> None:
    hide(sqlite_engine, phase=LATER, board="hidden")
    turn_round(sqlite_engine, two)
    assert all("Evaluation" in body and "Post" not in body for body in bodies(sqlite_engine))
    assert len(bodies(sqlite_engine)) == 2


def test_a_set_for_one_task_leaves_the_other_task_of_the_phase_alone(sqlite_engine: Engine, people: list[User]) -> None:
    add_other_task(sqlite_engine)
    here, other = enter(sqlite_engine, people[0], 0.8), enter_other(sqlite_engine, people[0], 0.9)
    before = current_of(sqlite_engine, other).id
    number = start(sqlite_engine, f"{PHASE}/{TASK}")
    assert set(runs_of(sqlite_engine, number)) == {here}
    score_set(sqlite_engine, number, {here: 0.5})
    publish(sqlite_engine, number)
    assert current_of(sqlite_engine, other).id == before
    assert current_of(sqlite_engine, here).rescoring_id == number


def test_organisers_who_see_submissions_are_told_that_a_set_is_ready(
    sqlite_engine: Engine, two: dict[str, Any]
) -> None:
    one_right_each(sqlite_engine)
    number = start(sqlite_engine, PHASE)
    score_set(sqlite_engine, number, {two["ada"]: 0.5, two["bob"]: 0.6})
    assert look_after(sqlite_engine) == 1
    with reading(sqlite_engine) as session:
        told = list(session.scalars(select(OutgoingMail.recipient)))
    assert told == ["has-submissions@example.org"]


@pytest.fixture
def divided(sqlite_engine: Engine, people: list[User]) -> int:
    """A set that turns the ranks of the private part round, and leaves those of the public part: its number."""
    divide(sqlite_engine)
    sent = {
        enter_halves(sqlite_engine, people[0], 0.9, 0.3): (0.9, 0.8),
        enter_halves(sqlite_engine, people[1], 0.5, 0.6): (0.5, 0.2),
    }
    number = start(sqlite_engine, PHASE)
    runs = runs_of(sqlite_engine, number)
    for submission_id, (public, private) in sent.items():
        held = sure(claim(sqlite_engine, runs[submission_id]))
        scores, of_private = scores_of(ZERO_SHOT, public), scores_of(ZERO_SHOT, private)
        assert finish(sqlite_engine, held, scores, private=of_private)
    return number


def test_no_mail_tells_of_a_place_in_the_private_part_before_it_is_shown(sqlite_engine: Engine, divided: int) -> None:
    publish(sqlite_engine, divided, CLOSE - INSTANT, tell_teams=True)
    assert bodies(sqlite_engine) == []


def test_a_mail_tells_of_the_private_part_once_it_is_shown(sqlite_engine: Engine, divided: int) -> None:
    publish(sqlite_engine, divided, CLOSE + HOUR, tell_teams=True)
    ada, bob = bodies(sqlite_engine)
    assert "rank 1, before rank 2" in ada
    assert "rank 2, before rank 1" in bob
