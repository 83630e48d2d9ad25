"""The background process of a worker: statistics, checks of gold, archives; one job at a time, at the lowest priority.

It has a separate queue, so that no check or run waits for its jobs. It can be killed at any time without loss:
`workers.background_process` restarts it, and the sweep sends unfinished jobs again.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Callable
from typing import Any

from app.base.brokers import BROKER_ERRORS
from app.base.config import get_settings
from app.base.db import get_engine
from app.base.logs import configure_logging, log, log_and_continue, log_libraries
from app.base.queue import ARCHIVE_TASK, GOLD_TASK, STATISTICS_TASK, take_background_message
from workers.apart import Apart, Run
from workers.archives import make_archive
from workers.board_statistics import compute_statistics
from workers.garbage import collect_rarely
from workers.store_keeper import end_with_parent
from workers.tables import tables_fit
from workers.version_check import check_gold_version

#: Interval between polls of the queue, and the pause after the broker was unreachable.
LOOK_SECONDS, AWAY_SECONDS = 0.2, 5.0

TASKS: dict[str, Callable[[int, Run[Any]], None]] = {
    GOLD_TASK: check_gold_version,
    STATISTICS_TASK: compute_statistics,
    ARCHIVE_TASK: make_archive,
}


def main() -> None:
    """Process messages until stopped or until the worker has ended."""
    collect_rarely()
    parent, stopped = int(sys.argv[1]), threading.Event()
    end_with_parent()
    signal.signal(signal.SIGTERM, lambda *_: stopped.set())
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # a terminal sends it to both processes, and the worker stops this one
    configure_logging()
    log_libraries()
    work(stopped, lambda: os.getppid() == parent)


def work(stopped: threading.Event, goes_on: Callable[[], bool]) -> None:
    """Process one message after another while `goes_on` returns True and `stopped` is not set."""
    engine = get_engine(get_settings().database_address)
    apart = Apart(stopped, engine)
    is_away = False
    while goes_on() and not stopped.is_set():
        if not tables_fit(engine):
            stopped.wait(AWAY_SECONDS)
            continue
        try:
            message = take_background_message()
        except BROKER_ERRORS as error:
            if not is_away:
                log.warning("broker_down", error=str(error))
            is_away = True
            stopped.wait(AWAY_SECONDS)
            continue
        is_away = False
        if message is None:
            stopped.wait(LOOK_SECONDS)
        else:
            perform(*message, apart.run)


def perform(task: str, number: int, run: Run[Any]) -> None:
    """Run one job. Errors are logged; the sweep sends the job again."""
    try:
        TASKS[task](number, run)
    except Exception as error:
        log_and_continue("background_failed", error, task=task, number=number)


if __name__ == "__main__":
    main()
