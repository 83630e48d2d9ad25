"""The background process of a worker: what it takes up, what it survives, and that it is started again."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Engine
from structlog.testing import capture_logs

from app.base.queue import GOLD_TASK, STATISTICS_TASK, _sender, send_gold_check, send_statistics
from tests.processes import is_gone, wait_until
from workers import background, background_process as starting
from workers.apart import NICENESS, Apart, Lost

Done = list[tuple[str, int]]


@pytest.fixture
def done(workplace: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Done]:
    """Yield what was processed, with a broker of files."""
    found: Done = []

    def taking_up(task: str) -> Any:
        return lambda number, run: found.append((task, number))

    for task in (GOLD_TASK, STATISTICS_TASK):
        monkeypatch.setitem(background.TASKS, task, taking_up(task))
    monkeypatch.setattr(background, "LOOK_SECONDS", 0.0)
    yield found
    _sender.cache_clear()


def rounds(number: int) -> Any:
    """Return True so many times."""
    answers = iter([True] * number)
    return lambda: next(answers, False)


def test_it_takes_one_message_after_the_other(done: Done, sqlite_engine: Engine) -> None:
    assert send_gold_check(7)
    assert send_statistics(3)
    background.work(threading.Event(), rounds(3))
    assert sorted(done) == [(GOLD_TASK, 7), (STATISTICS_TASK, 3)]


def test_what_goes_wrong_does_not_keep_it_from_the_next(
    done: Done, sqlite_engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(number: int, run: object) -> None:
        raise RuntimeError("label 1 of item 7")

    monkeypatch.setitem(background.TASKS, STATISTICS_TASK, broken)
    assert send_statistics(3)
    assert send_gold_check(7)
    with capture_logs() as logged:
        background.work(threading.Event(), rounds(3))
    assert done == [(GOLD_TASK, 7)]
    assert [entry["event"] for entry in logged] == ["background_failed"]
    assert "label" not in repr(logged), "it may quote gold"


def test_a_broker_that_is_away_is_logged_once_and_asked_again(
    done: Done, sqlite_engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(background, "AWAY_SECONDS", 0.0)
    answers: Iterator[OSError | tuple[str, int]] = iter([OSError("gone"), OSError("gone"), (GOLD_TASK, 7)])

    def take() -> tuple[str, int]:
        answer = next(answers)
        if isinstance(answer, OSError):
            raise answer
        return answer

    monkeypatch.setattr(background, "take_background_message", take)
    with capture_logs() as logged:
        background.work(threading.Event(), rounds(3))
    assert done == [(GOLD_TASK, 7)]
    assert [entry["event"] for entry in logged] == ["broker_down"]


def test_it_takes_nothing_when_told_to_stop_or_when_its_worker_is_gone(done: Done, sqlite_engine: Engine) -> None:
    assert send_gold_check(7)
    background.work(threading.Event(), rounds(0))
    stopped = threading.Event()
    stopped.set()
    background.work(stopped, rounds(3))
    assert done == []


# ------------------------------------------------------------------------------------------------------------ forked


@pytest.fixture
def apart(sqlite_engine: Engine) -> Apart:
    return Apart(threading.Event(), sqlite_engine)


def test_work_is_done_by_another_process_of_lower_priority(apart: Apart) -> None:
    pid, niceness = apart.run(lambda: (os.getpid(), os.nice(0)))()  # type: ignore[misc]
    assert pid != os.getpid()
    assert niceness == min(19, os.nice(0) + NICENESS)
    assert is_gone(pid)


def test_work_whose_process_is_killed_is_lost_and_the_next_is_done(apart: Apart) -> None:
    assert apart.run(lambda: os.kill(os.getpid(), signal.SIGKILL))() == Lost("its process was killed")
    assert apart.run(lambda: 7)() == 7


def test_work_that_takes_longer_than_a_look_is_waited_for(apart: Apart, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("workers.apart.LOOK_SECONDS", 0.001)
    assert apart.run(lambda: threading.Event().wait(0.05))() is False


def test_work_that_hangs_is_ended(apart: Apart, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("workers.apart.LONGEST_SECONDS", 0)
    monkeypatch.setattr("workers.apart.LOOK_SECONDS", 0.01)
    assert apart.run(signal.pause)() == Lost("it took too long")


def test_a_stop_ends_the_work_at_once(sqlite_engine: Engine, tmp_path: Path) -> None:
    stopped, pid_file = threading.Event(), tmp_path / "pid"

    def hang() -> None:
        pid_file.write_text(str(os.getpid()))
        signal.pause()

    result = Apart(stopped, sqlite_engine).run(hang)
    wait_until(lambda: pid_file.exists() and pid_file.read_text(), "it has begun")
    stopped.set()
    assert result() == Lost("its worker was stopped", is_stopped=True)
    assert is_gone(int(pid_file.read_text()))


# ----------------------------------------------------------------------------------------------------------- started


@pytest.fixture
def pids(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the file in which a process that does nothing writes its id."""
    found = tmp_path / "pids"
    found.touch()
    program = "import os,sys,time; open(sys.argv[1],'a').write(f'{os.getpid()}\\n'); time.sleep(600)"
    monkeypatch.setattr(starting, "COMMAND", (sys.executable, "-c", program, str(found)))
    monkeypatch.setattr(starting, "LOOK_SECONDS", 0.01)
    monkeypatch.setattr(starting, "FIRST_DELAY_SECONDS", 0.01)
    return found


def test_a_background_process_that_is_killed_is_started_again_and_ends_with_its_worker(pids: Path) -> None:
    with capture_logs() as logged, starting.background_process():
        for number in range(1, 4):
            wait_until(lambda: len(pids.read_text().splitlines()) == number, "it has started")  # noqa: B023
            newest = int(pids.read_text().splitlines()[-1])
            if number < 3:
                os.kill(newest, signal.SIGKILL)
    assert is_gone(newest)
    assert [(entry["event"], entry["status"]) for entry in logged] == [("background_died", -signal.SIGKILL)] * 2


def test_a_background_process_that_ignores_its_stop_is_killed(pids: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(starting, "STOP_SECONDS", 0.01)
    python, flag, program, file = starting.COMMAND
    deaf = f"import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN); {program}"
    monkeypatch.setattr(starting, "COMMAND", (python, flag, deaf, file))
    with starting.background_process():
        wait_until(lambda: pids.read_text().endswith("\n"), "it has started")
    assert is_gone(int(pids.read_text()))


def test_a_machine_without_processes_to_spare_is_asked_again(pids: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    command = starting.COMMAND
    monkeypatch.setattr(starting, "COMMAND", ("/nowhere",))
    with capture_logs() as logged, starting.background_process():
        wait_until(lambda: logged, "it is logged")
        monkeypatch.setattr(starting, "COMMAND", command)
        wait_until(lambda: pids.read_text(), "it has started")
    assert logged[0]["event"] == "background_not_started"
