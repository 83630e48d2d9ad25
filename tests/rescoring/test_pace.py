"""The number of runs of sets that are announced at a time, and when they are announced again."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime, timedelta

import pytest
from sqlalchemy import Engine

from app.base.db import reading, writing
from app.models import User
from app.rescoring.pace import rescoring_runs_to_announce
from app.runs.claims import RESEND_SECONDS
from app.runs.sweep import UNCLAIMED_SECONDS, mark_sent
from tests.competitions.embargo import enter
from tests.rescoring.rescored import runs_of, start
from tests.world import NOW, SECOND, submit

LATER = NOW + timedelta(seconds=UNCLAIMED_SECONDS)
RESENT = LATER + timedelta(seconds=RESEND_SECONDS)
TASK_TYPE = "idiom-detection"


@pytest.fixture
def engine(sqlite_engine: Engine) -> Engine:
    return sqlite_engine


@pytest.fixture
def runs(engine: Engine, people: list[User], monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Three runs of a set, of which two may be announced at a time, and are."""
    monkeypatch.setattr("app.rescoring.pace.ANNOUNCED_LATER", 2)
    entered = [enter(engine, user, value) for user, value in zip([*people, people[0]], (0.5, 0.6, 0.7), strict=False)]
    found = runs_of(engine, start(engine))
    made = sorted(found[submission_id] for submission_id in entered)
    assert due(engine, LATER) == made[:2]
    send(engine, made[:2], LATER)
    return made


def due(engine: Engine, now: datetime, *, forgotten: Collection[str] = ()) -> list[int]:
    with reading(engine) as session:
        return [run_id for run_id, _ in rescoring_runs_to_announce(session, now, forgotten=forgotten)]


def send(engine: Engine, run_ids: list[int], now: datetime) -> None:
    with writing(engine) as session:
        mark_sent(session, run_ids, now)


def test_no_further_run_is_announced_while_those_announced_wait(engine: Engine, runs: list[int]) -> None:
    assert due(engine, LATER) == []
    assert due(engine, RESENT - SECOND) == []


def test_runs_that_nobody_claimed_for_long_are_announced_again(engine: Engine, runs: list[int]) -> None:
    assert due(engine, RESENT) == runs[:2]


def test_an_upload_that_waits_takes_no_place_of_a_sets_runs(
    engine: Engine, people: list[User], runs: list[int]
) -> None:
    send(engine, [submit(engine, people[0], content="new").run_id], RESENT)
    assert due(engine, RESENT) == runs[:2]


def test_runs_that_the_broker_forgot_take_no_place(engine: Engine, runs: list[int]) -> None:
    assert due(engine, LATER + timedelta(seconds=UNCLAIMED_SECONDS), forgotten=[TASK_TYPE]) == runs[:2]
    assert due(engine, LATER + timedelta(seconds=UNCLAIMED_SECONDS), forgotten=["mwe-identification"]) == []
