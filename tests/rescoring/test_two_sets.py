"""Two sets that are open at once, each for a task of one phase, do not affect each other."""

from __future__ import annotations

from typing import Any

import pytest
from sqlalchemy import Engine, select

from app.base.db import reading
from app.models import OutgoingMail, RescoringState, RunStatus, User
from app.rescoring.sets import Progress, RescoringEnded, RescoringOpen
from tests import world
from tests.beside import add_old_run, add_other_task, enter_other
from tests.boards.test_two_tasks import of_board
from tests.competitions.embargo import add_phase, enter, look, rows
from tests.rescoring.rescored import (
    current_of,
    difference,
    drop,
    look_after,
    progress,
    publish,
    runs_of,
    score_set,
    start,
    the_set,
)
from tests.rich_world import OTHER_TASK
from tests.world import DAY, NOW, PHASE, TASK, add_user, fail, reject, score

HERE, THERE = f"{PHASE}/{TASK}", f"{PHASE}/{OTHER_TASK}"


@pytest.fixture
def sent(sqlite_engine: Engine, people: list[User]) -> dict[str, Any]:
    """Ada before Bob in one task, and Bob before Ada in the other; each run has replaced another one."""
    add_other_task(sqlite_engine)
    add_phase(sqlite_engine, "practice", starts_at=NOW - DAY)
    ada, bob = people[:2]
    found = {
        "ada": enter(sqlite_engine, ada, 0.8, 0.8),
        "bob": enter(sqlite_engine, bob, 0.7, 0.7),
        "ada there": enter_other(sqlite_engine, ada, 0.5),
        "bob there": enter_other(sqlite_engine, bob, 0.6),
    }
    for one in found.values():
        add_old_run(sqlite_engine, one, 0.1)
    found["practised"] = enter(sqlite_engine, ada, 0.3, phase="practice")
    return found


@pytest.fixture
def sets(sqlite_engine: Engine, sent: dict[str, Any]) -> tuple[int, int]:
    return start(sqlite_engine, HERE), start(sqlite_engine, THERE)


def test_each_has_the_runs_of_its_own_task_and_says_how_far_they_are(
    sqlite_engine: Engine, sent: dict[str, Any], sets: tuple[int, int]
) -> None:
    here, there = sets
    assert runs_of(sqlite_engine, here).keys() == {sent["ada"], sent["bob"]}
    assert runs_of(sqlite_engine, there).keys() == {sent["ada there"], sent["bob there"]}
    score_set(sqlite_engine, here, {sent["ada"]: 0.4, sent["bob"]: 0.5})
    reject(sqlite_engine, runs_of(sqlite_engine, there)[sent["ada there"]])
    assert progress(sqlite_engine, here) == Progress(of=2, scored=2, rejected=0, failed=0)
    assert progress(sqlite_engine, there) == Progress(of=2, scored=0, rejected=1, failed=0)
    fail(sqlite_engine, runs_of(sqlite_engine, there)[sent["bob there"]])
    assert progress(sqlite_engine, there) == Progress(of=2, scored=0, rejected=1, failed=1)


def test_each_changes_the_boards_and_counts_the_files_of_its_own_task(
    sqlite_engine: Engine, sent: dict[str, Any], sets: tuple[int, int]
) -> None:
    here, there = sets
    score_set(sqlite_engine, here, {sent["ada"]: 0.4, sent["bob"]: 0.5})
    reject(sqlite_engine, runs_of(sqlite_engine, there)[sent["ada there"]])
    found = {number: difference(sqlite_engine, number) for number in sets}
    assert {number: [one.board for one in told.boards] for number, told in found.items()} == {
        here: ["zero-shot", "one-shot"],
        there: ["near", "far"],
    }
    assert [(one.newly_rejected, one.newly_accepted) for one in found.values()] == [(0, 0), (1, 0)]
    moves = {number: [(one.team, one.words) for one in told.boards[0].moves] for number, told in found.items()}
    assert moves == {here: [("Ada", ""), ("Bob", "")], there: [("Ada", "leaves the board")]}
    assert {one.phase for told in found.values() for one in told.boards} == {PHASE}


def test_organisers_are_told_of_each_when_its_own_runs_have_ended(
    sqlite_engine: Engine, sent: dict[str, Any], sets: tuple[int, int]
) -> None:
    here, there = sets
    add_user(sqlite_engine, "root", is_administrator=True)
    score_set(sqlite_engine, here, {sent["ada"]: 0.4, sent["bob"]: 0.5})
    assert look_after(sqlite_engine, NOW + DAY) == 1
    assert (the_set(sqlite_engine, here).told_at, the_set(sqlite_engine, there).told_at) == (NOW + DAY, None)
    score_set(sqlite_engine, there, {sent["ada there"]: 0.4, sent["bob there"]: 0.5})
    assert look_after(sqlite_engine, NOW + 2 * DAY) == 1
    with reading(sqlite_engine) as session:
        mails = {one.subject: one.body for one in session.scalars(select(OutgoingMail))}
    assert list(mails) == [f"Rescoring set {number} of Idioms is ready" for number in sets]
    assert mails[f"Rescoring set {here} of Idioms is ready"].startswith(f"Rescoring set {here} of Idioms is ready:\n")


def test_a_later_submission_joins_the_set_of_its_own_task(
    sqlite_engine: Engine, sent: dict[str, Any], sets: tuple[int, int], people: list[User]
) -> None:
    late = enter_other(sqlite_engine, people[2], 0.9)
    look_after(sqlite_engine)
    assert late in runs_of(sqlite_engine, sets[1])
    assert late not in runs_of(sqlite_engine, sets[0])
    drop(sqlite_engine, sets[1])
    later = enter_other(sqlite_engine, people[3], 0.9)
    look_after(sqlite_engine)
    assert later not in runs_of(sqlite_engine, sets[1]), "it has ended"


def test_dropping_one_takes_its_unfinished_runs_alone(
    sqlite_engine: Engine, sent: dict[str, Any], sets: tuple[int, int]
) -> None:
    here, there = sets
    score_set(sqlite_engine, there, {sent["ada there"]: 0.4})
    waiting = world.submit(sqlite_engine, add_user(sqlite_engine, "eve")).run_id
    drop(sqlite_engine, there)
    assert runs_of(sqlite_engine, there).keys() == {sent["ada there"]}, "what was scored stays on record"
    assert runs_of(sqlite_engine, here).keys() == {sent["ada"], sent["bob"]}
    assert world.the_run(sqlite_engine, waiting).status == RunStatus.QUEUED
    assert (the_set(sqlite_engine, here).state, the_set(sqlite_engine, there).state) == (
        RescoringState.OPEN,
        RescoringState.DROPPED,
    )
    with pytest.raises(RescoringEnded):
        publish(sqlite_engine, there)
    assert start(sqlite_engine, THERE) > there
    with pytest.raises(RescoringOpen, match=f"in set {here}"):
        start(sqlite_engine, HERE)


def test_publishing_one_leaves_the_task_and_the_set_of_the_other(
    sqlite_engine: Engine, sent: dict[str, Any], sets: tuple[int, int]
) -> None:
    here, there = sets
    score_set(sqlite_engine, here, {sent["ada"]: 0.4, sent["bob"]: 0.5})
    before = {name: current_of(sqlite_engine, sent[name]).id for name in ("ada there", "bob there", "practised")}
    score_set(sqlite_engine, there, {sent["ada there"]: 0.9})
    publish(sqlite_engine, here)
    assert rows(look(sqlite_engine)) == [(1, "Bob", 0.5), (2, "Ada", 0.4)]
    assert of_board(sqlite_engine, "near") == [(1, "Bob"), (2, "Ada")]
    assert {name: current_of(sqlite_engine, sent[name]).id for name in before} == before
    assert progress(sqlite_engine, there) == Progress(of=2, scored=1, rejected=0, failed=0)
    score(sqlite_engine, runs_of(sqlite_engine, there)[sent["bob there"]], 0.2)
    publish(sqlite_engine, there)
    assert of_board(sqlite_engine, "near") == [(1, "Ada"), (2, "Bob")]
    assert rows(look(sqlite_engine)) == [(1, "Bob", 0.5), (2, "Ada", 0.4)]
