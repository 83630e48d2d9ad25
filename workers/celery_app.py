"""Celery as the bell that wakes workers: each setting with its reason. The queue itself is the database."""

from __future__ import annotations

import gc
from contextlib import suppress
from importlib import import_module
from typing import Any

from celery import Celery, Task
from celery.signals import setup_logging, worker_init, worker_process_init
from kombu.entity import Queue
from sqlalchemy import Engine, select
from sqlalchemy.exc import SQLAlchemyError

from app.base.brokers import broker_settings
from app.base.config import get_settings
from app.base.db import forget_engines, get_engine, reading
from app.base.logs import configure_logging, log_libraries
from app.base.queue import CPU_QUEUE, GPU_QUEUE
from app.models import CompetitionTask
from evergold.scoring.tasks import TASKS
from workers.acknowledgement import free_places_of_lost_messages
from workers.tables import tables_fit

free_places_of_lost_messages()
settings = get_settings()
#: Behind all bounds of time, which `workers.overrun` watches from within.
LAST_RESORT_SECONDS = 60 + max(
    settings.run_limit_seconds, settings.encoding_limit_seconds, settings.check_limit_seconds
)


class CarefulTask(Task):  # type: ignore[misc]  # Celery has no types
    """One that does nothing on tables of another revision: the sweep sends its message again to a worker that may."""

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
    task_acks_late=False,  # a lost message is sent again by the sweep; redelivery would only double them
    worker_prefetch_multiplier=1,  # a waiting run stays free for whichever worker is idle first
    task_serializer="json",
    accept_content=["json"],  # never pickle
    broker_connection_retry_on_startup=True,  # a worker may start before its broker
    broker_connection_max_retries=None,  # and outlive it
    worker_cancel_long_running_tasks_on_connection_loss=False,  # scoring needs no broker: let it finish
    task_time_limit=LAST_RESORT_SECONDS,  # a process that not even its own watch could end; its lease then runs out
    worker_enable_remote_control=False,  # nobody can stop or inspect workers through the broker
    worker_send_task_events=False,
    enable_utc=True,
)


#: A run makes many objects that live until it ends, and hardly a cycle: looking for these as often as usual takes up to
#: a quarter of a run. What was loaded before is never looked at.
GARBAGE_THRESHOLDS = 20_000, 20, 50


@setup_logging.connect
def log_celery(**_: Any) -> None:
    """Instead of Celery's own way. That a message came and was seen to is left out: what it was for says so itself."""
    log_libraries(info=("celery",), warning=("celery.worker.strategy", "celery.app.trace"))


@worker_init.connect
def prepare_to_fork(**_: Any) -> None:
    """In the worker's main process: what all children need is loaded once, and shared as long as nobody touches it."""
    engine = get_engine(get_settings().database_address)
    prepare_for_runs(engine)
    engine.dispose()  # no connection is shared across a fork


@worker_process_init.connect
def prepare_process(**_: Any) -> None:
    """In every worker child: no engine is shared across a fork, and the first team does not wait for imports."""
    configure_logging()
    forget_engines(close=False)
    prepare_for_runs(get_engine(get_settings().database_address))


def prepare_for_runs(engine: Engine) -> None:
    """Load what runs need; whatever is there now stays, and is not looked through for garbage any more."""
    with suppress(SQLAlchemyError):  # it may be away, and a task type unknown here: runs will tell
        load_declared_task_types(engine)
    gc.collect()
    gc.freeze()
    gc.set_threshold(*GARBAGE_THRESHOLDS)


def load_declared_task_types(engine: Engine) -> None:
    """Those that competitions of this server use, and numpy with them; the others cost no memory."""
    import_module("numpy")  # not every task type loads it at once; PARSEME's reads quickly where it is there
    with reading(engine) as session:
        names = session.scalars(select(CompetitionTask.task_type).distinct()).all()
    for name in names:
        TASKS.get(name)
