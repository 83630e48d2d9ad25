"""A phase with two tasks: what is said of one says nothing of the other."""

from __future__ import annotations

import pytest
from sqlalchemy import Engine

from app.base.db import reading
from app.boards.activity import Activity, activity_of
from app.boards.leaderboard import build_leaderboard
from app.competitions.find import find_board, find_competition, find_phase_task
from app.competitions.visibility import Viewer, views_of
from app.models import User
from tests.beside import add_other_task, enter_other
from tests.boards.marks import HIDDEN, mark
from tests.competitions.embargo import enter, freeze, look, rows
from tests.rich_world import CARRYING, EMBARGOED, LATER_PHASE, NEIGHBOURS, OTHER_TASK
from tests.world import COMPETITION, DAY, NOW, PHASE, TASK, board_version_number


def activity(engine: Engine, phase: str, *tasks: str) -> Activity:
    """Next door, for everybody."""
    with reading(engine) as session:
        asked = [find_phase_task(session, NEIGHBOURS, phase, task) for task in tasks]
        return activity_of(session, views_of(session, asked, Viewer(None, NOW)))


@pytest.mark.parametrize(
    ("phase", "tasks", "expected"),
    [
        (PHASE, (TASK, OTHER_TASK), Activity(teams=1, runs=2)),
        (PHASE, (OTHER_TASK,), Activity(teams=1, runs=None)),
        (LATER_PHASE, (TASK, OTHER_TASK), Activity(teams=1, runs=1)),
        (EMBARGOED, (TASK,), Activity(teams=None, runs=None)),
        (CARRYING, (TASK,), Activity(teams=2, runs=2)),
    ],
)
def test_a_phase_counts_the_runs_of_its_public_tasks_alone(
    sqlite_engine: Engine, phase: str, tasks: tuple[str, ...], expected: Activity
) -> None:
    """Gusts has two runs of the public task, and one of that which shows ranks alone."""
    assert activity(sqlite_engine, phase, *tasks) == expected


def of_board(engine: Engine, name: str, competition: str = COMPETITION) -> list[tuple[int | None, str]]:
    with reading(engine) as session:
        found = find_board(find_competition(session, competition), PHASE, name)
        return [(row.rank, row.team) for row in build_leaderboard(session, *found, Viewer(None, NOW)).rows]


def test_boards_of_one_task_show_no_run_of_the_other(sqlite_engine: Engine, people: list[User]) -> None:
    add_other_task(sqlite_engine)
    enter(sqlite_engine, people[0], 0.5, 0.5)
    enter_other(sqlite_engine, people[1], 0.9)
    assert rows(look(sqlite_engine)) == [(1, "Ada", 0.5)]
    assert of_board(sqlite_engine, "near") == of_board(sqlite_engine, "far") == [(1, "Bob")]
    assert of_board(sqlite_engine, "near", NEIGHBOURS) == [(1, "Gusts")]


def test_a_mark_on_one_task_leaves_the_team_on_the_other(sqlite_engine: Engine, people: list[User]) -> None:
    add_other_task(sqlite_engine)
    enter(sqlite_engine, people[0], 0.5, 0.5)
    enter_other(sqlite_engine, people[0], 0.9)
    mark(sqlite_engine, "Ada", HIDDEN)
    assert rows(look(sqlite_engine)) == []
    assert of_board(sqlite_engine, "near") == [(1, "Ada")]


def test_a_score_of_one_task_leaves_the_versions_of_the_other(sqlite_engine: Engine, people: list[User]) -> None:
    add_other_task(sqlite_engine)
    before = board_version_number(sqlite_engine)
    enter_other(sqlite_engine, people[0], 0.9)
    assert board_version_number(sqlite_engine) == before


def test_a_phase_that_has_ended_is_frozen_with_the_boards_of_both_tasks(
    sqlite_engine: Engine, people: list[User]
) -> None:
    add_other_task(sqlite_engine)
    enter(sqlite_engine, people[0], 0.5, 0.5)
    enter_other(sqlite_engine, people[1], 0.9)
    assert freeze(sqlite_engine, NOW + 2 * DAY) == 4
