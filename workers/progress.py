"""Tells those who wait how far a long run is: the scoring thread says it, another thread writes it once a second.

What takes less than a second is never written. A run that is no longer ours is ended at its next report: nobody would
record its scores.
"""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime

from sqlalchemy import Engine

from app.base.db import writing
from app.runs.claims import Claim, note_progress
from evergold.scoring.progress import progress_to
from workers.faults import survived

#: A page that is looked at needs no more.
TELL_SECONDS = 1.0


class ClaimLost(Exception):
    """The run was given to another worker meanwhile."""


@dataclass
class Progress:
    """How far a run is. first: when the items of the first report were passed, from which the pace is taken; begun:
    called at the first report."""

    checked_at: datetime | None = None
    done: int | None = None
    total: int | None = None
    first: tuple[float, int] | None = None
    is_lost: bool = False
    begun: Callable[[], object] = lambda: None

    def checked(self) -> None:
        """The file is in order; what comes now is scoring."""
        self.checked_at = datetime.now(UTC)

    def report(self, done: int, total: int) -> None:
        """Hears what the task reports; raises ClaimLost."""
        if self.is_lost:
            raise ClaimLost
        if self.first is None:
            self.begun()
        if self.first is None or done == self.first[1]:
            self.first = (time.monotonic(), done)
        self.done, self.total = done, total

    def seconds_left(self) -> int | None:
        """At the pace so far; None while nothing is known of it."""
        if self.first is None or self.done is None or self.total is None or self.done <= self.first[1]:
            return None
        elapsed = time.monotonic() - self.first[0]
        return math.ceil(elapsed / (self.done - self.first[1]) * (self.total - self.done))


@contextmanager
def telling(engine: Engine, claim: Claim, begun: Callable[[], object] = lambda: None) -> Iterator[Progress]:
    """Inside the block, what the scoring in this thread reports can be seen in the database a second later."""
    progress, stop = Progress(begun=begun), threading.Event()
    thread = threading.Thread(target=_tell, args=(engine, claim, progress, stop), name="progress", daemon=True)
    thread.start()
    try:
        with progress_to(progress.report):
            yield progress
    finally:
        stop.set()
        thread.join()


def _tell(engine: Engine, claim: Claim, progress: Progress, stop: threading.Event) -> None:
    written: tuple[datetime | None, int | None] = (None, None)
    while not stop.wait(TELL_SECONDS):
        now = progress.checked_at, progress.done
        if now == written:
            continue
        try:
            ours = _write(engine, claim, progress)
        except Exception as error:  # the next second tells more
            survived("progress_not_told", error, run_id=claim.run_id)
            continue
        if not ours:
            progress.is_lost = True
            return
        written = now


def _write(engine: Engine, claim: Claim, progress: Progress) -> bool:
    with writing(engine) as session:
        return note_progress(
            session,
            claim,
            checked_at=progress.checked_at,
            items_done=progress.done,
            items_total=progress.total,
            seconds_left=progress.seconds_left(),
        )
