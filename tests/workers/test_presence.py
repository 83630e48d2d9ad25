"""A worker announces its presence until it ends; a database that is away, or a fork, does it no harm."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from datetime import UTC, datetime
from importlib import metadata
from typing import Any

import pytest
from sqlalchemy import Engine, select
from sqlalchemy.exc import OperationalError
from structlog.testing import capture_logs

from app.base.db import make_engine, reading
from app.models import SelfCheck, Worker
from app.runs.workers import announce_worker
from tests.processes import wait_until
from workers import presence
from workers.presence import Presence, beating, retire, tell
from workers.selfcheck import Comparison, SelfCheckReport


@pytest.fixture
def worker_s(engine: Engine) -> Iterator[Engine]:
    """The worker's own way to the database, which it closes after every word."""
    found = make_engine(engine.url.render_as_string(hide_password=False))
    yield found
    found.dispose()


def rows(engine: Engine) -> list[Worker]:
    with reading(engine) as session:
        return list(session.scalars(select(Worker)))


@pytest.mark.both
def test_it_is_there_at_once_and_says_so_again_and_again(engine: Engine, worker_s: Engine) -> None:
    own = Presence(processes=2, queues=("cpu",))
    with beating(worker_s, own, seconds=0.02):
        [first] = rows(engine)
        assert (first.name, first.queues, first.processes, first.self_check) == (own.name, ["cpu"], 2, None)
        assert first.versions["numpy"]
        wait_until(lambda: rows(engine)[0].seen_at > first.seen_at, "it is heard again")
        own.queues = ("cpu", "gpu")
        wait_until(lambda: rows(engine)[0].queues == ["cpu", "gpu"], "what changed is said")
    assert not [thread for thread in threading.enumerate() if thread.name == "presence"]


def test_what_the_self_check_found_is_said(engine: Engine, worker_s: Engine) -> None:
    own = Presence(processes=1)
    compared = Comparison("a-model", "bert-score 0.3.13", pairs=92, difference=0.25, in_its_batches=0.0)
    own.checked(SelfCheckReport(SelfCheck.REFUSED, ("other numbers.",), "cuda", ("a-model",), (compared,)))
    tell(worker_s, own)
    [row] = rows(engine)
    assert (row.self_check, row.self_check_words, row.device, row.models) == (
        SelfCheck.REFUSED,
        ["other numbers."],
        "cuda",
        ["a-model"],
    )
    [stored] = row.comparisons
    assert (stored["package"], stored["difference"]) == ("bert-score 0.3.13", 0.25)
    assert row.self_checked_at is not None
    assert row.self_checked_at <= datetime.now(UTC)


def test_it_goes_when_it_ends_and_comes_back_when_it_was_forgotten_by_mistake(engine: Engine, worker_s: Engine) -> None:
    own, other = Presence(processes=1), Presence(processes=1)
    assert own.name != other.name, "two containers may have the same host name and process id"
    tell(worker_s, own)
    tell(worker_s, other)
    retire(worker_s, own)
    assert [row.name for row in rows(engine)] == [other.name]
    tell(worker_s, own)
    assert len(rows(engine)) == 2


def test_a_database_that_is_away_is_survived_and_logged(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    def away(*_: object) -> None:
        raise OperationalError("INSERT INTO workers", {}, Exception("the server is restarting"))

    monkeypatch.setattr(presence, "announce_worker", away)
    monkeypatch.setattr(presence, "retire_worker", away)
    with capture_logs() as logged:
        tell(engine, Presence(processes=1))
        retire(engine, Presence(processes=1))
    assert [entry["event"] for entry in logged] == ["worker_not_announced", "worker_not_retired"]


def test_the_heart_goes_on_after_any_error(engine: Engine, worker_s: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    """Check an error as when packages are installed next to a running worker, and a file that was just
    found is gone.
    """
    errors = iter([RuntimeError("no such package any more"), MemoryError(), KeyError("torch")])

    def told(package: str) -> str:
        for error in errors:
            raise error
        return "1.0"

    own = Presence(processes=1)
    with beating(worker_s, own, seconds=0.02):
        [first] = rows(engine)
        monkeypatch.setattr("workers.device.metadata.version", told)
        wait_until(lambda: rows(engine)[0].versions.get("numpy") == "1.0", "it is heard again after three errors")
    assert first.name == own.name


def test_a_package_that_is_just_being_installed_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    def no_metadata_yet(package: str) -> str:
        raise metadata.PackageNotFoundError(package)

    monkeypatch.setattr("workers.device.metadata.version", no_metadata_yet)
    assert set(Presence(processes=1).as_row().versions) == {"python"}


@pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning")
def test_nobody_is_forked_while_it_writes(sqlite_engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    """A child that is forked in the middle of a write would inherit locks that nobody opens any more."""
    inside, go_on = threading.Event(), threading.Event()

    def slowly(*of: Any) -> None:
        inside.set()
        go_on.wait(60)
        announce_worker(*of)

    monkeypatch.setattr(presence, "announce_worker", slowly)
    writer = threading.Thread(target=tell, args=(sqlite_engine, Presence(processes=1)))
    writer.start()
    assert inside.wait(60)
    forked = threading.Event()

    def fork() -> None:
        child = os.fork()
        if child == 0:
            os._exit(0)
        os.waitpid(child, 0)
        forked.set()

    forker = threading.Thread(target=fork)
    forker.start()
    assert not forked.wait(0.2), "it waits for the write"
    go_on.set()
    assert forked.wait(60)
    writer.join()
    forker.join()
