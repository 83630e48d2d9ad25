"""A team's runs over time: of one place, on its boards, in the order in which organisers put them."""

from __future__ import annotations

import re
from dataclasses import astuple
from uuid import UUID

from sqlalchemy import Engine

from app.base.db import reading, writing
from app.competitions.columns import BoardColumn
from app.competitions.find import find_board, find_competition
from app.feedback.history import Attempt, History, SubmittedTask, chart_svg, history_of, places_of
from app.models import Submission, User
from tests import beside, world
from tests.competitions.embargo import add_phase, enter
from tests.rich_world import OTHER_BOARDS, OTHER_TASK
from tests.world import COMPETITION, DAY, HOUR, NOW, PHASE, TASK

#: The names of a competition, a phase and a task, and then their titles.
Names = tuple[str, ...]


def place(phase: str = PHASE, task: str = TASK, competition: str = COMPETITION) -> Names:
    titles = {OTHER_TASK: "Similarity", TASK: "Detection"}
    return competition, phase, task, competition.capitalize(), phase.capitalize(), titles[task]


def names_of(one: SubmittedTask) -> Names:
    return tuple(astuple(one)[:6])


def history(engine: Engine, user: User, wanted: Names, board: str = "") -> History:
    with reading(engine) as session:
        here = next(one for one in places_of(session, user) if names_of(one) == wanted)
        found = history_of(session, user, here, NOW + HOUR, board=board)
    assert found is not None
    return found


def test_places_are_in_the_organisers_order_and_then_by_the_start_of_phases(engine: Engine, people: list[User]) -> None:
    ada = people[0]
    world.add_competition(engine, name="first")
    add_phase(engine, "warming-up", starts_at=NOW - 2 * DAY, ends_at=NOW + 5 * DAY)
    add_phase(engine, "final", starts_at=NOW - HOUR, ends_at=NOW + HOUR)
    beside.add_other_task(engine)
    with writing(engine) as session:
        for position, name in enumerate(("first", COMPETITION), 1):
            find_competition(session, name).position = position
    world.submit(engine, ada, competition="first")
    for phase in ("final", "warming-up", PHASE):
        enter(engine, ada, 0.5, phase=phase)
    beside.submit_other(engine, ada)
    enter(engine, people[1], 0.5)
    with reading(engine) as session:
        found = [names_of(one) for one in places_of(session, ada)]
    assert found == [
        place(competition="first"),
        place("warming-up"),
        place(),
        place(task=OTHER_TASK),
        place("final"),
    ]


def test_a_history_is_of_one_task_and_its_boards(engine: Engine, people: list[User]) -> None:
    ada = people[0]
    beside.add_other_task(engine)
    with writing(engine) as session:
        find_board(find_competition(session, COMPETITION), PHASE, "zero-shot")[1].position = 9
    for minute, value in enumerate((0.5, 0.4, 0.7)):
        enter(engine, ada, value, minute=minute)
    beside.enter_other(engine, ada, 0.9)
    enter(engine, people[1], 0.8)
    mine = history(engine, ada, place())
    assert ([one.name for one in mine.boards], mine.board.name) == (["one-shot", "zero-shot"], "zero-shot")
    assert [(one.value, one.change, one.is_record) for one in mine.attempts] == [
        (0.5, None, True),
        (0.4, -0.1, False),
        (0.7, 0.3, True),
    ]
    other = history(engine, ada, place(task=OTHER_TASK), board=OTHER_BOARDS[1])
    assert ([one.name for one in other.boards], other.board.name) == (list(OTHER_BOARDS), OTHER_BOARDS[1])
    assert [one.value for one in other.attempts] == [0.9]


def rank_by_accuracy(engine: Engine) -> None:
    """Let the second column rank, which code that takes the first one would miss."""
    with writing(engine) as session:
        find_board(find_competition(session, COMPETITION), PHASE, "zero-shot")[1].rank_metric = "accuracy"


def test_a_history_is_in_the_column_that_ranks_of_the_runs_that_are_current(engine: Engine, people: list[User]) -> None:
    """An accuracy is half of the macro F1; the third submission was withdrawn."""
    ada = people[0]
    sent = [enter(engine, ada, value, minute=minute) for minute, value in enumerate((0.5, 0.7, 0.9))]
    for one in sent:
        beside.add_old_run(engine, one, 0.99)
    with writing(engine) as session:
        session.get_one(Submission, sent[2]).withdrawn_at = NOW + HOUR
    rank_by_accuracy(engine)
    found = history(engine, ada, place(), board="zero-shot")
    assert (found.column.metric, [one.value for one in found.attempts]) == ("accuracy", [0.25, 0.35])
    svg = chart_svg(found.attempts, found.column, "Accuracy", counting=sent[1])
    circles = re.findall(r'cx="([\d.]+)" cy="[\d.]+" r="([\d.]+)"', svg)
    [ring] = [x for x, radius in circles if radius == "9"]
    marks = [x for x, radius in circles if radius != "9"]
    assert (ring == marks[1], len(marks)) == (True, 2), "around the one that counts"


def test_the_drawing_spans_all_values() -> None:
    column = BoardColumn("macro_f1", "all", "F1", 4, False, True, "")
    attempts = [
        Attempt(UUID(int=number), NOW + number * HOUR, "m", value, None, number == 0)
        for number, value in enumerate((0.9, 0.1, 0.5))
    ]
    drawn = chart_svg(attempts, column, "Scores")
    heights = [float(y) for y in re.findall(r'<circle[^>]* cy="([\d.-]+)"', drawn)]
    assert heights[0] < heights[2] < heights[1], "the best on top"
    assert 0 < min(heights) < max(heights) < 260, "inside the picture"
