"""The task's own text reports are stored with a run's scores, in the same transaction."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest
from sqlalchemy import Engine

from app.models import RunStatus, User
from app.runs.report import read_report
from evergold.scoring.tasks import TASKS
from tests.workers.files import upload
from tests.world import reject, the_run
from workers.score import score_submission

pytestmark = pytest.mark.usefixtures("workplace")


def write_texts(monkeypatch: pytest.MonkeyPatch, **texts: Any) -> None:
    """Give the competition's task type these text reports."""
    task = TASKS["idiom-detection"]
    monkeypatch.setitem(TASKS, task.name, dataclasses.replace(task, text_reports=texts))


def texts_of(engine: Engine, run_id: int) -> dict[str, str]:
    packed = the_run(engine, run_id).report
    assert packed is not None
    texts: dict[str, str] = read_report(packed)["texts"]
    return texts


def test_every_text_report_is_stored_under_its_name(engine: Engine, ada: User, monkeypatch: pytest.MonkeyPatch) -> None:
    write_texts(monkeypatch, official=lambda *_: "F1 = 0.5\n日本語 עברית", short=lambda *_: "0.5")
    run_id = upload(engine, ada)
    score_submission(run_id)
    assert texts_of(engine, run_id) == {"official": "F1 = 0.5\n日本語 עברית", "short": "0.5"}


def test_a_task_type_without_texts_stores_none(engine: Engine, ada: User) -> None:
    run_id = upload(engine, ada)
    score_submission(run_id)
    assert texts_of(engine, run_id) == {}


def test_a_text_that_cannot_be_written_is_a_failure_of_ours(
    engine: Engine, ada: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_texts(monkeypatch, official=lambda *_: 1 / 0)
    run_id = upload(engine, ada)
    score_submission(run_id)
    run = the_run(engine, run_id)
    assert (run.status, run.report) == (RunStatus.QUEUED, None)
    assert (run.failure or "").startswith("ZeroDivisionError")


def test_a_rejected_file_has_no_report(engine: Engine, ada: User) -> None:
    run_id = upload(engine, ada)
    reject(engine, run_id)
    assert the_run(engine, run_id).report is None
