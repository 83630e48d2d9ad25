"""Threads that run during a scoring run: one renews its lease, one writes its progress once a second."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from typing import TypeVar

from sqlalchemy import Engine
from sqlalchemy.exc import InterfaceError, OperationalError
from sqlalchemy.orm import Session

from app.base.db import writing
from app.base.logs import log, log_and_continue
from app.runs.claims import Claim, note_progress, renew_lease
from app.runs.validations import CheckClaim, renew_check
from evergold.scoring.progress import progress_to

#: Interval between writes of progress, often enough for somebody who watches the page.
TELL_SECONDS = 1.0


class ClaimLost(Exception):
    """The run was given to another worker."""


@dataclass
class Progress:
    """The progress of a run.

    first: time and item count of the first report, from which the speed is computed.
    begun: called at the first report.
    """

    checked_at: datetime | None = None
    done: int | None = None
    total: int | None = None
    first: tuple[float, int] | None = None
    is_lost: bool = False
    begun: Callable[[], object] = lambda: None

    def checked(self) -> None:
        """Record that the file is valid and scoring starts."""
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
        """Return the estimated remaining seconds at the current speed; None while it is unknown."""
        if self.first is None or self.done is None or self.total is None or self.done <= self.first[1]:
            return None
        elapsed = time.monotonic() - self.first[0]
        return math.ceil(elapsed / (self.done - self.first[1]) * (self.total - self.done))


@contextmanager
def reporting_progress(engine: Engine, claim: Claim, begun: Callable[[], object] = lambda: None) -> Iterator[Progress]:
    """Write the progress that this thread reports inside the block to the database, at most a second later."""
    progress, stop = Progress(begun=begun), threading.Event()
    thread = threading.Thread(
        target=_write_progress, args=(engine, claim, progress, stop), name="progress", daemon=True
    )
    thread.start()
    try:
        with progress_to(progress.report):
            yield progress
    finally:
        stop.set()
        thread.join()


def _write_progress(engine: Engine, claim: Claim, progress: Progress, stop: threading.Event) -> None:
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


#: Number of renewals per lease, so that one slow write does not lose it.
RENEWALS_PER_LEASE = 3
#: Interval between retries while the database is away.
ASK_AGAIN_SECONDS = 0.5

T = TypeVar("T")


@contextmanager
def renewing_lease(engine: Engine, claim: Claim | CheckClaim, lease_seconds: float) -> Iterator[None]:
    """Renew the lease until the block ends. If it is lost, the block continues, but its result is not recorded."""
    named = {"run_id": claim.run_id} if isinstance(claim, Claim) else {"validation_id": str(claim.validation_id)}
    with renewing(engine, partial(_renew, claim=claim, lease_seconds=lease_seconds), lease_seconds, **named):
        yield


@contextmanager
def renewing(
    engine: Engine, renew: Callable[[Session], bool], lease_seconds: float, **names: int | str
) -> Iterator[None]:
    """Call `renew` repeatedly until the block ends or the lease is lost. names: fields for the log."""
    stop = threading.Event()
    beat = partial(_beat, engine, renew, lease_seconds, stop, names)
    thread = threading.Thread(target=beat, name="lease", daemon=True)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()


def retry_while_db_down(transaction: Callable[[], T], lease_seconds: float) -> T:
    """Return the result of the transaction; while the database is down, retry for as long as a lease lasts.

    Hours of scoring must not be lost because of a restart of seconds. Repeating a transaction that was committed when
    the
    connection broke is harmless: the claim's token is invalid by then.
    """
    give_up_at = time.monotonic() + lease_seconds
    while True:
        try:
            return transaction()
        except (OperationalError, InterfaceError) as error:
            if time.monotonic() >= give_up_at:
                raise
            log.warning("database_away", error=str(error.orig))
        time.sleep(ASK_AGAIN_SECONDS)


def _beat(
    engine: Engine,
    renew: Callable[[Session], bool],
    lease_seconds: float,
    stop: threading.Event,
    names: Mapping[str, int | str],
) -> None:
    while not stop.wait(lease_seconds / RENEWALS_PER_LEASE):
        try:
            with writing(engine) as session:
                ours = renew(session)
        except Exception as error:  # any error, even out of memory: the next beat tries again
            log_and_continue("lease_not_renewed", error, **names)
            continue
        if not ours:
            log.warning("lease_lost", **names)
            return


def _renew(session: Session, *, claim: Claim | CheckClaim, lease_seconds: float) -> bool:
    now = datetime.now(UTC)
    if isinstance(claim, CheckClaim):
        return renew_check(session, claim, lease_seconds=lease_seconds, now=now)
    return renew_lease(session, claim, lease_seconds=lease_seconds, now=now)
