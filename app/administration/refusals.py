"""Requests that rate limits refused: counted by hour and rule, by account for a week, never by network address.

Network addresses are not stored, since even their digests would identify them. Each process collects its counts and
adds them to the table periodically, so that a flood of refused requests writes only a few rows.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Sequence
from datetime import datetime, timedelta

from sqlalchemy import Engine, delete, select
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.orm import Session

from app.administration.operations_views import RefusedOut
from app.base.db import writing
from app.base.logs import log
from app.models import RefusedRequests, User

#: Retention of the counts by account, and of the other counts.
BY_ACCOUNT_KEPT, KEPT = timedelta(days=7), timedelta(days=90)
#: Interval between additions to the table.
FLUSH_SECONDS = 10.0
#: Different accounts and rules that a process counts at a time; more are counted together.
MOST = 1_000
_USER = "user "
_Key = tuple[datetime, str, str]


class RefusalCounts:
    """Counts of this process that have not been added to the table yet."""

    def __init__(self) -> None:
        self._turn = threading.Lock()
        self._counts: Counter[_Key] = Counter()

    def note(self, rule: str, user_id: int | None, now: datetime) -> None:
        """Count a refused request. user_id: None if the rule does not count by account."""
        hour = now.replace(minute=0, second=0, microsecond=0)
        with self._turn:
            self._counts[hour, rule, ""] += 1
            if user_id is not None and len(self._counts) < MOST:
                self._counts[hour, rule, f"{_USER}{user_id}"] += 1

    def flush(self, engine: Engine) -> None:
        """Add the counts to the table; while the database is down, they are kept here."""
        with self._turn:
            counts, self._counts = self._counts, Counter()
        if not counts:
            return
        try:
            with writing(engine) as session:
                add_refused(session, counts)
        except SQLAlchemyError as error:
            log.warning("refused_requests_not_counted", error=type(error).__name__)
            with self._turn:
                self._counts.update(counts)


def add_refused(session: Session, counts: Counter[_Key]) -> None:
    """Add counts to the table, in a fixed order to avoid deadlocks between processes."""
    insert = postgresql.insert if session.get_bind().dialect.name == "postgresql" else sqlite.insert
    for (hour, rule, who), count in sorted(counts.items()):
        added = insert(RefusedRequests).values(hour=hour, rule=rule, who=who, count=count)
        session.execute(
            added.on_conflict_do_update(
                index_elements=["hour", "rule", "who"], set_={"count": RefusedRequests.count + added.excluded.count}
            )
        )


def list_refused(session: Session, limit: int = 500) -> list[RefusedOut]:
    """List the counts, latest hour first, with accounts by user name."""
    query = select(RefusedRequests).order_by(
        RefusedRequests.hour.desc(), RefusedRequests.rule, RefusedRequests.count.desc()
    )
    rows = session.scalars(query.limit(limit)).all()
    names = _names(session, rows)
    return [RefusedOut(hour=one.hour, rule=one.rule, who=names.get(one.who, ""), count=one.count) for one in rows]


def forget_refused(session: Session, now: datetime) -> None:
    """Delete old counts."""
    by_account = (RefusedRequests.who != "") & (RefusedRequests.hour < now - BY_ACCOUNT_KEPT)
    session.execute(delete(RefusedRequests).where(by_account | (RefusedRequests.hour < now - KEPT)))


def _names(session: Session, rows: Sequence[RefusedRequests]) -> dict[str, str]:
    ids = {int(one.who.removeprefix(_USER)) for one in rows if one.who}
    found = session.execute(select(User.id, User.username).where(User.id.in_(ids)))
    return {f"{_USER}{user_id}": username for user_id, username in found}
