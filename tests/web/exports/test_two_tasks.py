"""Exports of a phase with two tasks, replaced runs, and marks: each line has the data of its own."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from uuid import UUID

import pytest
from sqlalchemy import Engine

from app.base.db import reading, writing
from app.competitions.find import find_competition
from app.exports.grades import list_grades
from app.exports.participants import list_participants
from app.exports.predictions import ExportedSubmission, ExportFilter, submissions_to_export
from app.models import EntryRule, TeamKind, User
from tests import world
from tests.beside import add_old_run, add_other_task, enter_other, submit_other
from tests.boards.marks import UNRANKED, mark
from tests.competitions.embargo import add_phase, declare, enter
from tests.rich_world import EARLIER_USER, OTHER_TASK
from tests.world import COMPETITION, DAY, EARLIER_PHASE, HOUR, NOW, PHASE, TASK

Sent = Mapping[str, Any]


@pytest.fixture
def engine(sqlite_engine: Engine) -> Engine:
    return sqlite_engine


@pytest.fixture
def sent(engine: Engine, people: list[User]) -> Sent:
    """Ada's 0.5 and 0.9 (which a mark keeps from its rank), her 0.4 for the other task, whose later run waits; Bob's
    0.7, for one-shot 0.1; a baseline's 0.6 for the other task. Each has a run with other scores that was replaced."""
    add_other_task(engine)
    add_phase(engine, "practice", starts_at=NOW - DAY)
    declare(engine, entry_rule=EntryRule.LAST)
    ada, bob = people[:2]
    bot = world.add_user(engine, "bot")
    world.add_team(engine, bot, name="Majority", kind=TeamKind.BASELINE)
    found = {
        "first": enter(engine, ada, 0.5, 0.2),
        "best": enter(engine, ada, 0.9, 0.3, minute=1),
        "other": enter_other(engine, ada, 0.4),
        "bob": enter(engine, bob, 0.7, 0.1, minute=2),
        "practised": enter(engine, bob, 0.8, phase="practice", minute=3),
        "baseline": enter_other(engine, bot, 0.6),
    }
    for one in found.values():
        add_old_run(engine, one, 0.99)
    found["waits"] = submit_other(engine, ada, "later").submission.id
    mark(engine, found["best"], UNRANKED, "sent by mail")
    return found


def exported(engine: Engine, **wanted: Any) -> dict[UUID, ExportedSubmission]:
    with reading(engine) as session:
        root = world.add_user(engine, f"root{len(wanted)}{''.join(wanted)}", is_administrator=True)
        here = find_competition(session, COMPETITION)
        found = submissions_to_export(session, here, ExportFilter(**wanted), root, NOW + HOUR)
    return {one.id: one for one in found if one.phase != EARLIER_PHASE}


def test_each_submission_names_the_boards_of_its_own_task_and_its_own_mark(engine: Engine, sent: Sent) -> None:
    found = exported(engine)
    assert found.keys() == set(sent.values())
    told = {name: (found[one].task, found[one].stands_on, found[one].row_status) for name, one in sent.items()}
    boards, others = tuple(f"{PHASE}/{name}" for name in ("zero-shot", "one-shot")), ("near", "far")
    assert told == {
        "first": (TASK, (), ""),
        "best": (TASK, boards, "unranked"),
        "other": (OTHER_TASK, tuple(f"{PHASE}/{name}" for name in others), ""),
        "bob": (TASK, boards, ""),
        "practised": (TASK, ("practice/zero-shot",), ""),
        "baseline": (OTHER_TASK, tuple(f"{PHASE}/{name}" for name in others), ""),
        "waits": (OTHER_TASK, (), ""),
    }
    assert [found[sent[name]].scores[0].value for name in ("best", "other", "bob")] == [0.9, 0.4, 0.7]
    assert (found[sent["waits"]].state, found[sent["waits"]].scores) == ("queued", ())
    assert (found[sent["baseline"]].kind, found[sent["bob"]].kind) == ("baseline", "team")


@pytest.mark.parametrize(
    ("wanted", "names"),
    [
        ({"task": OTHER_TASK}, {"other", "waits", "baseline"}),
        ({"task": OTHER_TASK, "only": "entries"}, {"other", "baseline"}),
        ({"task": TASK, "phase": PHASE}, {"first", "best", "bob"}),
        ({"task": TASK, "phase": PHASE, "only": "entries"}, {"best", "bob"}),
        ({"phase": "practice"}, {"practised"}),
        ({"only": "entries"}, {"best", "other", "bob", "practised", "baseline"}),
    ],
)
def test_what_is_asked_for_is_of_that_task_and_phase_alone(
    engine: Engine, sent: Sent, wanted: Mapping[str, Any], names: set[str]
) -> None:
    assert exported(engine, **wanted).keys() == {sent[name] for name in names}


def test_chosen_submissions_come_alone(engine: Engine, sent: Sent) -> None:
    assert exported(engine, submission=[sent["bob"]]).keys() == {sent["bob"]}


def test_they_are_sorted_by_team_and_time(engine: Engine, sent: Sent) -> None:
    with reading(engine) as session:
        root = world.add_user(engine, "root", is_administrator=True)
        here = find_competition(session, COMPETITION)
        listed = submissions_to_export(session, here, ExportFilter(phase=PHASE, task=TASK), root, NOW + HOUR)
    assert [one.id for one in listed] == [sent["first"], sent["best"], sent["bob"]]


def test_grades_are_of_each_task_by_its_first_board(engine: Engine, sent: Sent) -> None:
    with reading(engine) as session:
        grades = list_grades(session, find_competition(session, COMPETITION))
    told = {
        (one.phase, one.task, one.user.username): (one.best.value if one.best else None, one.submissions)
        for one in grades
        if one.user.username in ("ada", "bob")
    }
    assert told == {
        (PHASE, TASK, "ada"): (0.9, 2),
        (PHASE, TASK, "bob"): (0.7, 1),
        (PHASE, OTHER_TASK, "ada"): (0.4, 1),
        (PHASE, OTHER_TASK, "bob"): (None, 0),
        ("practice", TASK, "ada"): (None, 0),
        ("practice", TASK, "bob"): (0.8, 1),
        (EARLIER_PHASE, TASK, "ada"): (None, 0),
        (EARLIER_PHASE, TASK, "bob"): (None, 0),
    }
    assert {one.score for one in grades} == {"macro_f1 zero_shot/all"}, "of the board that comes first, whatever its id"


def test_what_each_sent_is_counted_by_phase(engine: Engine, sent: Sent) -> None:
    with writing(engine) as session:
        listed = list_participants(session, find_competition(session, COMPETITION))
    told = {one.username: (one.team, one.submissions) for one in listed}
    assert told == {
        "ada": ("Ada", {PHASE: 4, "practice": 0, EARLIER_PHASE: 0}),
        "bob": ("Bob", {PHASE: 1, "practice": 1, EARLIER_PHASE: 0}),
        "bot": ("", {PHASE: 1, "practice": 0, EARLIER_PHASE: 0}),
        EARLIER_USER: ("", {PHASE: 0, "practice": 0, EARLIER_PHASE: 1}),
    }
