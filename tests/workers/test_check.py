"""The checking task: the messages of a rejected submission without a submission, and never a word of gold."""

from __future__ import annotations

import dataclasses
import signal
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from sqlalchemy import Engine, update
from structlog.testing import capture_logs

from app.base import queue
from app.base.config import get_settings
from app.base.db import reading, writing
from app.base.queue import CPU_QUEUE, GPU_QUEUE
from app.base.storage import FolderStorage, check_name, store_upload
from app.models import CompetitionTask, PhaseTask, ScoringRun, User, Validation, ValidationStatus
from app.submissions.validations import KEPT
from evergold.scoring import validate
from evergold.scoring.task import AnyTask
from evergold.scoring.tasks import TASKS
from tests.processes import kill, start, wait_until
from tests.rich_world import fresh
from tests.services import environment_of
from tests.threads import in_threads
from tests.workers.files import PREDICTION, ask, upload
from tests.world import the_phase_task, the_run
from workers.check import check_file
from workers.score import score_submission
from workers.sweep import look_after_validations
from workers.turns import take_turn

pytestmark = pytest.mark.usefixtures("workplace")

REPEATED = PREDICTION + "2,EN,zero_shot,0\none field\n"


def check(engine: Engine, validation_id: UUID) -> Validation:
    check_file(str(validation_id))
    return the(engine, validation_id)


def the(engine: Engine, validation_id: UUID) -> Validation:
    with reading(engine) as session:
        return session.get_one(Validation, validation_id)


def change_task(monkeypatch: pytest.MonkeyPatch, **changes: Any) -> None:
    task: AnyTask = TASKS["idiom-detection"]
    monkeypatch.setitem(TASKS, task.name, dataclasses.replace(task, **changes))


@pytest.fixture
def open_for_ever(engine: Engine, ada: User) -> User:
    """The workers' clock is the real one."""
    with writing(engine) as session:
        the_phase_task(session).phase.ends_at = None
    return ada


@pytest.mark.parametrize("is_blind", [True, False])
def test_label_that_nobody_declared_has_the_verdict_that_it_has_at_home(
    engine: Engine, open_for_ever: User, workplace: Path, tmp_path: Path, is_blind: bool
) -> None:
    """Check one sentence when validated and scored on the server, with blind items and without, and by `validate`
    locally.
    """
    files = {"gold": "id,label\n1,pos\n2,neg\n", "items": "id\n1\n2\n", "prediction": "id,label\n1,POS\n2,NEG\n"}
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    (workplace / "gold" / "gold.csv").write_text(files["gold"])
    blind = store_upload([files["items"].encode()], FolderStorage(workplace / "storage"), 1000)
    with writing(engine) as session:
        session.execute(update(CompetitionTask).values(task_type="table", options={}))
        session.execute(update(PhaseTask).values(items_sha256=blind.sha256 if is_blind else None, options={}))
    found = check(engine, ask(engine, open_for_ever, files["prediction"]))
    run_id = upload(engine, open_for_ever, files["prediction"])
    score_submission(run_id)
    at_home = [one.as_dict() for one in validate("table", tmp_path / "items", tmp_path / "prediction")]
    assert found.status == ValidationStatus.VALID
    assert found.problems == the_run(engine, run_id).problems == at_home
    assert "check the spelling of the 2 in this file: NEG, POS" in at_home[0]["message"]


@pytest.mark.both
def test_a_good_file_is_in_order(engine: Engine, open_for_ever: User) -> None:
    found = check(engine, ask(engine, open_for_ever))
    assert (found.status, found.problems, found.attempts, found.failure) == (ValidationStatus.VALID, [], 1, None)
    with reading(engine) as session:
        assert session.scalars(fresh(ScoringRun)).all() == []


def test_problems_are_those_of_a_rejected_submission(engine: Engine, open_for_ever: User) -> None:
    found = check(engine, ask(engine, open_for_ever, REPEATED))
    run_id = upload(engine, open_for_ever, REPEATED)
    score_submission(run_id)
    assert found.status == ValidationStatus.INVALID
    assert found.problems == the_run(engine, run_id).problems
    assert found.problems[-1]["text"] == "one field", "the line is quoted where nothing else is"


def test_scoring_is_not_even_begun(engine: Engine, open_for_ever: User, monkeypatch: pytest.MonkeyPatch) -> None:
    def never(*_: Any) -> Any:
        raise AssertionError("nothing is scored")

    change_task(monkeypatch, score=never, report=never, outcomes=never)
    assert check(engine, ask(engine, open_for_ever)).status == ValidationStatus.VALID


def test_with_a_blind_file_gold_is_not_opened(
    engine: Engine, open_for_ever: User, workplace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    blind = store_upload([b"ID,Language\n1,EN\n2,EN\n3,EN\n4,EN\n"], FolderStorage(workplace / "storage"), 1000)
    with writing(engine) as session:
        session.execute(update(PhaseTask).values(items_sha256=blind.sha256))
    (workplace / "gold" / "gold.csv").unlink()
    assert check(engine, ask(engine, open_for_ever)).status == ValidationStatus.VALID


@pytest.mark.both
def test_telling_many_workers_checks_once(engine: Engine, open_for_ever: User) -> None:
    validation_id = ask(engine, open_for_ever)
    in_threads(6, lambda _: check_file(str(validation_id)))
    assert the(engine, validation_id).attempts == 1


def test_one_that_was_forgotten_is_passed_over() -> None:
    check_file("00000000-0000-4000-8000-000000000000")


def test_gold_that_is_wrong_is_our_fault_and_is_not_quoted(
    engine: Engine, open_for_ever: User, workplace: Path
) -> None:
    (workplace / "gold" / "gold.csv").write_text("ID,DataID,Language,Label\n1,CANARY,EN,banana\n")
    with capture_logs() as logs:
        found = check(engine, ask(engine, open_for_ever))
    assert (found.status, found.problems) == (ValidationStatus.FAILED, [])
    assert "InvalidGold" in str(found.failure)
    assert not {"banana", "CANARY"} & set(f"{found.failure} {logs}".replace(",", " ").split())


def test_other_faults_of_ours_are_tried_again(
    engine: Engine, open_for_ever: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: Any) -> Any:
        raise ZeroDivisionError

    right = TASKS["idiom-detection"].read_prediction
    change_task(monkeypatch, read_prediction=broken)
    validation_id = ask(engine, open_for_ever)
    assert check(engine, validation_id).status == ValidationStatus.QUEUED
    change_task(monkeypatch, read_prediction=right)
    assert check(engine, validation_id).status == ValidationStatus.VALID


def test_a_worker_that_cannot_leaves_it_to_others(
    engine: Engine, open_for_ever: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    change_task(monkeypatch, needs_gpu=True)
    monkeypatch.setattr("workers.device._refused", True)
    validation_id = ask(engine, open_for_ever)
    for queue_name in (CPU_QUEUE, GPU_QUEUE):
        take_turn(str(validation_id), queue_name)
    assert the(engine, validation_id).status == ValidationStatus.QUEUED


def test_a_task_type_that_is_not_installed_here_is_left_to_other_workers(engine: Engine, open_for_ever: User) -> None:
    with writing(engine) as session:
        session.execute(update(CompetitionTask).values(task_type="gone"))
    assert check(engine, ask(engine, open_for_ever)).status == ValidationStatus.QUEUED


# --------------------------------------------------------------------------------------------------------------- sweep


def test_the_sweep_tells_workers_again_and_forgets(
    engine: Engine, open_for_ever: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[str] = []

    def tell(validation_id: UUID, *, needs_gpu: bool) -> bool:
        told.append(str(validation_id))
        return True

    monkeypatch.setattr("workers.sweep.send_validation", tell)
    validation_id, now = ask(engine, open_for_ever), datetime.now(UTC)
    assert look_after_validations(engine, now + timedelta(seconds=11)) == 1
    assert look_after_validations(engine, now + timedelta(seconds=12)) == 0
    assert told == [str(validation_id)]
    look_after_validations(engine, now + KEPT + timedelta(seconds=1))
    with reading(engine) as session:
        assert session.get(Validation, validation_id) is None


def test_a_broker_that_is_down_is_left_for_later(
    engine: Engine, open_for_ever: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EVERGOLD_BROKER_URL", "redis://127.0.0.1:1/0")
    get_settings.cache_clear()
    queue._sender.cache_clear()
    ask(engine, open_for_ever)
    assert look_after_validations(engine, datetime.now(UTC) + timedelta(seconds=11)) == 0


_STOPPING = """
import sys, dataclasses, time
from evergold.scoring.tasks import TASKS
def stop(*_):
    print("reading", flush=True)
    time.sleep(600)
TASKS["idiom-detection"] = dataclasses.replace(TASKS["idiom-detection"], read_prediction=stop)
from workers.check import check_file
check_file(sys.argv[1])
"""


def test_kill_9_in_the_middle_loses_nothing(engine: Engine, open_for_ever: User, workplace: Path) -> None:
    validation_id = ask(engine, open_for_ever)
    script = workplace / "stopping.py"
    script.write_text(_STOPPING)
    environment = environment_of(
        database_url=engine.url.render_as_string(hide_password=False), data_dir=workplace, lease_seconds=1
    )
    child = start("checker", [sys.executable, str(script), str(validation_id)], workplace, environment)
    try:
        wait_until(lambda: "reading" in child.said(), "the child reads the file", child)
        child.process.send_signal(signal.SIGKILL)
        child.process.wait(30)
    finally:
        kill(child)
    assert the(engine, validation_id).status == ValidationStatus.RUNNING
    look_after_validations(engine, datetime.now(UTC) + timedelta(seconds=2))
    found = check(engine, validation_id)
    assert (found.status, found.attempts) == (ValidationStatus.VALID, 2)
    assert (get_settings().storage_dir / check_name(validation_id)).is_file(), "the sweep's to remove"
    look_after_validations(engine, datetime.now(UTC))
    assert not (get_settings().storage_dir / check_name(validation_id)).exists()
