"""Child processes: restarted with growing pauses, stopped with their whole group, and none left when we are killed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest

from app.server import children, supervisor
from app.server.children import Child, Guard, Program, StopRequest, signal_group

#: Ignores SIGTERM, and so does its own child: the worst that may have to be stopped.
STUBBORN = """
import os, signal, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
os.fork()
print(os.getpid(), flush=True)
time.sleep(60)
"""
#: Two processes as well, which end when they are asked.
MEEK = "import os, time\nos.fork()\nprint(os.getpid(), flush=True)\ntime.sleep(60)"


@pytest.fixture
def guard(tmp_path: Path) -> Iterator[Guard]:
    with (tmp_path / "lock").open("w") as lock:
        watched = children.start_guard(lock.fileno())
        yield watched
        children.dismiss_guard(watched)


def child_of(tmp_path: Path, code: str, stop_seconds: float = 5.0) -> Child:
    command = [sys.executable, "-I", "-c", code]
    return Child(Program("child", command, dict(os.environ), tmp_path / "log" / "child.log", stop_seconds))


def test_child_that_has_one_thing_to_do_is_not_started_again(tmp_path: Path, guard: Guard) -> None:
    said: list[str] = []
    for name, code in (("works", "pass"), ("fails", "print('no luck'); raise SystemExit(3)")):
        program = replace(child_of(tmp_path / name, code).program, name=name, ends_by_itself=True)
        child = Child(program)
        server = cast(supervisor.Server, SimpleNamespace(guard=guard, say=said.append, children={name: child}))
        children.start(child, guard)
        wait_for(lambda child=child: not children.is_running(child))  # type: ignore[misc]
        supervisor._look_at(server, child)
        assert server.children == {}
    assert len(said) == 1
    assert "fails died (exit status 3)" in said[0]
    assert "no luck" in said[0]
    assert said[0].endswith("The next start completes it.")


def wait_for(what: Callable[[], object], seconds: float = 10.0) -> None:
    deadline = time.monotonic() + seconds
    while not what():
        assert time.monotonic() < deadline, "waited in vain"
        time.sleep(0.01)


def group_is_gone(group: int) -> bool:
    return not signal_group(group, 0)


def logged_lines(child: Child) -> list[str]:
    log = child.program.log
    return log.read_text().splitlines() if log.exists() else []


def test_stopped_child_had_time_to_end_in_order(tmp_path: Path, guard: Guard) -> None:
    code = "import signal, time\nsignal.signal(15, lambda *_: (print('bye'), exit(0)))\nprint('up', flush=True)\n"
    child = child_of(tmp_path, code + "time.sleep(60)")
    children.start(child, guard)
    wait_for(lambda: logged_lines(child) == ["up"])
    children.stop([child], guard, StopRequest())
    assert logged_lines(child) == ["up", "bye"]
    assert child.process is None
    assert guard.groups == set()


def test_child_that_ignores_the_signal_is_killed_with_its_group(tmp_path: Path, guard: Guard) -> None:
    child = child_of(tmp_path, STUBBORN, stop_seconds=0.3)
    children.start(child, guard)
    assert child.process
    group = child.process.pid
    wait_for(lambda: len(logged_lines(child)) == 2)
    children.stop([child], guard, StopRequest())
    wait_for(lambda: group_is_gone(group))


def test_second_signal_stops_at_once(tmp_path: Path, guard: Guard) -> None:
    child = child_of(tmp_path, STUBBORN, stop_seconds=60)
    children.start(child, guard)
    wait_for(lambda: len(logged_lines(child)) == 2)
    began = time.monotonic()
    children.stop([child], guard, StopRequest(stop=True, hurry=True))
    assert time.monotonic() - began < 5


def test_pauses_between_restarts_grow(tmp_path: Path, guard: Guard) -> None:
    child = child_of(tmp_path, "raise SystemExit(3)")
    pauses = []
    for _ in range(3):
        children.start(child, guard)
        assert children.reap(child, guard) == 3
        pauses.append(round(child.start_again_at - time.monotonic(), 1))
    assert pauses == [0.5, 1.0, 2.0]


@pytest.mark.parametrize(
    ("lived_seconds", "deaths", "pause"), [(0.0, 20, children.LONGEST_DELAY_SECONDS), (61.0, 20, 0.5), (15.0, 1, 1.0)]
)
def test_pauses_have_an_end_and_begin_anew_after_a_minute_in_health(
    tmp_path: Path, guard: Guard, lived_seconds: float, deaths: int, pause: float
) -> None:
    child = child_of(tmp_path, "pass")
    children.start(child, guard)
    child.deaths, child.started_at = deaths, child.started_at - lived_seconds
    before = time.monotonic()
    assert children.reap(child, guard) == 0
    assert before <= child.start_again_at - pause <= time.monotonic()


def test_a_log_that_was_shortened_meanwhile_is_read_from_its_start(tmp_path: Path) -> None:
    child = child_of(tmp_path, "pass")
    child.program.log.parent.mkdir()
    child.program.log.write_text("before\n" * 3 + "\nafter\nand then\n")
    child.log_begins = 10_000
    assert children.last_lines(child, 2) == ["after", "and then"]


def test_a_death_is_said_with_the_time_until_the_next_start(tmp_path: Path, guard: Guard) -> None:
    said: list[str] = []
    child = child_of(tmp_path, "raise SystemExit(3)")
    server = cast(supervisor.Server, SimpleNamespace(guard=guard, say=said.append, children={"child": child}))
    children.start(child, guard)
    wait_for(lambda: not children.is_running(child))
    child.started_at = time.monotonic()
    child.deaths = 4
    supervisor._look_at(server, child)
    seconds = float(said[0].partition("It will be restarted in ")[2].removesuffix(" s."))
    assert 5 < seconds <= 8
    supervisor._look_at(server, child)
    assert (child.process, len(said)) == (None, 1), "not before its time"


def test_leftovers_of_a_dead_child_are_ended(tmp_path: Path, guard: Guard) -> None:
    child = child_of(tmp_path, STUBBORN)
    children.start(child, guard)
    assert child.process
    group = child.process.pid
    wait_for(lambda: len(logged_lines(child)) == 2)
    child.process.kill()
    assert children.reap(child, guard) == -signal.SIGKILL
    wait_for(lambda: group_is_gone(group))


def test_only_lines_since_the_start_explain_a_death(tmp_path: Path, guard: Guard) -> None:
    child = child_of(tmp_path, "print('first')")
    children.start(child, guard)
    children.reap(child, guard)
    child.program = child_of(tmp_path, "print('second')").program
    children.start(child, guard)
    children.reap(child, guard)
    assert children.last_lines(child) == ["second"]


def test_guard_that_was_killed_is_replaced_and_knows_everything(tmp_path: Path, guard: Guard) -> None:
    child = child_of(tmp_path, MEEK)
    children.start(child, guard)
    assert child.process
    wait_for(lambda: len(logged_lines(child)) == 2)
    guard.process.kill()
    guard.process.wait()
    children.keep_guard(guard)
    children.dismiss_guard(guard)  # as if we had died: what it watches, ends
    wait_for(lambda: child.process and child.process.poll() is not None)
    wait_for(lambda: group_is_gone(child.process.pid if child.process else 0))


def test_nothing_is_left_when_the_supervisor_is_killed(tmp_path: Path) -> None:
    supervisor = f"""
import sys, time
from pathlib import Path
from app.server.children import *
lock = open({str(tmp_path / "lock")!r}, "w")
watched = start_guard(lock.fileno())
program = Program("child", [sys.executable, "-I", "-c", {STUBBORN!r}], {{}}, Path({str(tmp_path / "child.log")!r}), 5)
child = Child(program)
start(child, watched)
print(child.process.pid, watched.process.pid, flush=True)
time.sleep(60)
"""
    with subprocess.Popen([sys.executable, "-c", supervisor], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        group, guard_pid = map(int, process.stdout.readline().split())
        wait_for(lambda: len((tmp_path / "child.log").read_text().splitlines()) == 2)
        process.kill()
    wait_for(lambda: group_is_gone(group), seconds=15)
    wait_for(lambda: group_is_gone(guard_pid))


def test_log_that_grew_too_long_moves_aside(tmp_path: Path) -> None:
    log = tmp_path / "web.log"
    with log.open("ab") as still_open:
        still_open.write(b"x" * 100)
        still_open.flush()
        children.shorten_log(log, limit_bytes=99)
        still_open.write(b"new")
    assert log.read_bytes() == b"new"
    assert (tmp_path / "web.log.1").read_bytes() == b"x" * 100


def test_short_log_stays(tmp_path: Path) -> None:
    log = tmp_path / "web.log"
    log.write_bytes(b"x" * 100)
    children.shorten_log(log, limit_bytes=100)
    assert log.read_bytes() == b"x" * 100
    assert not (tmp_path / "web.log.1").exists()
