"""Real threads that start at the same moment, to test races."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from sqlalchemy import Engine, text

from app.base.db import reading

T = TypeVar("T")

#: A race that hangs fails instead.
LIMIT_SECONDS = 60.0


def in_threads(count: int, work: Callable[[int], T]) -> list[T]:
    """Return the results of `work(0) … work(count - 1)`, each in a thread of its own, all released by one barrier.

    Raises the exceptions that they raise.
    """
    barrier = threading.Barrier(count)

    def wait_and_work(number: int) -> T:
        barrier.wait(LIMIT_SECONDS)
        return work(number)

    with ThreadPoolExecutor(count) as pool:
        return [future.result(LIMIT_SECONDS) for future in [pool.submit(wait_and_work, n) for n in range(count)]]


def somebody_waits(engine: Engine) -> bool:
    """Return whether a transaction on this PostgreSQL waits for another."""
    waiting = "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()"
    with reading(engine) as session:
        return bool(session.scalar(text(waiting)))
