"""Health of a server's parts: database, migrations, broker, sweep, queue, workers.

The sweep records a heartbeat (`beat`), workers record theirs (`app.runs.workers`). Messages are public: no addresses,
no names.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from contextlib import closing
from datetime import datetime, timedelta

from pydantic import Field
from sqlalchemy import Engine, func, select
from sqlalchemy.exc import IntegrityError, SQLAlchemyError
from sqlalchemy.orm import Session

from app.base.answers import ApiModel
from app.base.brokers import BROKER_ERRORS, broker_of
from app.base.config import Settings
from app.base.db import reading
from app.base.queue import CPU_QUEUE
from app.base.stores.places import bucket_answers
from app.models import CompetitionTask, Heartbeat, RunStatus, ScoringRun, Worker
from app.operations.database_revision import NewerRevision, OtherRevision, check_revision
from app.runs.claims import with_task
from app.runs.workers import live_workers, unserved_task_types

SWEEP, BACKUP = "sweep", "backup"
#: A sweep that missed this many rounds is unhealthy …
ROUNDS_MISSED = 4
#: … if they take at least this long, since a machine may be slow.
PATIENCE = timedelta(seconds=60)
BROKER_SECONDS = 1.0
UNKNOWN = "null: the database does not answer"


class PartOut(ApiModel):
    """A part of the server."""

    name: str = Field(
        description="database, migrations, sweep, queue, workers, broker; bertscore, once a worker compared its own"
    )
    is_well: bool
    says: str = Field(description="continues after the name of the part: `last ran 12 s ago`")


def parts(engine: Engine, settings: Settings, now: datetime) -> list[PartOut]:
    """Check every part and return the results."""
    try:
        with reading(engine) as session:
            migrations = _migrations(session)
            of_database = [
                _part("database", True, "answers"),
                migrations,
                *(_in_database(session, settings, now) if migrations.is_well else ()),
            ]
    except SQLAlchemyError:
        names = ("migrations", "sweep", "queue", "workers")
        of_database = [_part("database", False, "does not answer"), *(_part(name, False, UNKNOWN) for name in names)]
    answers = broker_answers(settings)
    broker = _part("broker", answers, "answers" if answers else "does not answer")
    return [*of_database, broker, *_storage(settings)]


def _part(name: str, is_well: bool, says: str) -> PartOut:
    return PartOut(name=name, is_well=is_well, says=says)


def _migrations(session: Session) -> PartOut:
    try:
        check_revision(session.connection())
    except NewerRevision:
        return _part("migrations", False, "belong to a newer version: the server is being upgraded")
    except OtherRevision:
        return _part("migrations", False, "are missing: run evergold migrate")
    return _part("migrations", True, "are done")


def _storage(settings: Settings) -> list[PartOut]:
    """Return the state of the bucket; empty for a folder, whose failure every upload would show."""
    if "s3" not in (settings.storage, settings.storage_before):
        return []
    answers = bucket_answers()
    return [
        _part("storage", answers, "answers" if answers else "does not answer, so nothing can be uploaded or scored")
    ]


def _in_database(session: Session, settings: Settings, now: datetime) -> list[PartOut]:
    workers = live_workers(session, now)
    return [_sweep(session, settings, now), _queue(session, settings, now), _workers(workers), *_bertscore(workers)]


def _sweep(session: Session, settings: Settings, now: datetime) -> PartOut:
    last = last_beat(session, SWEEP)
    if last is None:
        return _part("sweep", False, "has not run yet")
    allowed = max(ROUNDS_MISSED * timedelta(seconds=settings.sweep_seconds), PATIENCE)
    return _part("sweep", now - last <= allowed, f"last ran {_ago(last, now)} ago")


def _queue(session: Session, settings: Settings, now: datetime) -> PartOut:
    oldest = oldest_waiting(session, unserved_task_types(session, now) if settings.lean else frozenset())
    if oldest is None:
        waits = settings.lean and oldest_waiting(session) is not None
        return _part("queue", True, "has only submissions that wait for a worker with torch" if waits else "is empty")
    is_well = now - oldest <= timedelta(seconds=settings.queue_limit_seconds)
    return _part("queue", is_well, f"has waiting runs: the oldest has waited for {_ago(oldest, now)}")


def _workers(workers: Sequence[Worker]) -> PartOut:
    return _part("workers", bool(workers), "are there" if workers else "are missing, so nothing is scored")


def _bertscore(workers: Sequence[Worker]) -> list[PartOut]:
    """Return the largest difference of any worker's BERTScores from the package's; empty without comparisons."""
    compared = [comparison for worker in workers for comparison in worker.comparisons]
    if not compared:
        return []
    packages = ", ".join(sorted({comparison["package"] for comparison in compared}))
    usual, in_its_batches = (max(one[name] for one in compared) for name in ("difference", "in_its_batches"))
    pairs = max(one["pairs"] for one in compared)
    says = (
        f"differs from {packages} by at most {usual:.7f} on {pairs} pairs of the demo, and by at most "
        f"{in_its_batches:.7f} in batches like the package's"
    )
    return [_part("bertscore", True, says)]


def oldest_waiting(session: Session, passed_over: Collection[str] = frozenset()) -> datetime | None:
    """Return the arrival time of the oldest queued run; None if none is queued. passed_over: task types whose runs may
    wait.
    """
    waits = (ScoringRun.status == RunStatus.QUEUED) & ScoringRun.is_current  # rescoring may take days
    oldest = select(func.min(ScoringRun.queued_at))
    if passed_over:
        oldest = with_task(oldest).where(CompetitionTask.task_type.not_in(passed_over))
    return session.scalar(oldest.where(waits))


def broker_answers(settings: Settings) -> bool:
    """Return whether the broker can be reached now."""
    try:
        with closing(broker_of(settings.broker_url, settings.data_dir, BROKER_SECONDS)) as broker:
            broker.waiting(CPU_QUEUE)
    except BROKER_ERRORS:
        return False
    return True


# ------------------------------------------------------------------------------------------------------- signs of life


def beat(session: Session, name: str, now: datetime, done: Mapping[str, int]) -> None:
    """Record that a part has finished a round, and add its counts to the totals."""
    found = _locked(session, name)
    if found is None:
        try:
            with session.begin_nested():
                session.add(Heartbeat(name=name, beat_at=now, counts=dict(done)))
            return
        except IntegrityError:  # another process was first
            found = _locked(session, name)
            if found is None:
                raise
    found.beat_at = max(found.beat_at, now)
    found.counts = {key: found.counts.get(key, 0) + done.get(key, 0) for key in {*found.counts, *done}}


def last_beat(session: Session, name: str) -> datetime | None:
    """Return the time at which a part last finished a round; None if never."""
    return session.scalar(select(Heartbeat.beat_at).where(Heartbeat.name == name))


def _locked(session: Session, name: str) -> Heartbeat | None:
    return session.scalar(select(Heartbeat).where(Heartbeat.name == name).with_for_update())


def _ago(then: datetime, now: datetime) -> str:
    seconds = max(0, round((now - then).total_seconds()))
    return f"{seconds} s" if seconds < 120 else f"{seconds // 60} min" if seconds < 7200 else f"{seconds // 3600} h"
