"""Starts a worker: chooses its queues, runs the self-check, then Celery in this process and the background process.

Tasks that need torch use the queue `gpu`, even without a GPU. A worker takes from it only if torch is installed and the
self-check has passed; `auto` takes from it if possible, and from the other queue in any case.
"""

from __future__ import annotations

import argparse
import os
import signal
import sys
import time
from collections.abc import Sequence
from contextlib import ExitStack
from datetime import UTC, datetime
from typing import NoReturn

from celery.signals import worker_ready, worker_shutdown
from celery.utils.nodenames import host_format
from celery.worker.consumer import Consumer
from sqlalchemy import Engine

from app.base.config import InvalidSettings, get_settings
from app.base.db import get_engine
from app.base.exit_status import OTHER_REVISION
from app.base.logs import configure_logging, log
from app.base.permissions import prepare_folders
from app.base.queue import CPU_QUEUE, GPU_QUEUE
from app.base.stores.keeper import SOCKET_VARIABLE
from app.base.stores.places import is_bucket_in_use
from app.models import SelfCheck
from evergold.scoring.tasks import unusable_plugins
from workers.background_process import background_process
from workers.confined import RunLimits
from workers.device import EncodingSettings, go_offline, has_torch, refuse_encoding
from workers.garbage import collect_rarely
from workers.keys import KeySettings, ensure_key, key_file
from workers.presence import Presence, beating, retire
from workers.sandbox.environments import EnvironmentSettings
from workers.sandbox.settings import SandboxSettings
from workers.selfcheck import RecordSettings, check_in_process
from workers.settings import settings_of
from workers.store_keeper import end_with_keeper
from workers.tables import is_refused

#: Interval between self-checks of a refused worker for BERTScore only, in case what was missing has been installed.
RECHECK_SECONDS = 300.0
#: All settings of workers alone.
SETTINGS = (
    KeySettings,
    EncodingSettings,
    RecordSettings,
    RunLimits,
    SandboxSettings,
    EnvironmentSettings,
)
#: Niceness of scoring towards everything else on the machine.
SCORING_NICENESS, LAST_NICENESS = 5, 10


def main(arguments: Sequence[str] | None = None) -> int:
    """Run `evergold worker`; return its exit code."""
    collect_rarely()
    parser = argparse.ArgumentParser(prog="evergold worker")
    parser.add_argument("--queues", choices=["auto", CPU_QUEUE, GPU_QUEUE], default="auto")
    parser.add_argument("--concurrency", type=int, default=1)
    options = parser.parse_args(arguments)
    if faults := wrong_settings():
        sys.stderr.write("".join(f"Error: {fault}\n" for fault in faults))
        return 1
    if SOCKET_VARIABLE in os.environ:
        end_with_keeper()
    elif is_bucket_in_use(get_settings()):  # only a process that does not score may open the bucket
        command = [sys.executable, "-P", "-m", "workers.store_keeper", "--queues", options.queues]
        os.execv(sys.executable, [*command, "--concurrency", str(options.concurrency)])  # noqa: S606 - our own module
    if options.queues == GPU_QUEUE and not has_torch():
        sys.stderr.write("Error: --queues gpu needs torch, transformers: pip install 'evergold-server[bertscore]'.\n")
        return 1
    # On a busy machine the web process comes first, above all in the rush before a deadline; short runs come before
    # those of torch, which use all processors of a machine without a GPU.
    os.nice(LAST_NICENESS if options.queues == GPU_QUEUE else SCORING_NICENESS)
    _exit_on_sigterm()
    go_offline()
    os.environ["EVERGOLD_PROCESSES"] = str(options.concurrency)  # processes share the processors, see workers.device
    configure_logging()
    from workers.celery_app import log_celery  # reads settings when it is imported

    log_celery()
    for plugin in unusable_plugins():
        log.warning("task_type_left_out", reason=str(plugin))
    prepare_folders(get_settings())
    presence, engine = Presence(options.concurrency), get_engine(get_settings().database_address)
    if is_refused(engine):
        return OTHER_REVISION
    if settings_of(KeySettings).make_gold_key:
        ensure_key(engine, key_file(), datetime.now(UTC))
    try:
        presence.queues = choose_queues(options.queues, presence, engine)
        run_celery(presence, engine)
    finally:
        retire(engine, presence)
    return 0


def wrong_settings() -> list[str]:
    """Return a sentence for each variable with an invalid setting of workers."""
    faults = []
    for kind in SETTINGS:
        try:
            settings_of(kind)
        except InvalidSettings as error:
            faults += str(error).splitlines()
    return faults


def choose_queues(queues: str, presence: Presence, engine: Engine) -> tuple[str, ...]:
    """Return the queues that this worker may take from; for `gpu` only, wait until it may."""
    if queues == CPU_QUEUE or not has_torch():
        refuse_encoding()
        return (CPU_QUEUE,)
    while not passes(presence, engine):
        if queues != GPU_QUEUE:
            refuse_encoding()
            return (CPU_QUEUE,)
        with beating(engine, presence):
            time.sleep(RECHECK_SECONDS)
    return (GPU_QUEUE,) if queues == GPU_QUEUE else (CPU_QUEUE, GPU_QUEUE)


def passes(presence: Presence, engine: Engine) -> bool:
    """Run the self-check and publish its progress and result; return whether BERTScore may be computed here."""
    presence.self_check = SelfCheck.RUNNING
    with beating(engine, presence):
        presence.checked(check_in_process())
    log.info("self_check", state=presence.self_check, words=presence.report.words if presence.report else ())
    return presence.self_check != SelfCheck.REFUSED


def run_celery(presence: Presence, engine: Engine) -> None:
    """Run a Celery worker that forks its children and talks to no other worker, until it is stopped."""
    from workers.celery_app import app

    with ExitStack() as stack:

        def when_ready(sender: Consumer, **_: object) -> None:
            presence.on_drained = Intake(sender, presence.queues).follow
            # Only after the children exist: forking a process with threads needs more care.
            stack.enter_context(beating(engine, presence))
            if CPU_QUEUE in presence.queues:
                stack.enter_context(background_process())

        worker_ready.connect(when_ready, weak=False)
        worker_shutdown.connect(lambda **_: stack.close(), weak=False)
        # Not through Celery's command line, which imports a terminal prompt: 9 MB in each process.
        worker = app.Worker(
            pool="prefork",
            concurrency=presence.processes,
            queues=",".join(presence.queues),
            hostname=host_format(f"{'-'.join(presence.queues)}@%h"),
            quiet=True,  # no banner, which log collectors cannot parse
            without_gossip=True,
            without_mingle=True,
            without_heartbeat=True,
        )
        log.info("worker_starts", queues=presence.queues, processes=presence.processes)
        worker.start()


class Intake:
    """The queues from which Celery takes messages: none while the machine is drained, so that others get them."""

    def __init__(self, consumer: Consumer, queues: Sequence[str]) -> None:
        self._consumer = consumer
        self._queues = queues
        self._is_closed = False

    def follow(self, is_drained: bool) -> None:
        """Stop or resume taking messages, in Celery's own thread."""
        if is_drained == self._is_closed:
            return
        act = self._consumer.cancel_task_queue if is_drained else self._consumer.add_task_queue
        for queue in self._queues:
            self._consumer.call_soon(act, queue)
        self._is_closed = is_drained
        log.info("worker_drained" if is_drained else "worker_resumed", queues=self._queues)


def _exit_on_sigterm() -> None:
    """Exit on SIGTERM until Celery handles signals, even during the self-check."""

    def stop(*_: object) -> NoReturn:
        sys.exit(0)

    signal.signal(signal.SIGTERM, stop)


if __name__ == "__main__":
    sys.exit(main())
