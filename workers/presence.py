"""Says in the database that this worker is there, and what it is, again and again until it ends.

A thread of the worker's main process, which scores nothing. That process forks its children while the thread lives: a
lock keeps it from doing so in the middle of a write, when a child would inherit a database library that is locked.
"""

from __future__ import annotations

import os
import platform
import secrets
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime

from sqlalchemy import Engine
from sqlalchemy.exc import SQLAlchemyError

from app.base.db import writing
from app.base.logs import log
from app.models import SelfCheck, Worker
from app.runs.workers import BEAT_SECONDS, announce_worker, retire_worker
from workers.device import versions
from workers.faults import survived
from workers.selfcheck import SelfCheckReport
from workers.tables import tables_fit

_writing = threading.Lock()
os.register_at_fork(before=_writing.acquire, after_in_parent=_writing.release, after_in_child=_writing.release)


@dataclass
class Presence:
    """What this worker says of itself."""

    processes: int
    queues: tuple[str, ...] = ()
    self_check: SelfCheck | None = None
    report: SelfCheckReport | None = None
    self_checked_at: datetime | None = None
    started_at: datetime = field(default_factory=lambda: datetime.now(UTC))
    name: str = field(default_factory=lambda: f"{socket.gethostname()}:{os.getpid()}-{secrets.token_hex(2)}")

    def checked(self, report: SelfCheckReport) -> None:
        """The self-check has ended."""
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
    """Once, now. Nothing that goes wrong is a reason to stop, least of all a database that is away: the next beat says
    the same, and a worker whose heart has stopped would be taken for gone while it works.
    """
    try:
        with _writing, _alone(engine):
            if tables_fit(engine):
                with writing(engine) as session:
                    announce_worker(session, presence.as_row(), datetime.now(UTC))
    except Exception as error:
        survived("worker_not_announced", error, worker=presence.name)


def retire(engine: Engine, presence: Presence) -> None:
    """This worker ends in order; one that does not is forgotten by the sweep."""
    try:
        with _writing, _alone(engine), writing(engine) as session:
            retire_worker(session, presence.name)
    except SQLAlchemyError as error:
        log.warning("worker_not_retired", worker=presence.name, error=str(error))


@contextmanager
def beating(engine: Engine, presence: Presence, seconds: float = BEAT_SECONDS) -> Iterator[None]:
    """Say it at once and then again and again, until the block ends."""
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
    """No connection stays open behind the block: a child that is forked later would have it, too."""
    try:
        yield
    finally:
        engine.dispose()


def _beat(engine: Engine, presence: Presence, seconds: float, stop: threading.Event) -> None:
    while not stop.wait(seconds):
        tell(engine, presence)
