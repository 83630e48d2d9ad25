"""Statistics in the sweep: schedules boards that have changed and then been quiet."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import Engine

from app.base.config import get_settings
from app.base.db import writing
from app.base.queue import send_statistics
from app.boards.statistics_work import statistics_due


def look_after_statistics(engine: Engine, now: datetime) -> int:
    """Send due statistics tasks once; return their number. What a broker that is down refuses is sent later."""
    with writing(engine) as session:
        due = statistics_due(session, now, attempts=get_settings().attempts)
    return sum(map(send_statistics, due))
