"""Wakes workers: the only place that knows the Celery tasks' names. The database is the queue; a message says that
something waits, and `app.runs.turns` what is next.

Losing a message loses nothing (the sweep sends it again), so a broker that is down is logged and survived. Celery is
imported with the first message: it takes longer to load than all else that the web process needs to start.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import UUID

import structlog

from app.base.config import get_settings

if TYPE_CHECKING:
    from celery import Celery

TURN_TASK = "workers.turns.take_turn"
GOLD_TASK = "workers.version_check.check_gold_version"
STATISTICS_TASK = "workers.board_statistics.compute_statistics"
CPU_QUEUE = "cpu"
GPU_QUEUE = "gpu"
#: A priority of Celery's on Redis, where 0 goes first and is what a message has that says nothing.
LATER = 9
_WAIT_SECONDS = 2
#: A send that failed after so long means a broker that hangs; one that is down refuses at once and costs nothing …
_SLOW_SECONDS = 0.5
#: … and is left alone for this time, so that not every upload waits for it: the sweep sends those messages.
PAUSE_SECONDS = 5.0

log = structlog.get_logger(__name__)


def broker_settings(broker_url: str, data_dir: Path) -> dict[str, Any]:
    """Celery's address of the broker, or a folder of files where no broker was named."""
    if broker_url:
        return {"broker_url": broker_url, "broker_transport_options": {}}
    folders = {name: str((data_dir / "broker" / name).resolve()) for name in ("messages", "processed", "control")}
    for folder in folders.values():
        Path(folder).mkdir(parents=True, exist_ok=True)
    return {
        "broker_url": "filesystem://",
        "broker_transport_options": {
            "data_folder_in": folders["messages"],
            "data_folder_out": folders["messages"],
            "processed_folder": folders["processed"],
            "control_folder": folders["control"],
            "store_processed": False,
            "polling_interval": 0.1,
        },
    }


@dataclass
class _Sender:
    """The connection to the broker. `turn`: one sends at a time, so that nobody waits twice for a broker that hangs."""

    celery: Celery
    turn: threading.Lock = field(default_factory=threading.Lock)
    paused_until: float = 0.0  # monotonic

    def close(self) -> None:
        self.celery.close()

    def attempt(self, act: Callable[[], bool], down: tuple[type[Exception], ...], **logged: int | str) -> bool | None:
        """What `act` says; False where the broker is down, which is logged; None while one that hung is left alone."""
        with self.turn:
            began = time.monotonic()
            if began < self.paused_until:
                return None
            try:
                return act()
            except down as error:
                if time.monotonic() - began > _SLOW_SECONDS:
                    self.paused_until = time.monotonic() + PAUSE_SECONDS
                log.warning("broker_down", error=str(error), **logged)
                return False


def send_run(run_id: int, *, needs_gpu: bool = False, later: bool = False) -> bool:
    """Tell a worker about a queued run; False when the broker is down, which is logged and left to the sweep.

    later: after everything that is not; a broker of files knows no such order.
    """
    return _turn(run_id, needs_gpu, LATER if later else None, run_id=run_id)


def send_validation(validation_id: UUID, *, needs_gpu: bool = False) -> bool:
    """Tell a worker about a file to check; False as for runs."""
    return _turn(str(validation_id), needs_gpu, None, validation_id=str(validation_id))


def send_gold_check(version_id: int) -> bool:
    """Tell a worker about a version of gold to look at before it is used; False as for runs."""
    return _send(GOLD_TASK, (version_id,), CPU_QUEUE, None, gold_version_id=version_id)


def send_statistics(phase_task_id: int) -> bool:
    """Tell a worker, after everything else, that boards of a task have changed; False as for runs."""
    return _send(STATISTICS_TASK, (phase_task_id,), CPU_QUEUE, LATER, phase_task_id=phase_task_id)


def _turn(announced: int | str, needs_gpu: bool, priority: int | None, **logged: int | str) -> bool:
    queue = GPU_QUEUE if needs_gpu else CPU_QUEUE
    return _send(TURN_TASK, (announced, queue), queue, priority, **logged)


def _send(task: str, arguments: tuple[int | str, ...], queue: str, priority: int | None, **logged: int | str) -> bool:
    from kombu.exceptions import OperationalError

    sender = _sender()

    def send() -> bool:
        sender.celery.send_task(task, args=list(arguments), queue=queue, priority=priority, retry=False)
        return True

    sent = sender.attempt(send, (OperationalError, OSError), **logged)
    if sent is None:
        log.info("broker_passed_over", **logged)
    return sent is True


def took_turn_message(queue: str) -> bool:
    """Take the next message out of Redis or Valkey, if it calls for a turn, for one who can take that at once.

    Otherwise it comes through Celery's main process, which costs as much as a tenth of a short run. False: there is
    none, another kind is next, the broker is one of files, or away.
    """
    if "redis" not in get_settings().broker_url:
        return False
    from kombu.exceptions import KombuError
    from redis.exceptions import RedisError

    sender = _sender()

    def take() -> bool:
        with sender.celery.pool.acquire() as connection:
            channel = connection.default_channel
            return _took_first(channel.client, (queue, f"{queue}{channel.sep}{LATER}"))

    return sender.attempt(take, (RedisError, KombuError, OSError)) is True


def _took_first(client: Any, lists: Sequence[str]) -> bool:
    """Whether what goes first in these lists called for a turn, and was ours to remove."""
    for name in lists:
        oldest = client.lindex(name, -1)
        if oldest is not None:
            is_turn = json.loads(oldest)["headers"].get("task") == TURN_TASK
            return is_turn and bool(client.lrem(name, -1, oldest) == 1)
    return False


def has_messages(queue: str) -> bool | None:
    """Whether the broker holds a message that no worker has taken yet; None when it does not answer."""
    from kombu.exceptions import ChannelError, OperationalError

    sender = _sender()
    with sender.turn:
        if time.monotonic() < sender.paused_until:
            return None
        connection = sender.celery.connection_for_read()  # not out of the pool: that one may be dead
        try:
            with connection:
                declared = connection.default_channel.queue_declare(queue, passive=True)
        except ChannelError:  # no such queue: so looks an empty one on Redis
            return False
        except (OperationalError, OSError, *connection.connection_errors):
            return None  # logged when the next message is sent
    return bool(declared.message_count > 0)


def import_celery() -> None:
    """Now, beside other work, so that the first upload does not wait for it."""
    import celery.app.amqp  # noqa: F401 - for its effect
    import kombu.transport.redis  # noqa: F401 - for its effect


@lru_cache(maxsize=1)
def _sender() -> _Sender:
    from celery import Celery

    settings = get_settings()
    broker = broker_settings(settings.broker_url, settings.data_dir)
    if "redis" in broker["broker_url"]:  # a participant never waits for a broker that hangs
        broker["broker_transport_options"] = {
            "socket_connect_timeout": _WAIT_SECONDS,
            "socket_timeout": _WAIT_SECONDS,
            "max_retries": 0,  # nor for one that is down: trying again is the sweep's work
        }
    app = Celery("evergold", set_as_current=False)
    app.conf.update(task_ignore_result=True, broker_connection_retry=False, broker_pool_limit=4, **broker)
    return _Sender(app)
