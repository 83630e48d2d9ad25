"""Delivery of webhooks beside the sweep: in a thread of its own, since receivers may take their time."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime

from sqlalchemy import Engine

from app.base.config import Settings
from app.base.db import reading, writing
from app.base.logs import log
from app.webhooks.due import forget_deliveries, is_any_due
from app.webhooks.ending import end_of_blocked, webhooks_of_blocked
from workers.faults import log_and_continue
from workers.tables import tables_fit

#: Interval between looks for what is due.
ROUND_SECONDS = 3.0
#: Interval between deletions of old deliveries.
FORGET_SECONDS = 3600.0
#: Time for deliveries in progress when the server stops; otherwise they are sent again later.
STOP_SECONDS = 2.0


@contextmanager
def delivering(engine: Engine, settings: Settings) -> Iterator[None]:
    """Send news to webhooks while the block runs."""
    stop = threading.Event()
    thread = threading.Thread(target=_rounds, args=(engine, settings, stop), name="webhooks", daemon=True)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join(STOP_SECONDS)


def _rounds(engine: Engine, settings: Settings, stop: threading.Event) -> None:
    forget_at = time.monotonic()
    while not stop.is_set():
        try:
            if tables_fit(engine):
                _end(engine, settings)
                _send(engine, settings, stop)
            if time.monotonic() >= forget_at:
                with writing(engine) as session:
                    forget_deliveries(session, settings, _now())
                forget_at = time.monotonic() + FORGET_SECONDS
        except Exception as error:  # the next round does the same work
            log_and_continue("webhooks_failed", error)
        stop.wait(ROUND_SECONDS)


def _end(engine: Engine, settings: Settings) -> None:
    """Disable the webhooks of people who are blocked by now."""
    with reading(engine) as session:
        if not webhooks_of_blocked(session):
            return
    with writing(engine) as session:
        ended = end_of_blocked(session, settings, _now())
    log.info("webhooks_of_blocked_disabled", webhooks=ended)


def _send(engine: Engine, settings: Settings, stop: threading.Event) -> None:
    """Send all that is due; each round of the sender takes one for each webhook."""
    while not stop.is_set():
        with reading(engine) as session:
            if not is_any_due(session, _now()):
                return
        from app.news.sending import send_due  # loads boards and all else that there can be news of

        if not send_due(engine, settings, _now):
            return


def _now() -> datetime:
    return datetime.now(UTC)
