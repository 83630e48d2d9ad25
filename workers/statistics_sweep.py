"""The sweep's part for statistics: workers are told of boards that have changed and been quiet since."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import Engine

from app.base.config import get_settings
from app.base.db import writing
from app.base.queue import send_statistics
from app.boards.statistics_work import statistics_due


def look_after_statistics(engine: Engine, now: datetime) -> int:
    """Once; of how many tasks in phases workers were told. What a broker that is down did not take is told later."""
    with writing(engine) as session:
        due = statistics_due(session, now, attempts=get_settings().attempts)
    return sum(map(send_statistics, due))
