"""The background process of a worker: computes statistics and checks gold, one at a time, at the lowest priority.

It takes its messages from a queue of its own, so that no check and no run ever waits behind one. Killed anywhere, it
loses nothing: `workers.background_process` starts it again, and the sweep sends what was not ended.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable

from app.base.logs import configure_logging, log, log_libraries
from app.base.queue import GOLD_TASK, STATISTICS_TASK, take_background_message
from workers.board_statistics import compute_statistics
from workers.faults import survived
from workers.interruption import Interrupted, stop, stopped
from workers.store_keeper import end_with_parent
from workers.version_check import check_gold_version

#: Added to the worker's own, which scores.
NICENESS = 10
#: How often the queue is looked into, and how long a broker that is away is left alone.
LOOK_SECONDS, AWAY_SECONDS = 0.2, 5.0
#: The process ends where one piece of work takes longer, as nothing else would end what hangs.
LONGEST_SECONDS = 2 * 3600

TASKS: dict[str, Callable[[int], None]] = {GOLD_TASK: check_gold_version, STATISTICS_TASK: compute_statistics}


def main() -> None:
    """Work until told to stop, or until the worker is gone."""
    parent = int(sys.argv[1])
    end_with_parent()
    signal.signal(signal.SIGTERM, stop)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # a terminal sends it to both, and the worker tells this one
    os.nice(NICENESS)
    configure_logging()
    log_libraries()
    work(lambda: os.getppid() == parent)


def work(goes_on: Callable[[], bool]) -> None:
    """Take one message after the other while this goes on."""
    is_away = False
    while goes_on() and not stopped.is_set():
        try:
            message = take_background_message()
        except OSError as error:
            if not is_away:
                log.warning("broker_down", error=str(error))
            is_away = True
            stopped.wait(AWAY_SECONDS)
            continue
        is_away = False
        if message is None:
            stopped.wait(LOOK_SECONDS)
        else:
            perform(*message)


def perform(task: str, number: int) -> None:
    """Do one piece of work; what goes wrong is logged, and sent again by the sweep."""
    signal.alarm(LONGEST_SECONDS)
    try:
        TASKS[task](number)
    except Interrupted:
        log.info("background_interrupted", task=task, number=number)
    except Exception as error:
        survived("background_failed", error, task=task, number=number)
    finally:
        signal.alarm(0)


if __name__ == "__main__":
    main()
