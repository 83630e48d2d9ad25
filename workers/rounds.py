"""Rounds of work next to the sweep, each kind in a separate thread, because people may be waiting for its results."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from sqlalchemy import Engine

from app.base.logs import continuing
from workers.tables import tables_fit

#: Interval between rounds.
ROUND_SECONDS = 3.0
#: Interval between calls of hourly work.
HOUR_SECONDS = 3600.0
#: Time for work in progress when the server stops; work that takes longer is repeated later.
STOP_SECONDS = 2.0


@contextmanager
def rounds(
    name: str, engine: Engine, works: Sequence[Callable[[threading.Event], object]], hourly: Callable[[], None]
) -> Iterator[None]:
    """Run rounds of work every few seconds during the block, while this code fits the tables.

    name: of the thread, and of its errors in the log. works: each gets an event that is set when it should stop, and
    runs even if those before it failed. hourly: called immediately, and once an hour.
    """
    stop = threading.Event()

    def run() -> None:
        hourly_at = time.monotonic()
        while not stop.is_set():
            fits = False
            with continuing(f"{name}_failed"):
                fits = bool(works) and tables_fit(engine)
            for work in works if fits else ():
                with continuing(f"{name}_failed"):  # the next round does the same work
                    work(stop)
            with continuing(f"{name}_failed"):
                if time.monotonic() >= hourly_at:
                    hourly()
                    hourly_at = time.monotonic() + HOUR_SECONDS
            stop.wait(ROUND_SECONDS)

    thread = threading.Thread(target=run, name=name, daemon=True)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join(STOP_SECONDS)
