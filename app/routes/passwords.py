"""Checking passwords without being worn down: one hash at a time (each takes 64 MiB), and a pause after many failures.

Counted in this process only: enough against guessing, and forgotten by a restart.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from datetime import datetime, timedelta

from sqlalchemy import Engine

from app import auth
from app.db import reading
from app.errors import LimitReached, NotAuthenticated
from app.models import User

FAILURES_ALLOWED = 10
WITHIN = timedelta(minutes=10)
#: Pairs of address and name that are remembered; the longest unused are forgotten first.
REMEMBERED = 10_000

#: Held by whoever makes or checks a password's hash.
one_hash_at_a_time = threading.BoundedSemaphore(1)


class Failures:
    """When each (client address, user name) gave a wrong password lately."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._moments: OrderedDict[tuple[str, str], list[datetime]] = OrderedDict()

    def check(self, client: str, username: str, now: datetime) -> None:
        """Raises LimitReached when there were too many."""
        with self._lock:
            recent = self._recent((client, username), now)
        if len(recent) >= FAILURES_ALLOWED:
            retry_at = recent[-FAILURES_ALLOWED] + WITHIN
            raise LimitReached(
                "Too many wrong passwords; please wait some minutes.",
                limit=FAILURES_ALLOWED,
                used=len(recent),
                per=f"{WITHIN.total_seconds() / 60:.0f} minutes",
                retry_at=retry_at.isoformat(),
            )

    def note(self, client: str, username: str, now: datetime) -> None:
        """Remember a failure."""
        with self._lock:
            key = client, username
            self._moments[key] = [*self._recent(key, now), now][-FAILURES_ALLOWED:]
            self._moments.move_to_end(key)
            while len(self._moments) > REMEMBERED:
                self._moments.popitem(last=False)

    def _recent(self, key: tuple[str, str], now: datetime) -> list[datetime]:
        return [moment for moment in self._moments.get(key, []) if now - moment < WITHIN]


def check_password(
    engine: Engine, failures: Failures, *, client: str, username: str, password: str, now: datetime
) -> User:
    """The user with this password; raises NotAuthenticated, or LimitReached after too many failures."""
    name = username.strip().lower()[:320]
    failures.check(client, name, now)
    try:
        with one_hash_at_a_time, reading(engine) as session:
            return auth.authenticate(session, username, password)
    except NotAuthenticated:
        failures.note(client, name, now)
        raise
