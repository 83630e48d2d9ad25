"""The helper process: it answers, ends what exceeds its bounds, has no secret, and restarts when it was killed."""

from __future__ import annotations

import os
import signal
from concurrent.futures import ThreadPoolExecutor

import pytest

from app.base.errors import Busy
from app.helper.process import HelperFailed, Job, TooMuchWork, run
from tests.processes import is_gone, wait_until


def job(name: str, *, processor_seconds: int = 5, mebibytes: int = 128, **more: int) -> Job:
    return Job(
        f"tests.helper.jobs:{name}", processor_seconds=processor_seconds, seconds=60, mebibytes=mebibytes, **more
    )


def test_a_message_of_any_size_is_answered() -> None:
    content = bytes(range(256)) * 40_000
    assert run(job("echo"), {"text": "é\ud800"}, content) == ({"text": "é\ud800"}, content)
    assert run(job("echo"), {}) == ({}, b"")


def test_jobs_run_beside_each_other_and_each_has_its_own_answer() -> None:
    echo = job("echo", at_once=8)
    with ThreadPoolExecutor(8) as crowd:
        answers = list(crowd.map(lambda number: run(echo, {"number": number})[0]["number"], range(8)))
    assert answers == list(range(8))


@pytest.mark.parametrize("name", ["spin", "hoard", "die"])
def test_what_takes_too_much_is_ended_and_the_next_job_runs(name: str) -> None:
    with pytest.raises(TooMuchWork):
        run(job(name, processor_seconds=1), {})
    assert run(job("echo"), {"still": "there"})[0] == {"still": "there"}


def test_a_fault_of_ours_is_no_fault_of_who_sent_it() -> None:
    with pytest.raises(HelperFailed, match="a fault of ours"):
        run(job("crash"), {})


def test_it_knows_nothing_of_the_server(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EVERGOLD_SECRET", "a secret")
    end_helper()  # of a test before this one, whose complaints go elsewhere
    seen, _ = run(job("look"), {})
    assert not [name for name in seen["environment"] if "EVERGOLD" in name]
    held = [name for name in seen["files"] if name.startswith("/") and not name.startswith(("/dev/", "/proc/"))]
    assert held == [os.readlink("/proc/self/fd/2")] or held == [], "what it complains of goes where ours goes"


def end_helper() -> int:
    parent: int = run(job("look"), {})[0]["parent"]
    os.kill(parent, signal.SIGKILL)
    wait_until(lambda: is_gone(parent), "the helper is gone")
    return parent


def test_a_helper_that_was_killed_is_started_again() -> None:
    parent = end_helper()
    assert run(job("look"), {})[0]["parent"] != parent


def test_who_would_wait_behind_too_many_is_refused() -> None:
    narrow = job("echo", at_once=1, waiting=0)
    with narrow.turn(), pytest.raises(Busy):
        run(narrow, {})
    assert run(narrow, {"now": "free"})[0] == {"now": "free"}
