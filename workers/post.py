"""The mail sender: a thread of the sweep that sends the outbox, so that a slow mail server delays no lost run."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime

from sqlalchemy import Engine

from app.base.config import Settings
from app.base.db import writing
from app.people.mail import forget_ended
from app.people.mail_delivery import send_waiting
from workers.faults import log_and_continue
from workers.tables import tables_fit

#: Interval between looks into the outbox: users may be waiting for a link.
ROUND_SECONDS = 3.0
#: Interval between deletions of old mails.
FORGET_SECONDS = 3600.0
#: Time for a mail in progress when the server stops; otherwise it is sent again later.
STOP_SECONDS = 2.0


@contextmanager
def posting(engine: Engine, settings: Settings) -> Iterator[None]:
    """Send mail while the block runs."""
    stop = threading.Event()
    thread = threading.Thread(target=_rounds, args=(engine, settings, stop), name="post", daemon=True)
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
                send_waiting(engine, settings, _now)
            if time.monotonic() >= forget_at:
                with writing(engine) as session:
                    forget_ended(session, _now())
                forget_at = time.monotonic() + FORGET_SECONDS
        except Exception as error:  # the next round does the same work
            log_and_continue("post_failed", error)
        stop.wait(ROUND_SECONDS)


def _now() -> datetime:
    return datetime.now(UTC)
