"""Celery, used only to wake workers, with a reason for each setting. The queue itself is in the database."""

from __future__ import annotations

import gc
import math
from contextlib import suppress
from importlib import import_module
from typing import Any

from celery import Celery, Task
from celery.signals import setup_logging, worker_init, worker_process_init
from kombu.entity import Queue
from kombu.transport import redis, virtual
from sqlalchemy import Engine, select
from sqlalchemy.exc import SQLAlchemyError

from app.base.brokers import broker_settings
from app.base.config import get_settings
from app.base.db import dispose_engines, get_engine, reading
from app.base.logs import configure_logging, log_libraries
from app.base.queue import CPU_QUEUE, GPU_QUEUE
from app.base.traces import start_traces
from app.models import CompetitionTask
from evergold.scoring.tasks import TASKS
from workers.overrun import AROUND_PROGRAMS
from workers.sandbox.settings import sandbox_settings
from workers.tables import tables_fit


class QoS(redis.QoS):
    """The unacknowledged messages of a channel."""

    def ack(self, delivery_tag: str) -> None:
        try:
            self._remove_from_indices(delivery_tag).execute()
        finally:
            virtual.QoS.ack(self, delivery_tag)


def free_places_of_lost_messages() -> None:
    """Use `QoS` for every Redis or Valkey connection of this process."""
    redis.Channel.QoS = QoS


free_places_of_lost_messages()
settings = get_settings()
#: Longer than all time limits, which `workers.overrun` enforces from within.
LAST_RESORT_SECONDS = 60 + max(
    settings.encoding_limit_seconds,
    settings.check_limit_seconds,
    settings.run_limit_seconds + math.ceil(sandbox_settings().seconds) + AROUND_PROGRAMS,
)


class CarefulTask(Task):  # type: ignore[misc]  # Celery has no types
    """A task that does nothing if the tables have another revision; the sweep then notifies another worker."""

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        if tables_fit(get_engine(get_settings().database_address)):
            return super().__call__(*arguments, **named)
        return None


app = Celery("evergold", include=["workers.turns"], task_cls=CarefulTask)
app.conf.update(
    **broker_settings(settings.broker_url, settings.data_dir),
    task_ignore_result=True,  # results go to the database, in the run's own transaction
    task_queues=[Queue(CPU_QUEUE), Queue(GPU_QUEUE)],
    task_default_queue=CPU_QUEUE,
    task_acks_late=False,  # the sweep sends lost messages again; redelivery would only duplicate them
    worker_prefetch_multiplier=1,  # a waiting run stays free for the first idle worker
    task_serializer="json",
    accept_content=["json"],  # never pickle
    broker_connection_retry_on_startup=True,  # a worker may start before its broker
    broker_connection_max_retries=None,  # and outlive it
    worker_cancel_long_running_tasks_on_connection_loss=False,  # scoring needs no broker: let it finish
    task_time_limit=LAST_RESORT_SECONDS,  # for a process that its own watchdog could not end; its lease then expires
    worker_enable_remote_control=False,  # nobody can stop or inspect workers through the broker
    worker_send_task_events=False,
    enable_utc=True,
)


@setup_logging.connect
def log_celery(**_: Any) -> None:
    """Replace Celery's logging. It logs no messages received and done, because every task logs its result."""
    log_libraries(info=("celery",), warning=("celery.worker.strategy", "celery.app.trace"))


@worker_init.connect
def prepare_to_fork(**_: Any) -> None:
    """Load the modules that all children need once, in the worker's main process, so that they share the memory."""
    engine = get_engine(get_settings().database_address)
    prepare_for_runs(engine)
    engine.dispose()  # no connection is shared across a fork


@worker_process_init.connect
def prepare_process(**_: Any) -> None:
    """Reset a new child: engines must not cross a fork, and the first run should not wait for imports."""
    configure_logging()
    dispose_engines(close=False)
    engine = get_engine(get_settings().database_address)
    start_traces("worker", engine)
    prepare_for_runs(engine)


def prepare_for_runs(engine: Engine) -> None:
    """Preload what runs need and freeze the garbage collector."""
    with suppress(SQLAlchemyError):  # the database may be away, or a task type unknown here: runs report that
        load_declared_task_types(engine)
    gc.collect()
    gc.freeze()


def load_declared_task_types(engine: Engine) -> None:
    """Load numpy and the task types that competitions on this server use; others would waste memory."""
    import_module("numpy")  # not every task type imports it immediately; PARSEME's reader is faster once it is loaded
    with reading(engine) as session:
        names = session.scalars(select(CompetitionTask.task_type).distinct()).all()
    for name in names:
        TASKS.get(name)
