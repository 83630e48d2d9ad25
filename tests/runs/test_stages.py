"""The stage of a submission, in a word, in a sentence, in numbers; and the stamp that changes when there is news."""

from __future__ import annotations

import dataclasses
from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import Engine, update

from app.base.db import reading, writing
from app.models import RunStatus, ScoringRun, User
from app.runs.stages import (
    PROGRAM_FAILED,
    PROGRAM_FAILED_WORDS,
    STATUS_WORDS,
    Stage,
    stage_of,
    stamp_of,
    status_words,
    time_left,
)
from evergold.scoring.tasks import TASKS
from tests.world import NOW, add_competition, add_user, claim, reject, score, submit

TYPE = "idiom-detection"


@pytest.fixture
def ada(engine: Engine) -> User:
    add_competition(engine, per_day=None)
    return add_user(engine, "ada")


def stage(engine: Engine, run_id: int) -> Stage:
    with reading(engine) as session:
        return stage_of(session, session.get_one(ScoringRun, run_id), TYPE, NOW)


def change(engine: Engine, run_id: int, **values: Any) -> None:
    with writing(engine) as session:
        session.execute(update(ScoringRun).where(ScoringRun.id == run_id).values(**values))


def test_from_the_queue_to_the_end(engine: Engine, ada: User) -> None:
    submit(engine, ada, NOW - timedelta(seconds=1), content="before")
    run_id = submit(engine, ada).run_id
    found = stage(engine, run_id)
    assert (found.name, found.position, found.stamp, found.percent) == ("queued", 2, "queued", None)

    claim(engine, run_id)
    assert (stage(engine, run_id).name, stage(engine, run_id).stamp) == ("checking", "running")

    change(engine, run_id, checked_at=NOW)
    found = stage(engine, run_id)
    assert (found.name, found.stamp, found.position) == ("scoring", "running.checked", None)
    assert found.message == "Your file is valid and is being scored."

    change(engine, run_id, items_done=1_333, items_total=2_000, seconds_left=95)
    found = stage(engine, run_id)
    assert (found.percent, found.stamp) == (66, "running.1333")
    assert found.message.endswith("is being scored: 1,333 of 2,000 items, about 2 min left.")

    change(engine, run_id, status="scored")
    assert (stage(engine, run_id).name, stage(engine, run_id).stamp) == ("scored", "scored")


def test_ends_have_the_names_of_their_states(engine: Engine, ada: User) -> None:
    good, bad = (submit(engine, ada, content=text).run_id for text in ("good", "bad"))
    score(engine, good, 0.5)
    reject(engine, bad)
    assert [stage(engine, run_id).name for run_id in (good, bad)] == ["scored", "rejected"]
    assert stage(engine, bad).message == STATUS_WORDS[RunStatus.REJECTED]


@pytest.mark.parametrize(
    ("status", "code", "words"),
    [
        (RunStatus.REJECTED, PROGRAM_FAILED.code, PROGRAM_FAILED_WORDS),
        (RunStatus.REJECTED, "bad-value", STATUS_WORDS[RunStatus.REJECTED]),
        (RunStatus.FAILED, PROGRAM_FAILED.code, STATUS_WORDS[RunStatus.FAILED]),
    ],
)
def test_a_file_that_the_organisers_program_could_not_score_need_not_be_wrong(
    status: RunStatus, code: str, words: str
) -> None:
    assert status_words(ScoringRun(status=status, problems=[{"code": code}])) == words


def test_a_stamp_changes_with_all_that_a_worker_reports() -> None:
    said = [("queued", None, None), ("running", None, None), ("running", NOW, None), ("running", NOW, 0)]
    stamps = [stamp_of(*one) for one in (*said, ("running", NOW, 120), ("scored", NOW, 120))]
    assert stamps == ["queued", "running", "running.checked", "running.0", "running.120", "scored"]


def test_a_run_that_no_worker_can_take_waits(engine: Engine, ada: User, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(TASKS, TYPE, dataclasses.replace(TASKS[TYPE], needs_gpu=True))
    found = stage(engine, submit(engine, ada).run_id)
    assert (found.name, found.position, found.stamp) == ("waiting", 1, "queued")
    assert "waiting for a worker with torch since 10 Jan 2026, 12:00 UTC" in found.message
    assert found.waiting is not None


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (1, "a few seconds"),
        (10, "10 s"),
        (11, "20 s"),
        (59, "60 s"),
        (60, "1 min"),
        (61, "2 min"),
        (3540, "59 min"),
        (3541, "1 h 0 min"),
        (3901, "1 h 6 min"),
    ],
)
def test_what_is_left_is_said_no_more_exactly_than_it_is_known(seconds: int, words: str) -> None:
    assert time_left(seconds) == words
