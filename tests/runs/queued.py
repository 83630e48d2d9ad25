"""Shared by tests of runs."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import Engine

from app.base.db import writing
from app.runs.sweep import requeue_lost_runs


def sweep(engine: Engine, now: datetime, attempts: int = 3) -> list[int]:
    """Return the ids of the runs that workers should be notified of."""
    with writing(engine) as session:
        return [run_id for run_id, _ in requeue_lost_runs(session, attempts=attempts, now=now)]
