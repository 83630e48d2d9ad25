"""Bounds of memory and time: whose fault it is, that nothing of a run stays in its process, and that turns go on."""

from __future__ import annotations

import dataclasses
import gc
import subprocess
import sys
import textwrap
import weakref
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from sqlalchemy import Engine, select

from app.base.db import reading
from app.base.queue import CPU_QUEUE, GPU_QUEUE
from app.models import RunStatus, User, Validation, ValidationStatus
from evergold.scoring.bertscore.models import ModelNotFound
from evergold.scoring.task import AnyTask
from evergold.scoring.tasks import TASKS
from tests.rescoring.rescored import name_gold, runs_of, start
from tests.workers.files import GOLD, PREDICTION, ask, upload
from tests.workers.test_check import open_for_ever  # noqa: F401 - a fixture
from tests.world import add_user, the_run
from workers import overrun
from workers.check import check_file
from workers.overrun import Ending, readable_time, scoring_seconds
from workers.score import score_submission
from workers.turns import take_turn

pytestmark = pytest.mark.usefixtures("workplace")

HEAVY = PREDICTION + "\n"


def change_task(monkeypatch: pytest.MonkeyPatch, **changes: Any) -> None:
    task: AnyTask = TASKS["idiom-detection"]
    monkeypatch.setitem(TASKS, task.name, dataclasses.replace(task, **changes))


@pytest.fixture
def heavy(monkeypatch: pytest.MonkeyPatch) -> None:
    """Reading HEAVY, and nothing else, fills the memory."""
    read = TASKS["idiom-detection"].read_prediction

    def read_or_fill(path: Path, *more: Any) -> Any:
        if path.read_text() == HEAVY:
            raise MemoryError
        return read(path, *more)

    change_task(monkeypatch, read_prediction=read_or_fill)


@pytest.fixture
def fresh(monkeypatch: pytest.MonkeyPatch) -> None:
    """Reset the count, as if the next run were the first of this process."""
    monkeypatch.setattr(overrun, "_begun", 0)


@pytest.fixture
def used(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(overrun, "_begun", 1)


# -------------------------------------------------------------------------------------------------------- whose fault


@pytest.mark.both
@pytest.mark.usefixtures("heavy")
def test_in_a_fresh_process_the_first_try_has_the_last_word(
    engine: Engine, ada: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    score_submission(upload(engine, ada))
    monkeypatch.setattr(overrun, "_begun", 0)
    run_id = upload(engine, ada, HEAVY)
    assert score_submission(run_id) is Ending.SPENT
    run = the_run(engine, run_id)
    assert (run.status, run.attempts, run.failure) == (RunStatus.REJECTED, 1, None)
    [problem] = run.problems
    assert problem["sentence"] == "this file takes more than 8 GiB of memory to score, the limit for every file"


@pytest.mark.usefixtures("heavy", "used")
def test_a_process_that_scored_before_leaves_the_last_word_to_a_fresh_one(engine: Engine, ada: User) -> None:
    """Gold of sixteen tasks may lie in its memory, and an honest file must not pay for that."""
    score_submission(upload(engine, ada))
    run_id = upload(engine, ada, HEAVY)
    assert score_submission(run_id) is Ending.SPENT
    assert (the_run(engine, run_id).status, the_run(engine, run_id).attempts) == (RunStatus.QUEUED, 1)
    assert score_submission(run_id) is Ending.SPENT
    assert (the_run(engine, run_id).status, the_run(engine, run_id).attempts) == (RunStatus.REJECTED, 2)


@pytest.mark.usefixtures("heavy", "fresh")
def test_a_bound_that_held_for_nobody_is_our_fault_at_once(engine: Engine, ada: User) -> None:
    run_id = upload(engine, ada, HEAVY)
    score_submission(run_id)
    run = the_run(engine, run_id)
    assert (run.status, run.attempts, run.problems) == (RunStatus.FAILED, 1, [])
    assert str(run.failure).endswith("no other file of this task was ever scored within this bound")


@pytest.mark.usefixtures("fresh")
def test_a_run_of_a_set_fails_for_its_file_was_scored_before(
    engine: Engine, ada: User, workplace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    score_submission(upload(engine, ada))
    score_submission(upload(engine, add_user(engine, "bob"), HEAVY))
    (workplace / "gold" / "other.csv").write_text(GOLD)
    name_gold(engine, "other.csv")

    def fill(*_: Any) -> Any:
        raise MemoryError

    change_task(monkeypatch, read_prediction=fill)
    monkeypatch.setattr(overrun, "_begun", 0)
    (run_id, _) = runs_of(engine, start(engine)).values()
    score_submission(run_id)
    assert the_run(engine, run_id).status == RunStatus.FAILED


@pytest.mark.both
@pytest.mark.usefixtures("heavy")
def test_a_check_out_of_memory_is_told_as_a_problem(
    engine: Engine,
    open_for_ever: User,  # noqa: F811 - the fixture
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    check_file(str(ask(engine, open_for_ever)))
    monkeypatch.setattr(overrun, "_begun", 0)
    validation_id = ask(engine, open_for_ever, HEAVY)
    assert check_file(str(validation_id)) is Ending.SPENT
    with reading(engine) as session:
        found = session.get_one(Validation, validation_id)
    assert (found.status, found.attempts) == (ValidationStatus.INVALID, 1)
    assert [problem["code"] for problem in found.problems] == ["too-much-memory"]


# ------------------------------------------------------------------------------------------------------ nothing stays


class Data:
    """Data that a run has read."""


@pytest.fixture
def without_collector() -> Iterator[None]:
    """Turn the collector off: memory is then only freed if nothing refers to it any more."""
    gc.collect()
    gc.disable()
    yield
    gc.enable()


@pytest.mark.usefixtures("without_collector")
@pytest.mark.parametrize("error", [MemoryError, ZeroDivisionError, ModelNotFound])
def test_nothing_of_a_run_that_failed_stays_in_memory(
    engine: Engine, ada: User, monkeypatch: pytest.MonkeyPatch, error: type[Exception]
) -> None:
    """Check that no cycle of error, traceback and frame is left, which only a full collection would free."""
    seen: list[weakref.ref[Data]] = []

    def read(*_: Any) -> Any:
        data = Data()
        seen.append(weakref.ref(data))
        raise error("no")

    change_task(monkeypatch, read_prediction=read)
    score_submission(upload(engine, ada))
    assert [reference() for reference in seen] == [None]


@pytest.mark.usefixtures("without_collector")
def test_nothing_of_a_check_that_failed_stays_in_memory(
    engine: Engine,
    open_for_ever: User,  # noqa: F811 - the fixture
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    seen: list[weakref.ref[Data]] = []

    def read(*_: Any) -> Any:
        data = Data()
        seen.append(weakref.ref(data))
        raise MemoryError

    change_task(monkeypatch, read_prediction=read)
    check_file(str(ask(engine, open_for_ever)))
    assert [reference() for reference in seen] == [None]


# --------------------------------------------------------------------------------------------------------------- turns


@pytest.mark.usefixtures("heavy", "fresh")
def test_a_process_whose_memory_was_full_takes_no_other_turn(engine: Engine, ada: User) -> None:
    heavy_run, next_run = upload(engine, ada, HEAVY), upload(engine, ada)
    with pytest.raises(SystemExit):
        take_turn(next_run, CPU_QUEUE)
    assert the_run(engine, heavy_run).status == RunStatus.FAILED
    assert the_run(engine, next_run).status == RunStatus.QUEUED
    take_turn(heavy_run, CPU_QUEUE)
    assert the_run(engine, next_run).status == RunStatus.SCORED


def test_a_message_is_worth_a_turn_also_after_what_this_machine_lacks(
    engine: Engine, ada: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    read = TASKS["idiom-detection"].read_prediction

    def read_or_lack(path: Path, *more: Any) -> Any:
        if path.read_text() == HEAVY:
            raise ModelNotFound("no such model here")
        return read(path, *more)

    change_task(monkeypatch, read_prediction=read_or_lack)
    lacking, other = upload(engine, ada, HEAVY), upload(engine, ada)
    take_turn(lacking, CPU_QUEUE)
    assert (the_run(engine, lacking).status, the_run(engine, lacking).attempts) == (RunStatus.QUEUED, 0)
    assert the_run(engine, other).status == RunStatus.SCORED


def test_a_message_for_what_had_its_turn_is_worth_nothing(engine: Engine, ada: User) -> None:
    run_id = upload(engine, ada)
    for _ in range(3):
        take_turn(run_id, CPU_QUEUE)
    assert the_run(engine, run_id).attempts == 1


def test_uploads_and_checks_are_taken_by_the_same_turns(
    engine: Engine,
    open_for_ever: User,  # noqa: F811 - the fixture
) -> None:
    check, run_id = ask(engine, open_for_ever), upload(engine, open_for_ever)
    take_turn(str(check), CPU_QUEUE)
    assert the_run(engine, run_id).status == RunStatus.SCORED
    take_turn(run_id, CPU_QUEUE)
    assert status_of(engine, check) == ValidationStatus.VALID


def test_a_worker_without_torch_leaves_the_other_queue_alone(engine: Engine, ada: User) -> None:
    run_id = upload(engine, ada)
    take_turn(run_id, GPU_QUEUE)
    assert the_run(engine, run_id).status == RunStatus.QUEUED


def status_of(engine: Engine, validation_id: UUID) -> ValidationStatus:
    with reading(engine) as session:
        return session.scalars(select(Validation.status).where(Validation.id == validation_id)).one()


# ---------------------------------------------------------------------------------------------------------------- time


def test_a_block_that_takes_too_long_ends_its_process_after_it_was_said(tmp_path: Path) -> None:
    program = """
        from workers.overrun import in_time
        with in_time(1, lambda bound: print(bound.words)):
            while True:
                pass
        """
    ended = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(program)],
        capture_output=True,
        text=True,
        cwd=Path(__file__).resolve().parents[2],
        timeout=120,
    )
    assert (ended.returncode, ended.stdout) == (0, "1 s\n")


def test_a_block_that_was_given_more_time_has_it(tmp_path: Path) -> None:
    program = """
        import time
        from workers.overrun import in_time
        with in_time(0.1, lambda bound: print(bound.words)) as deadline:
            deadline.extend(300)
            deadline.extend(1)
            time.sleep(1.2)  # the clock was looked at twice
            print("whole")
        """
    ended = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(program)],
        capture_output=True,
        text=True,
        cwd=Path(__file__).resolve().parents[2],
        timeout=120,
    )
    assert (ended.returncode, ended.stdout) == (0, "whole\n")


def test_only_encoding_has_the_time_of_encoding() -> None:
    usual = TASKS["table"]
    assert scoring_seconds(None, {}) == scoring_seconds(usual, {}) == (120, 120)
    assert scoring_seconds(TASKS["text-generation"], {}) == scoring_seconds(TASKS["mwe-paraphrase"], {}) == (120, 3600)
    outside = dataclasses.replace(usual, needs_gpu=True, distribution="evergold-quiz 1.0.0")
    assert scoring_seconds(outside, {}) == (3600, 3600), "others need not report when they begin to encode"


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(2, "2 s"), (60, "1 min"), (90, "90 s"), (600, "10 min"), (3600, "1 h"), (5400, "1 h 30 min"), (0, "0 s")],
)
def test_bounds_are_said_as_people_say_them(seconds: float, words: str) -> None:
    assert readable_time(seconds) == words
