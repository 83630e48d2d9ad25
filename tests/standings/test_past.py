"""Boards as they were at a moment, and what every page counts: of the board's own task, of runs that are current."""

from __future__ import annotations

import pytest
from sqlalchemy import Engine

from app.base.db import reading, writing
from app.boards.activity import Activity, activity_of
from app.boards.leaderboard import build_leaderboard, entry_sources, whole_board
from app.competitions.find import find_board, find_competition
from app.competitions.visibility import View, Viewer
from app.models import Rescoring, User
from app.rescoring.sets import gold_of_set
from app.standings.renew import renew_all
from app.standings.tries import Rescored
from app.submissions.choices import choose_entry
from tests.beside import add_other_task, enter_other
from tests.boards.marks import HIDDEN, mark
from tests.competitions.embargo import MINUTE, declare, enter, rows
from tests.rescoring.rescored import publish, runs_of, score_set, start
from tests.world import COMPETITION, HOUR, NOW, PHASE, TASK, the_phase_task

Rows = list[tuple[int | None, str, float | None]]


def at(engine: Engine, minute: int, board: str = "zero-shot") -> Rows:
    """Return the board as it was so many minutes after NOW."""
    with reading(engine) as session:
        place = find_board(find_competition(session, COMPETITION), PHASE, board)
        return rows(build_leaderboard(session, *place, Viewer(None, NOW + HOUR), until=NOW + minute * MINUTE))


def test_a_board_of_the_past_has_what_had_been_submitted_by_then(engine: Engine, people: list[User]) -> None:
    ada, bob, cat = people[:3]
    add_other_task(engine)
    enter(engine, ada, 0.5, 0.1)
    enter(engine, bob, 0.6, 0.9, minute=1)
    enter(engine, ada, 0.7, 0.3, minute=2)
    enter(engine, cat, None, 0.2, minute=3)
    enter_other(engine, bob, 0.99)
    assert [at(engine, minute) for minute in range(4)] == [
        [],
        [(1, "Ada", 0.5)],
        [(1, "Bob", 0.6), (2, "Ada", 0.5)],
        [(1, "Ada", 0.7), (2, "Bob", 0.6)],
    ]
    assert at(engine, 3, "one-shot") == [(1, "Bob", 0.9), (2, "Ada", 0.3)]
    assert at(engine, 4, "one-shot") == [(1, "Bob", 0.9), (2, "Ada", 0.3), (3, "Cat", 0.2)]


def test_a_choice_counts_from_its_moment_on_and_on_its_own_board(engine: Engine, people: list[User]) -> None:
    ada, bob = people[:2]
    declare(engine, entry_rule="chosen", without_choice="last")
    first = enter(engine, ada, 0.7, 0.7)
    enter(engine, ada, 0.5, 0.5, minute=1)
    enter(engine, bob, 0.6, 0.6)
    with writing(engine) as session:
        choose_entry(session, first, ada, NOW + 3 * MINUTE, board="zero-shot")
    before, after = [(1, "Bob", 0.6), (2, "Ada", 0.5)], [(1, "Ada", 0.7), (2, "Bob", 0.6)]
    assert [at(engine, minute) for minute in (1, 2, 3, 4)] == [after, before, before, after]
    assert at(engine, 4, "one-shot") == before


def activity(engine: Engine) -> Activity:
    with reading(engine) as session:
        return activity_of(session, {the_phase_task(session).id: View()})


@pytest.fixture
def entered(engine: Engine, people: list[User]) -> Engine:
    """Ada twice, Bob once; he is in the other task, too."""
    add_other_task(engine)
    enter(engine, people[0], 0.5)
    enter(engine, people[0], 0.7, minute=1)
    enter(engine, people[1], 0.6)
    enter_other(engine, people[1], 0.9)
    return engine


def test_a_team_that_is_hidden_is_counted_nowhere_and_others_are(entered: Engine) -> None:
    assert activity(entered) == Activity(teams=2, runs=3)
    mark(entered, "Ada", HIDDEN)
    assert activity(entered) == Activity(teams=1, runs=1)


def test_a_submission_that_is_hidden_leaves_its_teams_others(entered: Engine, people: list[User]) -> None:
    mark(entered, enter(entered, people[0], 0.2, minute=2), HIDDEN)
    assert activity(entered) == Activity(teams=2, runs=3)


def test_what_was_rescored_is_counted_once(entered: Engine, people: list[User]) -> None:
    number = start(entered, f"{PHASE}/{TASK}", now=NOW + HOUR)
    score_set(entered, number, dict.fromkeys(runs_of(entered, number), 0.4))
    with writing(entered) as session:
        renew_all(session, [the_phase_task(session).id])
    assert activity(entered) == Activity(teams=2, runs=3), "a set that is open counts nothing"
    publish(entered, number, NOW + HOUR)
    enter(entered, people[1], 0.5, minute=3)
    assert activity(entered) == Activity(teams=2, runs=4)


def test_a_set_is_previewed_with_its_own_runs_and_else_with_those_that_count_now(
    engine: Engine, people: list[User]
) -> None:
    """Check that a run that an earlier set replaced is not shown."""
    sent = enter(engine, people[0], 0.9)
    first = start(engine, f"{PHASE}/{TASK}")
    score_set(engine, first, {sent: 0.5})
    publish(engine, first)
    second = start(engine, f"{PHASE}/{TASK}", now=NOW + HOUR)
    assert previewed(engine, second) == [0.5]
    score_set(engine, second, {sent: 0.4})
    assert previewed(engine, second) == [0.4]
    assert at(engine, 1) == [(1, "Ada", 0.5)]


def previewed(engine: Engine, number: int) -> list[float | None]:
    """The scores on the first board as if this set were published."""
    with reading(engine) as session:
        phase, board = find_board(find_competition(session, COMPETITION), PHASE, "zero-shot")
        rescored = Rescored(number, gold_of_set(session, session.get_one(Rescoring, number)))
        whole = whole_board(session, board, entry_sources(session, phase, board), rescoring=rescored)
        return [row.cells[whole.rank_by].value for row in whole.rows]
