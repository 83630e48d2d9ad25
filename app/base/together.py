"""Batched writes: short writes of many threads in one transaction, with a single commit and sync of the disk.

SQLite allows one writer at a time, and the others poll with growing pauses, so that under load some wait very long.
Here writes are queued, and one thread executes them all. PostgreSQL locks rows and groups commits itself, so there each
write has its own transaction.
"""

from __future__ import annotations

import os
import threading
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import nullcontext
from typing import Any, TypeVar
from weakref import WeakKeyDictionary

from sqlalchemy import Connection, Engine
from sqlalchemy.orm import Session

from app.base.db import writing

#: Maximum number of writes per transaction; other writers get a turn in between.
JOBS_AT_ONCE = 50

Result = TypeVar("Result")


class WriteQueue:
    """A queue of writes to one database, in order of arrival, executed by one thread."""

    def __init__(self) -> None:
        self._waiting: deque[tuple[Callable[[Session], Any], Future[Any]]] = deque()
        self._executor = ThreadPoolExecutor(max_workers=1, thread_name_prefix="write-together")

    def write(self, engine: Engine, job: Callable[[Session], Result]) -> Result:
        """Return the result of `job` once it is committed; if it raises, raise its exception and write nothing."""
        mine: Future[Result] = Future()
        self._waiting.append((job, mine))
        self._executor.submit(self._serve, engine)
        return mine.result()

    def _serve(self, engine: Engine) -> None:
        """Execute the waiting jobs as one batch, unless an earlier batch included them."""
        jobs = [self._waiting.popleft() for _ in range(min(JOBS_AT_ONCE, len(self._waiting)))]
        if jobs:
            _carry_out(engine, jobs)


def write_together(engine: Engine, job: Callable[[Session], Result]) -> Result:
    """Return the result of `job`, which may run in another thread together with others.

    It must not commit or roll back.
    """
    if not has_single_writer(engine):
        with writing(engine) as session:
            return job(session)
    with _lines_lock:
        line = _lines.setdefault(engine, WriteQueue())
    return line.write(engine, job)


def has_single_writer(engine: Engine | Connection) -> bool:
    """Return whether this database has a single writer."""
    return engine.dialect.name == "sqlite"


_lines: WeakKeyDictionary[Engine, WriteQueue] = WeakKeyDictionary()
_lines_lock = threading.Lock()
#: The executing thread stays with the parent: in a forked process waiting for it would never end.
os.register_at_fork(after_in_child=_lines.clear)


def _carry_out(engine: Engine, jobs: list[tuple[Callable[[Session], Any], Future[Any]]]) -> None:
    """Run all jobs in one transaction, each in a savepoint; if the commit fails, all of them fail."""
    done: list[tuple[Future[Any], Any]] = []
    try:
        with writing(engine) as session:
            for job, future in jobs:
                try:
                    with session.begin_nested() if len(jobs) > 1 else nullcontext():
                        done.append((future, job(session)))
                except Exception as error:
                    if len(jobs) == 1:
                        raise
                    future.set_exception(error)
    except BaseException as error:
        for _, future in jobs:
            if not future.done():
                future.set_exception(error)
        if not isinstance(error, Exception):
            raise
    for future, result in done:
        if not future.done():
            future.set_result(result)
