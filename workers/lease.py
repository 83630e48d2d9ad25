"""The heartbeat of a run: a thread that renews its lease while the scoring process lives."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime

import structlog
from sqlalchemy import Engine
from sqlalchemy.exc import SQLAlchemyError

from app.db import writing
from app.runs import Claim, renew_lease

#: Renewed this many times per lease, so that one slow write does not lose it.
RENEWALS_PER_LEASE = 3

log = structlog.get_logger(__name__)


@contextmanager
def kept_alive(engine: Engine, claim: Claim, lease_seconds: float) -> Iterator[None]:
    """Renew the lease until the block ends. Losing it does not stop the block: its result will not be recorded."""
    stop = threading.Event()
    thread = threading.Thread(target=_beat, args=(engine, claim, lease_seconds, stop), name="lease", daemon=True)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()


def _beat(engine: Engine, claim: Claim, lease_seconds: float, stop: threading.Event) -> None:
    while not stop.wait(lease_seconds / RENEWALS_PER_LEASE):
        try:
            with writing(engine) as session:
                ours = renew_lease(session, claim, lease_seconds=lease_seconds, now=datetime.now(UTC))
        except SQLAlchemyError as error:
            log.warning("lease_not_renewed", run_id=claim.run_id, error=str(error))  # tried again at the next beat
            continue
        if not ours:
            log.warning("lease_lost", run_id=claim.run_id)
            return
