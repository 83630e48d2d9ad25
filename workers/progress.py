"""Progress of long runs: the scoring thread reports it, another thread writes it once a second.

Runs of less than a second are never written. A run that lost its claim is ended at its next report, since its scores
would not be recorded.
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
from workers.faults import log_and_continue

#: Often enough for a page that somebody watches.
TELL_SECONDS = 1.0


class ClaimLost(Exception):
    """The run was given to another worker."""


@dataclass
class Progress:
    """The progress of a run.

    first: time and item count of the first report, from which the pace is computed.
    begun: called at the first report.
    """

    checked_at: datetime | None = None
    done: int | None = None
    total: int | None = None
    first: tuple[float, int] | None = None
    is_lost: bool = False
    begun: Callable[[], object] = lambda: None

    def checked(self) -> None:
        """Mark the file as valid; scoring starts now."""
        self.checked_at = datetime.now(UTC)

    def report(self, done: int, total: int) -> None:
        """Store the progress that the task reports. Raises ClaimLost."""
        if self.is_lost:
            raise ClaimLost
        if self.first is None:
            self.begun()
        if self.first is None or done == self.first[1]:
            self.first = (time.monotonic(), done)
        self.done, self.total = done, total

    def seconds_left(self) -> int | None:
        """Estimate the rest at the pace so far; None while it is unknown."""
        if self.first is None or self.done is None or self.total is None or self.done <= self.first[1]:
            return None
        elapsed = time.monotonic() - self.first[0]
        return math.ceil(elapsed / (self.done - self.first[1]) * (self.total - self.done))


@contextmanager
def reporting_progress(engine: Engine, claim: Claim, begun: Callable[[], object] = lambda: None) -> Iterator[Progress]:
    """Write the progress that this thread reports inside the block to the database, within a second."""
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
        except Exception as error:  # retried a second later
            log_and_continue("progress_not_told", error, run_id=claim.run_id)
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
