"""The conditions under which a set was made: its items, the number of its gold, the boards that were official then."""

from __future__ import annotations

from typing import Any

import pytest
from sqlalchemy import Engine, delete, select

from app.base.db import reading, writing
from app.boards.freezing import AFTER_CLOSE
from app.models import Board, RunStatus, Snapshot, User
from tests.competitions.embargo import MINUTE, declare, enter, freeze
from tests.rescoring.rescored import current_of, publish, runs_of, score_set, start
from tests.sealed import make_key, seal_gold, version_of
from tests.world import HOUR, NOW, claim, submit, sure, the_phase_task, the_run

LATER = NOW + HOUR


@pytest.fixture
def engine(sqlite_engine: Engine) -> Engine:
    return sqlite_engine


def set_items(engine: Engine, sha256: str) -> None:
    """Set the items, as `apply` does after an organiser declared another blind file."""
    with writing(engine) as session:
        the_phase_task(session).items_sha256 = sha256


def test_a_set_is_scored_with_the_items_that_it_was_made_with(engine: Engine, people: list[User]) -> None:
    ada = enter(engine, people[0], 0.6)
    set_items(engine, "1" * 64)
    run_id = runs_of(engine, start(engine))[ada]
    set_items(engine, "2" * 64)
    assert sure(claim(engine, run_id)).items_sha256 == "1" * 64


def test_a_set_whose_items_are_still_the_same_is_published(engine: Engine, people: list[User]) -> None:
    set_items(engine, "1" * 64)
    ada = enter(engine, people[0], 0.6)
    number = start(engine)
    score_set(engine, number, {ada: 0.7})
    publish(engine, number)
    assert current_of(engine, ada).rescoring_id == number


def test_gold_may_be_named_by_its_number_before_any_is_in_use(engine: Engine, people: list[User]) -> None:
    make_key(engine)
    ada = enter(engine, people[0], 0.6)
    for content in (b"gold", b"better gold"):
        seal_gold(engine, content, publish=False)
    assert version_of(engine, runs_of(engine, start(engine, gold_version=1))[ada]) == 1


def test_a_board_that_was_never_official_does_not_become_so(engine: Engine, people: list[User]) -> None:
    """Check a board that was declared after the others had been frozen."""
    ada = enter(engine, people[0], 0.9, 0.9)
    declare(engine, ends_at=LATER)
    due = LATER + AFTER_CLOSE
    assert freeze(engine, due) == 2
    with writing(engine) as session:
        one_shot = session.scalars(
            select(Board.id).where(Board.name == "one-shot", Board.task_id == the_phase_task(session).task_id)
        ).one()
        session.execute(delete(Snapshot).where(Snapshot.board_id == one_shot))
    number = start(engine, now=due)
    score_set(engine, number, {ada: 0.4})
    publish(engine, number, due + MINUTE)
    assert snapshots_of(engine, one_shot) == []


def test_where_nothing_is_official_yet_nobody_waits_for_a_first_score(engine: Engine, people: list[User]) -> None:
    """Check that it is scored against the new gold; other phases and competitions have official boards."""
    ada = enter(engine, people[0], 0.9)
    declare(engine, ends_at=LATER)
    number = start(engine)
    score_set(engine, number, {ada: 0.4})
    waiting = submit(engine, people[1], LATER - MINUTE)
    publish(engine, number, LATER + AFTER_CLOSE)
    assert current_of(engine, ada).rescoring_id == number
    assert the_run(engine, waiting.run_id).status == RunStatus.QUEUED


def snapshots_of(engine: Engine, board_id: int) -> list[Any]:
    with reading(engine) as session:
        return list(session.scalars(select(Snapshot.id).where(Snapshot.board_id == board_id)))
