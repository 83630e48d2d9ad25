"""Short writes of many threads in one transaction: one commit, one sync of the disk for all that came meanwhile.

SQLite lets one write at a time, and who waits for it looks again after a pause that grows; so under a rush some wait
for many turns. Here they wait in line, and one thread does the work of all. PostgreSQL has rows to lock and
commits of its own kind: there each has a transaction of its own.
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

#: No transaction does the work of more: whoever else wants to write has a turn between two.
JOBS_AT_ONCE = 50

Result = TypeVar("Result")


class Line:
    """Those who wait to write to one database, in the order in which they came; a thread of its own serves them."""

    def __init__(self) -> None:
        self._waiting: deque[tuple[Callable[[Session], Any], Future[Any]]] = deque()
        self._clerk = ThreadPoolExecutor(max_workers=1, thread_name_prefix="write-together")

    def write(self, engine: Engine, job: Callable[[Session], Result]) -> Result:
        """What `job` gives, once it is committed; what it raises, and then nothing of it was written."""
        mine: Future[Result] = Future()
        self._waiting.append((job, mine))
        self._clerk.submit(self._serve, engine)
        return mine.result()

    def _serve(self, engine: Engine) -> None:
        """Everybody who waits now; where others were served before, nobody is left."""
        jobs = [self._waiting.popleft() for _ in range(min(JOBS_AT_ONCE, len(self._waiting)))]
        if jobs:
            _carry_out(engine, jobs)


def write_together(engine: Engine, job: Callable[[Session], Result]) -> Result:
    """Let `job` write. It may be carried out by another thread, beside others', and must not commit or roll back."""
    if not writes_wait_in_line(engine):
        with writing(engine) as session:
            return job(session)
    with _lines_lock:
        line = _lines.setdefault(engine, Line())
    return line.write(engine, job)


def writes_wait_in_line(engine: Engine | Connection) -> bool:
    """Whether all who write to this database have one turn between them."""
    return engine.dialect.name == "sqlite"


_lines: WeakKeyDictionary[Engine, Line] = WeakKeyDictionary()
_lines_lock = threading.Lock()
#: The thread that serves a line stays with the parent: in a forked process whoever waited for it would wait for ever.
os.register_at_fork(after_in_child=_lines.clear)


def _carry_out(engine: Engine, jobs: list[tuple[Callable[[Session], Any], Future[Any]]]) -> None:
    """All in one transaction, each by itself; if it cannot be committed, nobody is told that something was written."""
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
