"""Writes that wait together are committed together; what goes wrong with one is nobody else's."""

from __future__ import annotations

import os
import signal
import threading
import warnings
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import count

import pytest
from sqlalchemy import Engine, event, func, select
from sqlalchemy.exc import IntegrityError, OperationalError
from sqlalchemy.orm import Session

from app.base.db import reading, writing
from app.base.together import _lines, write_together
from app.models import User
from tests.threads import LIMIT_SECONDS
from tests.world import NOW


def add(session: Session, name: str) -> int:
    user = User(username=name, email=f"{name}@example.org", display_name=name, created_at=NOW)
    session.add(user)
    session.flush()
    return user.id


def names(engine: Engine) -> set[str]:
    with reading(engine) as session:
        return set(session.scalars(select(User.username)))


@pytest.fixture
def commits(sqlite_engine: Engine) -> Iterator[list[str]]:
    """Yield a list to which each commit is added."""
    found: list[str] = []

    def note(_connection: object) -> None:
        found.append("commit")

    event.listen(sqlite_engine, "commit", note)
    yield found
    event.remove(sqlite_engine, "commit", note)


class Busy:
    """Blocks the thread of the write queue, so that all later writes wait together."""

    def __init__(self, engine: Engine, pool: ThreadPoolExecutor) -> None:
        self.engine, self.pool = engine, pool
        self.go_on, self.is_held = threading.Event(), threading.Event()
        self.first: Future[int] = pool.submit(write_together, engine, self._hold)
        assert self.is_held.wait(LIMIT_SECONDS)
        self.waiting: list[Future[int]] = []

    def _hold(self, session: Session) -> int:
        self.is_held.set()
        assert self.go_on.wait(LIMIT_SECONDS)
        return add(session, "first")

    def line_up(self, name: str) -> Future[int]:
        """Returns when it waits."""
        before = len(_lines[self.engine]._waiting)
        future = self.pool.submit(write_together, self.engine, lambda session: add(session, name))
        while len(_lines[self.engine]._waiting) == before:
            assert not future.done()
        self.waiting.append(future)
        return future


@pytest.fixture
def busy(sqlite_engine: Engine) -> Iterator[Busy]:
    with ThreadPoolExecutor(20) as pool:
        found = Busy(sqlite_engine, pool)
        yield found
        found.go_on.set()


@pytest.mark.both
def test_what_was_written_is_there_when_it_is_answered(engine: Engine) -> None:
    number = write_together(engine, lambda session: add(session, "ada"))
    with reading(engine) as session:
        assert session.get_one(User, number).username == "ada"


def test_all_that_came_meanwhile_is_one_commit(busy: Busy, commits: list[str]) -> None:
    waiting = [busy.line_up(f"user{number}") for number in range(10)]
    busy.go_on.set()
    numbers = [one.result(LIMIT_SECONDS) for one in waiting]
    assert len(set(numbers)) == 10
    assert numbers == sorted(numbers), "in the order in which they came"
    assert names(busy.engine) == {"first", *(f"user{number}" for number in range(10))}
    assert len(commits) == 2, "of the first, and of all others"


def test_one_that_fails_takes_nobody_else_along(busy: Busy) -> None:
    before, wrong, after = busy.line_up("ada"), busy.line_up("first"), busy.line_up("bob")
    busy.go_on.set()
    assert before.result(LIMIT_SECONDS) < after.result(LIMIT_SECONDS)
    with pytest.raises(IntegrityError):
        wrong.result(LIMIT_SECONDS)
    assert names(busy.engine) == {"first", "ada", "bob"}


def test_nobody_is_told_of_a_write_whose_commit_failed(busy: Busy) -> None:
    waiting = [busy.line_up(f"user{number}") for number in range(3)]

    commits = count(1)

    def fail(_connection: object) -> None:
        """Fail at every commit but the first."""
        if next(commits) > 1:
            raise OperationalError("COMMIT", {}, Exception("disk I/O error"))

    event.listen(busy.engine, "commit", fail)
    busy.go_on.set()
    try:
        for one in waiting:
            with pytest.raises(OperationalError):
                one.result(LIMIT_SECONDS)
    finally:
        event.remove(busy.engine, "commit", fail)
    assert names(busy.engine) == {"first"}


def test_the_next_write_goes_on_after_one_that_failed(sqlite_engine: Engine) -> None:
    with pytest.raises(ZeroDivisionError):
        write_together(sqlite_engine, lambda session: add(session, "ada") // 0)
    assert write_together(sqlite_engine, lambda session: add(session, "bob"))
    assert names(sqlite_engine) == {"bob"}


def test_a_failed_write_of_one_leaves_no_lock_behind(sqlite_engine: Engine) -> None:
    with pytest.raises(ZeroDivisionError):
        write_together(sqlite_engine, lambda session: add(session, "ada") // 0)
    with writing(sqlite_engine) as session:
        assert session.scalars(select(func.count()).select_from(User)).one() == 0


def test_a_forked_process_does_not_wait_for_the_thread_of_its_parent(sqlite_engine: Engine) -> None:
    write_together(sqlite_engine, lambda session: add(session, "parent"))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # newer Pythons warn of forks beside threads: that is it
        child = os.fork()
    if child == 0:
        signal.alarm(int(LIMIT_SECONDS))
        status = 1
        try:
            sqlite_engine.dispose(close=False)
            write_together(sqlite_engine, lambda session: add(session, "child"))
            status = 0
        finally:
            os._exit(status)
    assert os.waitpid(child, 0)[1] == 0
    assert names(sqlite_engine) == {"parent", "child"}
