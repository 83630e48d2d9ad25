"""Work in a forked process at the lowest priority, so that it delays no check and no run.

The parent records the result at its own priority: SQLite allows a single writer, which must not lack processor time
while it holds the lock.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from multiprocessing.connection import Connection
from typing import TypeVar

from sqlalchemy import Engine

from workers.store_keeper import end_with_parent

#: Added to the niceness of this process, which is that of scoring.
NICENESS = 10
#: A time limit, because nothing else would end a process that hangs.
LONGEST_SECONDS = 2 * 3600
#: Interval between checks whether this process has to stop.
LOOK_SECONDS = 0.2

T = TypeVar("T")
#: Starts the work and returns a function that waits for its result.
Run = Callable[[Callable[[], T]], Callable[[], "T | Lost"]]

_processes = multiprocessing.get_context("fork")


@dataclass(frozen=True, slots=True)
class Failed:
    """The reason why the work failed, free of gold.

    is_lacking: the machine lacks something that another one may have.
    """

    reason: str
    is_lacking: bool = False


@dataclass(frozen=True, slots=True)
class Lost:
    """The work ended without a result.

    is_stopped: True if this process was stopped; otherwise the work was killed or took too long.
    """

    reason: str
    is_stopped: bool = False


def here(work: Callable[[], T]) -> Callable[[], T | Lost]:
    """Return the work itself, which then runs in this process when its result is awaited."""
    return work


class Apart:
    """Runs each piece of work in a forked process.

    stopped: set when this process must stop.
    engine: the database that the work reads.
    """

    def __init__(self, stopped: threading.Event, engine: Engine) -> None:
        self._stopped, self._engine = stopped, engine

    def run(self, work: Callable[[], T]) -> Callable[[], T | Lost]:
        """Start the work and return a function that waits for its result.

        The work must not raise, and its result must be picklable.
        """
        self._engine.dispose()  # no connection is shared across a fork
        receiver, sender = _processes.Pipe(duplex=False)
        process = _processes.Process(target=_do, args=(work, sender), daemon=True)
        process.start()
        sender.close()
        ends_at = time.monotonic() + LONGEST_SECONDS

        def result() -> T | Lost:
            try:
                while not receiver.poll(LOOK_SECONDS):
                    if self._stopped.is_set():
                        return Lost("its worker was stopped", is_stopped=True)
                    if time.monotonic() > ends_at:
                        return Lost("it took too long")
                found: T = receiver.recv()
                return found
            except (EOFError, OSError):
                return Lost("its process was killed")
            finally:
                process.kill()
                process.join()
                receiver.close()

        return result


def _do(work: Callable[[], T], sender: Connection) -> None:
    """Run the work in the child process, which ends with its parent, and send the result."""
    end_with_parent(signal.SIGKILL)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    os.nice(NICENESS)
    sender.send(work())
