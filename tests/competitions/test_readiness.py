"""The list of what teams need before a competition is published: each point by its own task, phase and competition."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from sqlalchemy import Engine

from app.base.db import reading, writing
from app.competitions.find import find_competition, find_phase_task
from app.competitions.life import Life, NotReady, change_life
from app.competitions.readiness import Point, missing_points, readiness
from app.models import Board, Competition, GoldCheck, GoldVersion, PublicFile, Stage, User
from tests import rich_rows
from tests.beside import add_other_task
from tests.rich_world import OTHER_TASK
from tests.world import COMPETITION, DAY, EARLIER_PHASE, NOW, PHASE, TASK, add_competition, add_user

ITEMS, TEMPLATE = "1" * 64, "2" * 64
#: Where a point is mended.
STEPS = {
    "items": "files",
    "gold": "files",
    "description": "texts",
    "dates": "phases",
    "example": "files",
    "metric": "metrics",
}


@pytest.fixture
def ready(sqlite_engine: Engine) -> Engine:
    """Return two tasks in `evaluation`, one of them also in `earlier`; all have what they need."""
    add_competition(sqlite_engine)
    add_other_task(sqlite_engine)
    with writing(sqlite_engine) as session:
        found = find_competition(session, COMPETITION)
        found.description = "Which sentences mean what they say?"
        for number, phase_task in enumerate(one for phase in found.phases for one in phase.phase_tasks):
            phase_task.items_sha256 = ITEMS
            for name, sha256 in (("blind.csv", ITEMS), ("template.csv", TEMPLATE)):
                file = PublicFile(phase_task_id=phase_task.id, name=name, title=name, sha256=sha256, size_bytes=number)
                session.add(file)
    return sqlite_engine


def points(engine: Engine) -> Mapping[str, Point]:
    with reading(engine) as session:
        found = readiness(session, find_competition(session, COMPETITION), NOW)
        assert missing_points(session, find_competition(session, COMPETITION), NOW) == [
            one for one in found if not one.is_there
        ]
    assert {one.name: one.step for one in found} == STEPS
    return {one.name: one for one in found}


def missing(engine: Engine) -> dict[str, str]:
    """Return the words about each point that is not met."""
    return {name: one.words for name, one in points(engine).items() if not one.is_there}


def change(engine: Engine, phase: str, task: str, **values: Any) -> None:
    with writing(engine) as session:
        phase_task = find_phase_task(session, COMPETITION, phase, task)
        for name, value in values.items():
            setattr(phase_task, name, value)


def remove_template(engine: Engine, phase: str, task: str) -> None:
    with writing(engine) as session:
        phase_task = find_phase_task(session, COMPETITION, phase, task)
        session.delete(next(one for one in phase_task.files if one.sha256 == TEMPLATE))


def test_where_all_is_there_nothing_is_missing(ready: Engine) -> None:
    assert {name: (one.is_there, one.words) for name, one in points(ready).items()} == {
        "items": (True, "Teams download them."),
        "gold": (True, "The workers have the gold."),
        "description": (True, "Written."),
        "dates": (True, "A phase is open or upcoming."),
        "example": (True, "Teams download it."),
        "metric": (True, "A board ranks by it."),
    }


def test_items_and_an_example_are_asked_of_every_task_of_every_phase(ready: Engine) -> None:
    change(ready, PHASE, OTHER_TASK, items_sha256=None)
    assert missing(ready) == {"items": "No items for teams yet: Evaluation."}
    change(ready, EARLIER_PHASE, TASK, items_sha256=None)
    change(ready, PHASE, TASK, items_sha256=None)
    assert missing(ready) == {"items": "No items for teams yet: Evaluation, Earlier."}, "each phase is named once"


def test_a_file_besides_the_items_shows_the_format(ready: Engine) -> None:
    remove_template(ready, EARLIER_PHASE, TASK)
    assert missing(ready) == {"example": "No example shows the format of a submission: Earlier."}
    with writing(ready) as session:
        find_phase_task(session, COMPETITION, PHASE, TASK).task.task_type = "mwe-identification"
    assert missing(ready) == {}, "items to which annotations are added show the format themselves"
    with writing(ready) as session:
        find_phase_task(session, COMPETITION, PHASE, TASK).task.task_type = "program"
    for phase in (PHASE, EARLIER_PHASE):
        change(ready, phase, TASK, items_sha256=None)
    remove_template(ready, PHASE, TASK)
    assert missing(ready) == {}, "a program reads what it likes"
    remove_template(ready, PHASE, OTHER_TASK)
    assert missing(ready) == {"example": "No example shows the format of a submission: Evaluation."}


def test_gold_is_there_or_a_worker_checks_it_or_it_is_said_why_not(ready: Engine) -> None:
    def checked(state: GoldCheck, number: int) -> None:
        with writing(ready) as session:
            phase_task = find_phase_task(session, COMPETITION, PHASE, OTHER_TASK)
            version = session.query(GoldVersion).filter_by(phase_task_id=phase_task.id, number=number).one()
            version.check_state = state

    rich_rows.add_gold(ready, COMPETITION, PHASE, TASK, NOW)
    assert points(ready)["gold"].words == "The workers have the gold.", "of the others it is plain"
    change(ready, PHASE, OTHER_TASK, gold=None)
    assert missing(ready) == {"gold": "No gold yet: Evaluation."}, "what is checked of another task's is not this one's"
    for number in (1, 2):
        rich_rows.add_gold(ready, COMPETITION, PHASE, OTHER_TASK, NOW, in_use=False)
        checked(GoldCheck.INVALID, number)
    assert missing(ready) == {"gold": "It cannot be used: the gold page explains why."}
    assert not points(ready)["gold"].is_awaited
    checked(GoldCheck.WAITING, 2)
    assert missing(ready) == {"gold": "A worker is checking the gold."}
    assert points(ready)["gold"].is_awaited
    change(ready, PHASE, OTHER_TASK, gold="sealed")
    rich_rows.add_gold(ready, COMPETITION, PHASE, OTHER_TASK, NOW)
    rich_rows.add_gold(ready, COMPETITION, EARLIER_PHASE, TASK, NOW)
    assert (points(ready)["gold"].is_there, points(ready)["gold"].words) == (True, "Checked by a worker.")


def test_a_description_may_be_that_of_a_task_and_dates_may_lie_behind(ready: Engine) -> None:
    with writing(ready) as session:
        found = find_competition(session, COMPETITION)
        found.description = "  \n"
    assert missing(ready) == {"description": "Teams need to know what to do."}
    with writing(ready) as session:
        found = find_competition(session, COMPETITION)
        found.tasks[-1].description = "One label for each sentence."
        for phase in found.phases:
            phase.starts_at, phase.ends_at = NOW - 2 * DAY, NOW
    assert missing(ready) == {}
    assert points(ready)["dates"].words == "All phases are over."
    with writing(ready) as session:
        find_competition(session, COMPETITION).phases[0].ends_at = None
    assert points(ready)["dates"].words == "A phase is open or upcoming."


def test_every_task_needs_a_board_that_ranks(ready: Engine) -> None:
    with writing(ready) as session:
        found = find_competition(session, COMPETITION)
        for board in [one for one in found.boards if one.task.name == OTHER_TASK]:
            session.delete(session.get_one(Board, board.id))
    assert missing(ready) == {"metric": "A task has no board."}


def test_an_empty_one_lacks_everything(sqlite_engine: Engine) -> None:
    with writing(sqlite_engine) as session:
        session.add(Competition(name=COMPETITION, title="Empty", created_at=NOW, stage=Stage.DRAFT))
    assert list(missing(sqlite_engine)) == list(STEPS)
    assert points(sqlite_engine)["dates"].words == "No phase."


# --------------------------------------------------------------------------------------------------------- publishing


def live(engine: Engine, stage: Stage, actor: User | None) -> bool:
    with writing(engine) as session:
        return change_life(session, find_competition(session, COMPETITION), Life(stage), actor=actor, now=NOW)


def make_draft(engine: Engine) -> None:
    with writing(engine) as session:
        find_competition(session, COMPETITION).stage = Stage.DRAFT


def test_a_draft_that_lacks_something_is_private_at_most_but_for_the_operator(ready: Engine) -> None:
    olga = add_user(ready, "olga")
    make_draft(ready)
    change(ready, PHASE, TASK, items_sha256=None)
    with pytest.raises(NotReady, match="Missing: items\\.") as refused:
        live(ready, Stage.PUBLISHED, olga)
    assert refused.value.details == {
        "missing": [
            {"name": "items", "title": "Items", "words": "No items for teams yet: Evaluation.", "step": "files"},
        ]
    }
    assert live(ready, Stage.PRIVATE, olga)
    assert live(ready, Stage.PUBLISHED, olga), "only of a draft it is asked: this one was seen already"
    make_draft(ready)
    assert live(ready, Stage.PUBLISHED, None)
    make_draft(ready)
    change(ready, PHASE, TASK, items_sha256=ITEMS)
    assert live(ready, Stage.PUBLISHED, olga)
