"""The heartbeat of a run, a thread that renews its lease while it is scored, and retries while the database is away."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import partial
from typing import TypeVar

from sqlalchemy import Engine
from sqlalchemy.exc import InterfaceError, OperationalError
from sqlalchemy.orm import Session

from app.base.db import writing
from app.base.logs import log
from app.runs.claims import Claim, renew_lease
from app.runs.validations import CheckClaim, renew_check
from workers.faults import log_and_continue

#: Renewed this many times per lease, so that one slow write does not lose it.
RENEWALS_PER_LEASE = 3
#: Interval between retries while the database is away.
ASK_AGAIN_SECONDS = 0.5

T = TypeVar("T")


@contextmanager
def renewing_lease(engine: Engine, claim: Claim | CheckClaim, lease_seconds: float) -> Iterator[None]:
    """Renew the lease until the block ends. Losing it does not stop the block, but the result is not recorded."""
    whose = {"run_id": claim.run_id} if isinstance(claim, Claim) else {"validation_id": str(claim.validation_id)}
    with renewing(engine, partial(_renew, claim=claim, lease_seconds=lease_seconds), lease_seconds, **whose):
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
    """Return the result of the transaction; retry while the database is away, for as long as a lease lasts.

    Hours of scoring must not be lost to a restart of seconds. Repeating a transaction that was committed as the
    connection broke is harmless: the claim's token is void by then.
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
