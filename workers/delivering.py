"""Delivers webhooks next to the sweep, in a separate thread because receivers may respond slowly."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime

from sqlalchemy import Engine

from app.base.config import Settings
from app.base.db import reading, writing
from app.base.logs import continuing, log
from app.webhooks.due import forget_deliveries, is_any_due
from app.webhooks.ending import end_of_blocked, webhooks_of_blocked
from workers.rounds import rounds


@contextmanager
def delivering(engine: Engine, settings: Settings) -> Iterator[None]:
    """Send news to webhooks while the block runs."""

    def end(stop: threading.Event) -> None:
        _end(engine, settings)

    def send(stop: threading.Event) -> None:
        _send(engine, settings, stop)

    def forget() -> None:
        with writing(engine) as session:
            forget_deliveries(session, settings, _now())

    with rounds("webhooks", engine, (end, send), forget):
        yield


def _end(engine: Engine, settings: Settings) -> None:
    """Disable the webhooks of people who have been blocked."""
    with reading(engine) as session:
        found = webhooks_of_blocked(session)
    for webhook_id in found:
        with continuing("webhook_not_disabled", webhook_id=webhook_id), writing(engine) as session:
            if end_of_blocked(session, webhook_id, settings, _now()):
                log.info("webhook_of_blocked_disabled", webhook_id=webhook_id)


def _send(engine: Engine, settings: Settings, stop: threading.Event) -> None:
    """Send everything that is due; each round sends one delivery per webhook."""
    while not stop.is_set():
        with reading(engine) as session:
            if not is_any_due(session, _now()):
                return
        from app.news.sending import send_due  # loads boards and all else that there can be news of

        if not send_due(engine, settings, _now):
            return


def _now() -> datetime:
    return datetime.now(UTC)
