"""Queues to which a worker listens: those requested, as far as it has torch and passed its self-check."""

from __future__ import annotations

import gc
import time
from collections.abc import Iterator

import pytest
from sqlalchemy import Engine, select

from app.base.db import reading
from app.models import SelfCheck, Worker
from workers import device, start
from workers.presence import Presence
from workers.selfcheck import SelfCheckReport

PASSED = SelfCheckReport(SelfCheck.PASSED, (), "cpu", ("a-model",))
REFUSED = SelfCheckReport(SelfCheck.REFUSED, ("a-model: other numbers.",), "cpu", ("a-model",))


@pytest.fixture(autouse=True)
def _own_refusal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(device, "_refused", False)


def equip(monkeypatch: pytest.MonkeyPatch, *checks: SelfCheckReport) -> None:
    """A machine with torch, whose self-checks end so, one after the other."""
    found = iter(checks)
    monkeypatch.setattr(start, "has_torch", lambda: True)
    monkeypatch.setattr(start, "check_in_process", lambda: next(found))


def seen(engine: Engine) -> list[tuple[SelfCheck | None, list[str]]]:
    """The self-checks and queues of the workers that announced themselves."""
    with reading(engine) as session:
        return [(worker.self_check, worker.queues) for worker in session.scalars(select(Worker))]


@pytest.mark.parametrize(("asked", "queues"), [("auto", ("cpu", "gpu")), ("gpu", ("gpu",))])
def test_after_a_passed_self_check_it_takes_what_needs_torch(
    sqlite_engine: Engine, monkeypatch: pytest.MonkeyPatch, asked: str, queues: tuple[str, ...]
) -> None:
    equip(monkeypatch, PASSED)
    own = Presence(processes=1)
    assert start.choose_queues(asked, own, sqlite_engine) == queues
    assert (own.self_check, own.report) == (SelfCheck.PASSED, PASSED)
    assert not device._refused


def test_while_it_checks_itself_that_can_be_seen(sqlite_engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    during: list[tuple[SelfCheck | None, list[str]]] = []

    def check() -> SelfCheckReport:
        during.extend(seen(sqlite_engine))
        return PASSED

    monkeypatch.setattr(start, "has_torch", lambda: True)
    monkeypatch.setattr(start, "check_in_process", check)
    start.choose_queues("auto", Presence(processes=1), sqlite_engine)
    assert during == [(SelfCheck.RUNNING, [])]


def test_what_was_never_recorded_is_taken_all_the_same(sqlite_engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    equip(monkeypatch, SelfCheckReport(SelfCheck.UNRECORDED, ("a-model was never recorded.",), "cpu", ("a-model",)))
    assert start.choose_queues("auto", Presence(processes=1), sqlite_engine) == ("cpu", "gpu")


def test_after_a_refused_self_check_the_rest_goes_on(sqlite_engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    equip(monkeypatch, REFUSED)
    own = Presence(processes=1)
    assert start.choose_queues("auto", own, sqlite_engine) == ("cpu",)
    assert own.report == REFUSED
    assert device._refused


def test_for_bertscore_alone_it_checks_again_until_it_may(
    sqlite_engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    equip(monkeypatch, REFUSED, REFUSED, PASSED)
    waited: list[list[tuple[SelfCheck | None, list[str]]]] = []
    monkeypatch.setattr(time, "sleep", lambda seconds: waited.append(seen(sqlite_engine)))
    assert start.choose_queues("gpu", Presence(processes=1), sqlite_engine) == ("gpu",)
    assert waited == [[(SelfCheck.REFUSED, [])]] * 2, "organisers see it, and that it takes nothing"


@pytest.mark.parametrize(("asked", "torch"), [("cpu", True), ("cpu", False), ("auto", False)])
def test_who_takes_no_bertscore_checks_nothing(
    sqlite_engine: Engine, monkeypatch: pytest.MonkeyPatch, asked: str, torch: bool
) -> None:
    equip(monkeypatch)
    monkeypatch.setattr(start, "has_torch", lambda: torch)
    assert start.choose_queues(asked, Presence(processes=1), sqlite_engine) == ("cpu",)
    assert seen(sqlite_engine) == []
    assert device._refused, "not even by mistake"


def test_asked_for_what_it_cannot_have_it_ends_in_words(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(start, "has_torch", lambda: False)
    assert start.main(["--queues", "gpu"]) == 1
    assert "pip install 'evergold-server[bertscore]'" in capsys.readouterr().err


def test_garbage_is_collected_rarely_in_a_worker(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(start, "has_torch", lambda: False)
    before = gc.get_threshold()
    gc.set_threshold(700, 10, 10)
    try:
        start.main(["--queues", "gpu"])
        assert gc.get_threshold() == (20_000, 20, 50)
    finally:
        gc.set_threshold(*before)


def test_all_wrong_settings_of_workers_are_named_at_the_start(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("EVERGOLD_RUN_MEMORY_MEBIBYTES", "-1")
    monkeypatch.setenv("EVERGOLD_SANDBOX_UID", "nobody")
    monkeypatch.setenv("EVERGOLD_MAKE_GOLD_KEY", "perhaps")
    assert start.main([]) == 1
    assert capsys.readouterr().err.splitlines() == [
        "Error: Invalid settings: EVERGOLD_MAKE_GOLD_KEY must be true or false.",
        "Error: Invalid settings: EVERGOLD_RUN_MEMORY_MEBIBYTES must be at least 0.",
        "Error: Invalid settings: EVERGOLD_SANDBOX_UID must be a whole number above 0.",
    ]


@pytest.fixture(autouse=True)
def _quick_beats() -> Iterator[None]:
    """Check that no thread of a worker outlives its test."""
    import threading

    yield
    assert not [thread for thread in threading.enumerate() if thread.name == "presence"]


@pytest.mark.parametrize(("queues", "niceness"), [("auto", 5), ("cpu", 5), ("gpu", 10)])
def test_scoring_gives_way_to_the_web_process(monkeypatch: pytest.MonkeyPatch, queues: str, niceness: int) -> None:
    class Started(Exception):  # noqa: N818 - nothing is wrong
        pass

    def stop() -> None:
        raise Started

    given: list[int] = []
    monkeypatch.setattr("os.nice", given.append)
    monkeypatch.setattr(start, "has_torch", lambda: True)
    monkeypatch.setattr(start, "_exit_on_sigterm", stop)
    with pytest.raises(Started):
        start.main(["--queues", queues])
    assert given == [niceness]
