"""The progress that a worker notes: of its own run alone, each number in its place, and gone with the attempt."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import Engine

from app.base.db import writing
from app.models import RunStatus, User
from app.runs.claims import Claim, note_progress
from app.runs.outcomes import put_back, record_failure
from tests.runs.queued import sweep
from tests.world import HOUR, NOW, SECOND, ZERO_SHOT, claim, finish, scores_of, submit, sure, the_run

PROGRESS = {"checked_at": NOW + SECOND, "items_done": 3, "items_total": 10, "seconds_left": 7}
NOTHING = dict.fromkeys(PROGRESS)


def progress_of(engine: Engine, run_id: int) -> dict[str, Any]:
    run = the_run(engine, run_id)
    return {name: getattr(run, name) for name in PROGRESS}


def note(engine: Engine, held: Claim, **values: Any) -> bool:
    with writing(engine) as session:
        return note_progress(session, held, **{**PROGRESS, **values})


@pytest.fixture
def held(sqlite_engine: Engine, people: list[User]) -> Claim:
    """Ada's; Bob's run is scored at the same time."""
    ada, bob, *_ = people
    found = sure(claim(sqlite_engine, submit(sqlite_engine, ada).run_id))
    other = sure(claim(sqlite_engine, submit(sqlite_engine, bob).run_id))
    assert note(sqlite_engine, other, items_done=1, items_total=2)
    assert note(sqlite_engine, found)
    assert progress_of(sqlite_engine, other.run_id) == {**PROGRESS, "items_done": 1, "items_total": 2}
    return found


def test_each_number_is_of_its_own_run_and_in_its_place(sqlite_engine: Engine, held: Claim) -> None:
    assert progress_of(sqlite_engine, held.run_id) == PROGRESS
    assert note(sqlite_engine, held, items_done=4, seconds_left=None)
    assert progress_of(sqlite_engine, held.run_id) == {**PROGRESS, "items_done": 4, "seconds_left": None}


@pytest.mark.parametrize("how", ["put back", "failed", "lost"])
def test_an_attempt_that_ends_takes_its_progress_with_it(sqlite_engine: Engine, held: Claim, how: str) -> None:
    if how == "put back":
        with writing(sqlite_engine) as session:
            assert put_back(session, held, reason="no key", now=NOW)
    elif how == "failed":
        with writing(sqlite_engine) as session:
            assert record_failure(session, held, error="Broken", attempts=3, now=NOW)
    else:
        sweep(sqlite_engine, NOW + HOUR)
    run = the_run(sqlite_engine, held.run_id)
    assert (run.status, run.started_at) == (RunStatus.QUEUED, None)
    assert progress_of(sqlite_engine, held.run_id) == NOTHING
    assert not note(sqlite_engine, held), "it is nobody's by now"
    again = sure(claim(sqlite_engine, held.run_id, NOW + 2 * HOUR))
    assert progress_of(sqlite_engine, held.run_id) == NOTHING
    assert note(sqlite_engine, again)
    assert not note(sqlite_engine, held, items_done=9)
    assert progress_of(sqlite_engine, held.run_id) == PROGRESS


def test_what_is_put_back_rests_two_minutes_and_costs_no_attempt(sqlite_engine: Engine, held: Claim) -> None:
    with writing(sqlite_engine) as session:
        assert put_back(session, held, reason="no key", now=NOW)
    run = the_run(sqlite_engine, held.run_id)
    assert (run.not_before, run.attempts, run.failure) == (NOW + timedelta(seconds=120), 0, "no key")


def test_a_run_that_has_ended_takes_no_note(sqlite_engine: Engine, held: Claim) -> None:
    assert finish(sqlite_engine, held, scores_of(ZERO_SHOT, 0.5))
    assert not note(sqlite_engine, held, items_done=9)
    assert progress_of(sqlite_engine, held.run_id) == PROGRESS
