"""A piece of work in a process of its own, at the lowest priority: no check and no run waits for it.

What it found is recorded by the process that forked it, at that one's priority. The database has one right to write
where it is SQLite, and whoever holds it must not be the last to be given a processor.
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

#: Added to the process's own, which is that of scoring.
NICENESS = 10
#: Nothing else would end what hangs.
LONGEST_SECONDS = 2 * 3600
#: How often is looked whether this process was told to stop.
LOOK_SECONDS = 0.2

T = TypeVar("T")
#: Begins a piece of work, and returns what waits for its end.
Run = Callable[[Callable[[], T]], Callable[[], "T | Lost"]]

_processes = multiprocessing.get_context("fork")


@dataclass(frozen=True, slots=True)
class Failed:
    """Why the work has no result, in words without gold. is_lacking: this machine lacks what another may have."""

    reason: str
    is_lacking: bool = False


@dataclass(frozen=True, slots=True)
class Lost:
    """The work has no result. is_stopped: since this process was told to stop, else it was killed or took too long."""

    reason: str
    is_stopped: bool = False


def here(work: Callable[[], T]) -> Callable[[], T | Lost]:
    """Do the work in this process, when its end is waited for."""
    return work


class Apart:
    """Forks a process for each piece of work. stopped: set when this process is told to stop; engine: what the work
    reads from."""

    def __init__(self, stopped: threading.Event, engine: Engine) -> None:
        self._stopped, self._engine = stopped, engine

    def run(self, work: Callable[[], T]) -> Callable[[], T | Lost]:
        """Begin the work, which raises nothing and whose result can be pickled; returns what waits for its end."""
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
    """In the child, which ends with its parent."""
    end_with_parent(signal.SIGKILL)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    os.nice(NICENESS)
    sender.send(work())
