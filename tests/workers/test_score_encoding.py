"""Runs that need torch: left to others, put back or reported, and never at the price of an attempt."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Engine
from structlog.testing import capture_logs

from app.base.queue import CPU_QUEUE, GPU_QUEUE
from app.models import RunStatus, User
from evergold.scoring.bertscore.models import BrokenModel, ModelNotFound, current_settings
from evergold.scoring.optional import MissingPackage
from evergold.scoring.progress import report_progress
from evergold.scoring.tasks import TASKS
from tests.processes import wait_until
from tests.workers.files import upload
from tests.world import the_run
from workers import device, lease
from workers.claimed import worker_name
from workers.device import NoSuchDevice, encoder_settings
from workers.score import score_submission
from workers.turns import take_turn

TYPE = "idiom-detection"


@pytest.fixture
def torch_is_there(monkeypatch: pytest.MonkeyPatch, workplace: Path) -> None:
    """A worker with torch and a CPU, which has not refused anything."""
    monkeypatch.setattr(device, "has_torch", lambda: True)
    monkeypatch.setattr(device, "_refused", False)
    monkeypatch.setattr(device, "choose_device", lambda wanted: wanted or "cpu")


def needing_torch(monkeypatch: pytest.MonkeyPatch, score: Callable[..., Any] | None = None) -> None:
    """Let the competition's task be one that needs torch."""
    usual = TASKS[TYPE]
    monkeypatch.setitem(TASKS, TYPE, dataclasses.replace(usual, needs_gpu=True, score=score or usual.score))


@pytest.mark.usefixtures("torch_is_there")
def test_a_worker_with_torch_scores_with_its_own_settings(
    engine: Engine, ada: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = []
    usual = TASKS[TYPE].score

    def score(*arguments: Any) -> Any:
        seen.append(current_settings())
        return usual(*arguments)

    needing_torch(monkeypatch, score)
    run_id = upload(engine, ada)
    score_submission(run_id)
    assert the_run(engine, run_id).status == RunStatus.SCORED
    assert seen == [encoder_settings()]
    assert seen[0].vectors_dir is not None, "vectors of gold are kept between processes"


@pytest.mark.parametrize("lacking", ["has_torch", "_refused"])
@pytest.mark.usefixtures("torch_is_there")
def test_a_worker_that_must_not_take_it_leaves_it_as_it_is(
    engine: Engine, ada: User, monkeypatch: pytest.MonkeyPatch, lacking: str
) -> None:
    monkeypatch.setattr(device, lacking, True if lacking == "_refused" else lambda: False)
    needing_torch(monkeypatch)
    run_id = upload(engine, ada)
    with capture_logs() as logged:
        for queue in (CPU_QUEUE, GPU_QUEUE):
            take_turn(run_id, queue)
    run = the_run(engine, run_id)
    assert (run.status, run.attempts, run.worker, run.sent_at) == (RunStatus.QUEUED, 0, None, None)
    assert [entry["event"] for entry in logged] == ["turn_left_to_others"]


@pytest.mark.parametrize("error", [ModelNotFound, BrokenModel, MissingPackage, NoSuchDevice])
@pytest.mark.usefixtures("torch_is_there")
def test_what_this_machine_lacks_puts_the_run_back_without_an_attempt(
    engine: Engine, ada: User, monkeypatch: pytest.MonkeyPatch, error: type[Exception]
) -> None:
    def lacking(*_: Any) -> Any:
        raise error("the model own-model is not in /srv/models")

    needing_torch(monkeypatch, lacking)
    run_id = upload(engine, ada)
    for _ in range(5):
        score_submission(run_id)
        run = the_run(engine, run_id)
        assert (run.status, run.attempts) == (RunStatus.QUEUED, 0)
    assert run.failure == f"{worker_name()} cannot score it: the model own-model is not in /srv/models"


@pytest.mark.usefixtures("torch_is_there")
def test_when_the_model_has_come_it_is_scored_at_the_first_attempt(
    engine: Engine, ada: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    answers = iter([ModelNotFound("no model yet")])
    usual = TASKS[TYPE].score

    def lacking_once(*of: Any) -> Any:
        for error in answers:
            raise error
        return usual(*of)

    needing_torch(monkeypatch, lacking_once)
    run_id = upload(engine, ada)
    score_submission(run_id)
    score_submission(run_id)
    assert (the_run(engine, run_id).status, the_run(engine, run_id).attempts) == (RunStatus.SCORED, 1)


@pytest.mark.usefixtures("workplace")
def test_progress_can_be_seen_while_it_is_scored(engine: Engine, ada: User, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lease, "TELL_SECONDS", 0.02)
    usual = TASKS[TYPE].score
    run_id = 0

    def slow(*of: Any) -> Any:
        report_progress(3, 12)
        wait_until(lambda: the_run(engine, run_id).items_done == 3, "three items are said to be done")
        run = the_run(engine, run_id)
        assert (run.status, run.items_total) == (RunStatus.RUNNING, 12)
        assert run.checked_at is not None
        return usual(*of)

    monkeypatch.setitem(TASKS, TYPE, dataclasses.replace(TASKS[TYPE], score=slow))
    run_id = upload(engine, ada)
    score_submission(run_id)
    assert the_run(engine, run_id).status == RunStatus.SCORED
