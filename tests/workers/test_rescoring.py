"""Rescoring at work: it gives way to uploads in the sweep, at the broker and at the claim, and scores what they do."""

from __future__ import annotations

import json
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Engine

from app.base.db import writing
from app.base.queue import CPU_QUEUE
from app.models import OutgoingMail, RunStatus, User
from app.runs.claims import RETRY_SECONDS, next_turn
from app.runs.sweep import UNCLAIMED_SECONDS
from tests.rescoring.rescored import name_gold, progress, publish, runs_of, start
from tests.workers.files import GOLD, MACRO_F1, upload
from tests.workers.test_score import values
from tests.workers.test_sweep import run_id_in, told
from tests.world import NOW, SECOND, add_user, claim, fail, score, submit, sure, the_run
from workers.score import score_submission
from workers.sweep import sweep
from workers.turns import take_turn

LATER = NOW + timedelta(seconds=UNCLAIMED_SECONDS)
#: Under this gold the prediction is perfect.
BETTER_GOLD = GOLD.replace("2,d2,EN,0", "2,d2,EN,1")


@pytest.fixture
def messages(workplace: Path) -> Path:
    """Return where the embedded broker keeps the messages that were sent."""
    return workplace / "broker" / "messages"


def priority_of(messages: Path, run_id: int) -> Any:
    found = [file for file in messages.glob("*.msg") if run_id_in(file) == run_id]
    return json.loads(found[0].read_text())["properties"].get("priority")


@pytest.fixture
def shadow(engine: Engine, ada: User, workplace: Path) -> int:
    """A run of an open set, of a submission that was scored; the gold has another name by now."""
    score_submission(upload(engine, ada))
    (workplace / "gold" / "better.csv").write_text(BETTER_GOLD)
    name_gold(engine, "better.csv")
    (run_id,) = runs_of(engine, start(engine)).values()
    return run_id


def test_a_set_is_scored_by_the_same_workers_and_published(engine: Engine, shadow: int) -> None:
    score_submission(shadow)
    assert values(engine, shadow)["macro_f1", "zero_shot/all"] == 1.0
    run = the_run(engine, shadow)
    assert (run.status, run.is_current, run.task_version) == (RunStatus.SCORED, False, 1)
    sweep(engine, LATER)
    publish(engine, run.rescoring_id or 0)
    run = the_run(engine, shadow)
    assert (run.is_current, values(engine, run.replaced_id or 0)["macro_f1", "zero_shot/all"]) == (
        True,
        pytest.approx(MACRO_F1),
    )


def test_the_sweep_announces_uploads_first_and_rescoring_for_later(
    engine: Engine, ada: User, shadow: int, messages: Path
) -> None:
    upload_id = submit(engine, ada, content="new").run_id
    assert sweep(engine, LATER) == 2
    assert told(messages) == sorted([shadow, upload_id])
    assert (priority_of(messages, upload_id), priority_of(messages, shadow)) in {(0, 9), (None, 9)}


def test_an_upload_is_scored_before_rescoring_whoever_rang(engine: Engine, ada: User, shadow: int) -> None:
    upload_id = upload(engine, ada)
    take_turn(shadow, CPU_QUEUE)
    assert the_run(engine, upload_id).status == RunStatus.SCORED
    assert (the_run(engine, shadow).status, the_run(engine, shadow).attempts) == (RunStatus.QUEUED, 0)
    take_turn(upload_id, CPU_QUEUE)
    assert the_run(engine, shadow).status == RunStatus.SCORED


def test_what_has_to_rest_does_not_hold_rescoring_up(engine: Engine, ada: User, shadow: int) -> None:
    stuck = submit(engine, ada, content="new").run_id
    fail(engine, stuck, attempts=3)
    with writing(engine) as session:
        assert next_turn(session, needs_gpu=False, now=NOW) == shadow
        rested = NOW + timedelta(seconds=RETRY_SECONDS)
        assert next_turn(session, needs_gpu=False, now=rested) == stuck, "and then it goes first again"


def test_what_is_submitted_meanwhile_joins_the_set_by_the_sweep(engine: Engine, ada: User, shadow: int) -> None:
    number = the_run(engine, shadow).rescoring_id or 0
    late = submit(engine, ada, NOW + SECOND, content="late")
    sweep(engine, LATER)
    assert late.submission.id not in runs_of(engine, number), "it is not scored yet"
    score(engine, late.run_id, 0.5)
    sweep(engine, LATER)
    assert late.submission.id in runs_of(engine, number)
    assert progress(engine, number).waiting == 2


def test_a_lost_run_of_a_set_is_announced_again(engine: Engine, shadow: int, messages: Path) -> None:
    sure(claim(engine, shadow, lease_seconds=1))
    assert sweep(engine, LATER) == 1
    assert told(messages) == [shadow]
    assert sweep(engine, LATER) == 0


def test_few_runs_of_a_set_are_announced_at_a_time(
    engine: Engine, ada: User, messages: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("app.rescoring.pace.ANNOUNCED_LATER", 2)
    for number in range(3):
        score(engine, submit(engine, ada, content=str(number)).run_id, 0.5)
    first, second, third = runs_of(engine, start(engine)).values()
    assert sweep(engine, LATER) == 2
    assert told(messages) == [first, second]
    assert sweep(engine, LATER) == 0
    sure(claim(engine, first))
    assert sweep(engine, LATER + SECOND) == 1
    assert told(messages) == [first, second, third]


def test_organisers_get_a_mail_when_all_is_scored(engine: Engine, shadow: int) -> None:
    add_user(engine, "root", is_administrator=True)
    sweep(engine, LATER)
    assert _subjects(engine) == []
    score_submission(shadow)
    sweep(engine, LATER)
    sweep(engine, LATER)
    number = the_run(engine, shadow).rescoring_id
    assert _subjects(engine) == [f"Rescoring set {number} of Idioms is ready"]


def _subjects(engine: Engine) -> list[str]:
    with writing(engine) as session:
        return [mail.subject for mail in session.query(OutgoingMail)]
