"""Workers that announce themselves."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import Engine

from app.base.db import writing
from app.models import SelfCheck, Worker
from app.runs.workers import announce_worker
from tests.world import NOW


def announce(
    engine: Engine,
    name: str,
    *queues: str,
    now: datetime = NOW,
    self_check: SelfCheck | None = None,
    words: tuple[str, ...] = (),
) -> None:
    """Announce a worker that listens to these queues."""
    worker = Worker(
        name=name,
        host="box",
        processes=1,
        queues=list(queues),
        device=None,
        versions={},
        models=[],
        self_check=self_check,
        self_check_words=list(words),
        self_checked_at=None,
        started_at=NOW,
    )
    with writing(engine) as session:
        announce_worker(session, worker, now)
