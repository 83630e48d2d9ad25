"""The sweep: what crashes, lost messages and silent workers leave behind is repaired from the database.

A process of its own (`evergold sweep`) and not a Celery task: it must do its work while the broker is away, too.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Sequence
from datetime import UTC, datetime

import structlog
from sqlalchemy import Engine
from sqlalchemy.exc import SQLAlchemyError

from app.config import get_settings
from app.db import get_engine, writing
from app.logs import configure_logging
from app.queue import send_run
from app.runs import mark_sent, requeue_lost_runs
from scoring.tasks import TASKS

log = structlog.get_logger(__name__)


def sweep(engine: Engine, now: datetime) -> int:
    """Repair once; returns how many waiting runs workers were told about again."""
    with writing(engine) as session:
        waiting = requeue_lost_runs(session, attempts=get_settings().attempts, now=now)
    sent = _announce(waiting)
    if sent:
        with writing(engine) as session:
            mark_sent(session, sent, now)
        log.info("sweep_announced", runs=len(sent))
    return len(sent)


def _announce(waiting: Sequence[tuple[int, str]]) -> list[int]:
    sent = []
    for run_id, task_type in waiting:
        task = TASKS.get(task_type)
        if not send_run(run_id, needs_gpu=task is not None and task.needs_gpu):
            break  # the broker is down: the others would fail as well, and are tried again by the next sweep
        sent.append(run_id)
    return sent


def main() -> None:
    """Sweep at once and then every `sweep_seconds`, until told to stop."""
    stop = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stop.set())
    configure_logging()
    settings = get_settings()
    engine = get_engine(settings.database_address)
    while not stop.is_set():
        try:
            sweep(engine, datetime.now(UTC))
        except SQLAlchemyError as error:
            log.warning("sweep_failed", error=str(error))  # the next one does the same work
        stop.wait(settings.sweep_seconds)


if __name__ == "__main__":
    main()
