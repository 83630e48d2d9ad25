"""Wakes workers; the only module that knows the names of the Celery tasks.

The database is the queue: a message only announces work, and `app.runs.claims` decides what is next. A lost message is
sent again by the sweep, so failures while the broker is down are logged and ignored.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache, partial
from uuid import UUID

from app.base.brokers import BROKER_ERRORS, LATER, Broker, broker_of, celery_message, read_message
from app.base.config import get_settings
from app.base.db import in_batches
from app.base.logs import log

TURN_TASK = "workers.turns.take_turn"
GOLD_TASK = "check_gold"
STATISTICS_TASK = "compute_statistics"
ARCHIVE_TASK = "make_archive"
CPU_QUEUE = "cpu"
GPU_QUEUE = "gpu"
#: Not a Celery queue: a worker's background process takes these messages itself, see `workers.background`.
BACKGROUND_QUEUE = "background"
#: The longest that a participant waits for a broker that hangs.
_WAIT_SECONDS = 2
#: A send that fails after this time means that the broker hangs; one that is down refuses at once and costs nothing …
_SLOW_SECONDS = 0.5
#: … and is not used for this time, so that not every upload waits for it: the sweep sends those messages.
PAUSE_SECONDS = 5.0
#: Messages per command: some hundred kilobytes.
_AT_ONCE = 500


@dataclass
class _Sender:
    """Sends messages to the broker. turn: lock that lets one thread send at a time, so that only one waits for a
    hanging broker.
    """

    broker: Broker
    turn: threading.Lock = field(default_factory=threading.Lock)
    paused_until: float = 0.0  # monotonic

    def close(self) -> None:
        self.broker.close()

    def attempt(self, act: Callable[[], bool], **logged: int | str) -> bool | None:
        """Return the result of `act`; False if the broker is down, which is logged; None during the pause after it
        hung.
        """
        with self.turn:
            began = time.monotonic()
            if began < self.paused_until:
                return None
            try:
                return act()
            except BROKER_ERRORS as error:
                if time.monotonic() - began > _SLOW_SECONDS:
                    self.paused_until = time.monotonic() + PAUSE_SECONDS
                log.warning("broker_down", error=str(error), **logged)
                return False


def send_run(run_id: int, *, needs_gpu: bool = False, later: bool = False) -> bool:
    """Announce a queued run to workers; return False if the broker is down, which is logged and left to the sweep.

    later: after all messages without this flag; a broker of files ignores it.
    """
    return _turn(run_id, needs_gpu, LATER if later else 0, run_id=run_id)


def send_runs(runs: Sequence[tuple[int, bool]], *, later: bool = False) -> list[int]:
    """Announce queued runs to workers in batches; return the ids of those sent. runs: ids, each with True if the run
    needs a GPU; later: after all messages without this flag.
    """
    sent: list[int] = []
    priority = LATER if later else 0
    for queue in (CPU_QUEUE, GPU_QUEUE):
        waiting = [run_id for run_id, needs_gpu in runs if _queue_for(needs_gpu) == queue]
        for some in in_batches(waiting, _AT_ONCE):
            if not _send(TURN_TASK, [(run_id, queue) for run_id in some], queue, priority, runs=len(some)):
                return sent  # the broker is down: the others would fail as well, and are left to the sweep
            sent += some
    return sent


def send_validation(validation_id: UUID, *, needs_gpu: bool = False) -> bool:
    """Announce a file to validate; return False as for runs."""
    return _turn(str(validation_id), needs_gpu, 0, validation_id=str(validation_id))


def send_gold_check(version_id: int) -> bool:
    """Announce a gold version to check before its first use; return False as for runs."""
    return _send(GOLD_TASK, [(version_id,)], BACKGROUND_QUEUE, 0, gold_version_id=version_id)


def send_statistics(phase_task_id: int) -> bool:
    """Announce changed boards of a task, after all gold checks; return False as for runs."""
    return _send(STATISTICS_TASK, [(phase_task_id,)], BACKGROUND_QUEUE, LATER, phase_task_id=phase_task_id)


def send_archive(archive_id: int) -> bool:
    """Announce an archive of a user's data to create, after all gold checks; return False as for runs."""
    return _send(ARCHIVE_TASK, [(archive_id,)], BACKGROUND_QUEUE, LATER, archive_id=archive_id)


def _turn(announced: int | str, needs_gpu: bool, priority: int, **logged: int | str) -> bool:
    queue = _queue_for(needs_gpu)
    return _send(TURN_TASK, [(announced, queue)], queue, priority, **logged)


def _queue_for(needs_gpu: bool) -> str:
    return GPU_QUEUE if needs_gpu else CPU_QUEUE


def _send(task: str, each: Sequence[tuple[int | str, ...]], queue: str, priority: int, **logged: int | str) -> bool:
    """Send one message for each tuple of arguments, all at once; return whether they were sent."""
    sender = _sender()

    def send() -> bool:
        messages = [celery_message(task, arguments, queue, priority) for arguments in each]
        sender.broker.send(messages, queue, priority)
        return True

    sent = sender.attempt(send, **logged)
    if sent is None:
        log.info("broker_passed_over", **logged)
    return sent is True


def pop_message(queue: str) -> bool:
    """Take the next message from Redis or Valkey if it announces a turn, and return True; the caller then runs the
    turn.

    Otherwise it would pass through Celery's main process, which takes up to a tenth of a short run. Returns False if
    there is no message, the next one is of another kind, or the broker uses files or is unreachable.
    """
    sender = _sender()
    return sender.attempt(partial(sender.broker.took, queue, TURN_TASK)) is True


def take_background_message() -> tuple[str, int] | None:
    """Take the next message of the background queue; return its task and id.

    None if there is none, or it is malformed, which is logged. Raises BROKER_ERRORS if the broker is unreachable.
    """
    message = _sender().broker.take(BACKGROUND_QUEUE)
    if message is None:
        return None
    try:
        task, (number,) = read_message(message)
        return task, int(number)
    except (ValueError, KeyError, TypeError):
        log.warning("message_not_understood", queue=BACKGROUND_QUEUE)
        return None


def has_messages(queue: str) -> bool | None:
    """Return whether the broker has messages that were not taken yet; None if it does not respond."""
    sender = _sender()
    with sender.turn:
        if time.monotonic() < sender.paused_until:
            return None
        try:
            return sender.broker.waiting(queue) > 0
        except BROKER_ERRORS:
            return None  # logged with the next message


@lru_cache(maxsize=1)
def _sender() -> _Sender:
    settings = get_settings()
    return _Sender(broker_of(settings.broker_url, settings.data_dir, _WAIT_SECONDS))
