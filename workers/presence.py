"""Registers this worker and its properties in the database, repeatedly until it ends.

A thread of the worker's main process does this; the process scores nothing but forks children while the thread lives. A
lock prevents forks during a write, when a child would inherit a locked database library.
"""

from __future__ import annotations

import os
import platform
import secrets
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime

from sqlalchemy import Engine
from sqlalchemy.exc import SQLAlchemyError

from app.base.db import writing
from app.base.logs import log, log_and_continue
from app.models import SelfCheck, Worker
from app.runs.holds import is_drained
from app.runs.workers import BEAT_SECONDS, announce_worker, retire_worker
from workers.device import versions
from workers.selfcheck import SelfCheckReport
from workers.tables import tables_fit

_writing = threading.Lock()
os.register_at_fork(before=_writing.acquire, after_in_parent=_writing.release, after_in_child=_writing.release)


@dataclass
class Presence:
    """The properties that this worker reports."""

    processes: int
    queues: tuple[str, ...] = ()
    self_check: SelfCheck | None = None
    report: SelfCheckReport | None = None
    self_checked_at: datetime | None = None
    started_at: datetime = field(default_factory=lambda: datetime.now(UTC))
    #: Called after each report with whether this machine is drained, by the thread that reports.
    on_drained: Callable[[bool], None] = lambda _: None
    name: str = field(default_factory=lambda: f"{socket.gethostname()}:{os.getpid()}-{secrets.token_hex(2)}")

    def checked(self, report: SelfCheckReport) -> None:
        """Store the result of the self-check in the reported properties."""
        self.self_check, self.report, self.self_checked_at = report.state, report, datetime.now(UTC)

    def as_row(self) -> Worker:
        report = self.report or SelfCheckReport(SelfCheck.RUNNING)
        return Worker(
            name=self.name[:200],
            host=socket.gethostname()[:200],
            processes=self.processes,
            queues=list(self.queues),
            device=report.device,
            versions={"python": platform.python_version(), **versions()},
            models=list(report.models),
            self_check=self.self_check,
            self_check_words=list(report.words),
            comparisons=[asdict(comparison) for comparison in report.comparisons],
            self_checked_at=self.self_checked_at,
            started_at=self.started_at,
        )


def tell(engine: Engine, presence: Presence) -> None:
    """Register this worker once, and follow orders of administrators.

    Errors are logged and ignored, as while the database is down. The next beat tries again; without further beats, a
    working worker would count as gone.
    """
    try:
        with _writing, _alone(engine):
            if tables_fit(engine):
                with writing(engine) as session:
                    announce_worker(session, presence.as_row(), datetime.now(UTC))
                    drained = is_drained(session, socket.gethostname()[:200])
                presence.on_drained(drained)
    except Exception as error:
        log_and_continue("worker_not_announced", error, worker=presence.name)


def retire(engine: Engine, presence: Presence) -> None:
    """Deregister this worker at a clean exit; the sweep removes others."""
    try:
        with _writing, _alone(engine), writing(engine) as session:
            retire_worker(session, presence.name)
    except SQLAlchemyError as error:
        log.warning("worker_not_retired", worker=presence.name, error=str(error))


@contextmanager
def beating(engine: Engine, presence: Presence, seconds: float = BEAT_SECONDS) -> Iterator[None]:
    """Register immediately and then regularly, until the block ends."""
    stop = threading.Event()
    tell(engine, presence)
    thread = threading.Thread(target=_beat, args=(engine, presence, seconds, stop), name="presence", daemon=True)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()


@contextmanager
def _alone(engine: Engine) -> Iterator[None]:
    """Run the block without forks, and close all connections after it: a child forked later would inherit them."""
    try:
        yield
    finally:
        engine.dispose()


def _beat(engine: Engine, presence: Presence, seconds: float, stop: threading.Event) -> None:
    while not stop.wait(seconds):
        tell(engine, presence)
