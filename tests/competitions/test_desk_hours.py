"""Submissions per hour: every hour of two days, what came in it, and what of that came to nothing."""

from __future__ import annotations

from datetime import UTC, datetime

from sqlalchemy import Engine

from app.base.db import reading
from app.charts.hours import Hour
from app.competitions.desk import submissions_by_hour
from app.competitions.find import find_competition
from tests.rescoring.rescored import runs_of, start
from tests.world import COMPETITION, DAY, HOUR, NOW, SECOND, add_competition, add_user, fail, reject, score, submit


def counted(engine: Engine) -> list[Hour]:
    with reading(engine) as session:
        return submissions_by_hour(session, find_competition(session, COMPETITION), NOW)


def test_an_hour_has_what_came_in_it_and_what_of_that_was_in_vain(sqlite_engine: Engine) -> None:
    """Check at 12:00: the last hour has just begun, and the one before it ran from 11:00 until a second ago."""
    engine = sqlite_engine
    add_competition(engine, per_day=None, starts_at=NOW - 9 * DAY)
    ada = add_user(engine, "ada")
    score(engine, submit(engine, ada, NOW).run_id, 0.5)
    reject(engine, submit(engine, ada, NOW - SECOND).run_id)
    fail(engine, submit(engine, ada, NOW - HOUR).run_id)
    submit(engine, ada, NOW - HOUR + SECOND)
    submit(engine, ada, NOW - 47 * HOUR)
    submit(engine, ada, NOW - 47 * HOUR - SECOND)
    found = counted(engine)
    assert len(found) == 48
    assert (found[0].start, found[-1].start) == (datetime(2026, 1, 8, 13, tzinfo=UTC), NOW)
    assert {one.start: (one.received, one.in_vain) for one in found if one.received} == {
        NOW: (1, 0),
        NOW - HOUR: (3, 2),
        NOW - 47 * HOUR: (1, 0),
    }


def test_a_submission_of_a_rescoring_set_came_in_once(sqlite_engine: Engine) -> None:
    add_competition(sqlite_engine)
    score(sqlite_engine, submit(sqlite_engine, add_user(sqlite_engine, "ada"), NOW).run_id, 0.5)
    (again,) = runs_of(sqlite_engine, start(sqlite_engine)).values()
    fail(sqlite_engine, again)
    assert (counted(sqlite_engine)[-1].received, counted(sqlite_engine)[-1].in_vain) == (1, 0)
