"""The sweep: repairs from the database, notifies workers, and does its work while the broker is away, too."""

from __future__ import annotations

import base64
import dataclasses
import json
import os
import signal
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from sqlalchemy import Engine, func, select
from structlog.testing import capture_logs

from app.base.config import get_settings
from app.base.db import reading, writing
from app.base.queue import STATISTICS_TASK
from app.base.storage import FolderStorage, store_upload, stored_path
from app.models import Heartbeat, RunStatus, ScoringRun, User, Worker
from app.operations.health import SWEEP
from app.runs.sweep import UNCLAIMED_SECONDS
from app.runs.workers import SILENT_SECONDS
from evergold.scoring.tasks import TASKS
from tests.processes import stop, wait_until
from tests.services import environment_of, free_port, start_sweep
from tests.world import HOUR, NOW, add_competition, add_user, claim, score, submit, the_run
from workers.presence import Presence, tell
from workers.sweep import clear_storage, sweep

OVERDUE = NOW + timedelta(seconds=UNCLAIMED_SECONDS)


@pytest.fixture
def messages(workplace: Path) -> Path:
    """Return where the embedded broker keeps the messages that were sent."""
    return workplace / "broker" / "messages"


def told(messages: Path, queue: str = "cpu") -> list[int]:
    """Return the run ids in the messages of a queue; workers are notified of statistics, too."""
    files = sorted(messages.glob(f"*.{queue}.msg"), key=lambda file: file.name)
    return sorted(run_id_in(file) for file in files if STATISTICS_TASK not in file.read_text())


def run_id_in(message: Path) -> int:
    body = json.loads(base64.b64decode(json.loads(message.read_text())["body"]))
    return int(body[0][0])


def sent_at(engine: Engine, run_id: int) -> datetime | None:
    return the_run(engine, run_id).sent_at


def test_a_run_whose_message_was_lost_is_announced_and_marked(engine: Engine, ada: User, messages: Path) -> None:
    run_id = submit(engine, ada).run_id
    assert sweep(engine, OVERDUE) == 1
    assert told(messages) == [run_id]
    assert sent_at(engine, run_id) == OVERDUE
    assert sweep(engine, OVERDUE) == 0, "the queue is not filled with echoes"


def test_a_run_whose_message_was_lost_again_is_announced_again_soon(engine: Engine, ada: User, messages: Path) -> None:
    """Check a broker that was emptied after the sweep had announced it; the announcement is repeated in less than two
    minutes.
    """
    run_id = submit(engine, ada).run_id
    assert sweep(engine, OVERDUE) == 1
    for message in messages.iterdir():
        message.unlink()
    assert sweep(engine, OVERDUE + timedelta(seconds=UNCLAIMED_SECONDS)) == 1
    assert told(messages) == [run_id]


def test_a_run_whose_worker_was_lost_is_queued_again_and_announced(engine: Engine, ada: User, messages: Path) -> None:
    run_id = submit(engine, ada).run_id
    claim(engine, run_id, NOW, lease_seconds=60)
    assert sweep(engine, NOW + timedelta(seconds=59)) == 0
    assert sweep(engine, NOW + timedelta(seconds=60)) == 1
    assert (the_run(engine, run_id).status, told(messages)) == (RunStatus.QUEUED, [run_id])


def test_how_often_a_run_is_tried_is_a_setting(
    engine: Engine, ada: User, messages: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EVERGOLD_ATTEMPTS", "1")
    run_id = submit(engine, ada).run_id
    claim(engine, run_id, NOW, lease_seconds=60)
    assert sweep(engine, NOW + timedelta(seconds=60)) == 0
    assert the_run(engine, run_id).status == RunStatus.FAILED


def test_what_was_lost_is_counted_for_the_servers_numbers(engine: Engine, ada: User, messages: Path) -> None:
    """Check that a scored run and one whose lease holds are not counted."""
    score(engine, submit(engine, ada).run_id, 0.5)
    lost, often_lost, held = (submit(engine, ada, content=name).run_id for name in ("lost", "often", "held"))
    with writing(engine) as session:
        session.get_one(ScoringRun, often_lost).attempts = get_settings().attempts - 1
    for run_id, lease_seconds in ((lost, 60), (often_lost, 60), (held, 120)):
        claim(engine, run_id, NOW, lease_seconds)
    sweep(engine, NOW + timedelta(seconds=60))
    with reading(engine) as session:
        counts = session.scalars(select(Heartbeat).where(Heartbeat.name == SWEEP)).one().counts
    assert counts == {"requeued": 1, "given_up": 1, "announced": 1}


def test_runs_that_need_a_gpu_are_announced_to_gpu_workers(
    engine: Engine, ada: User, messages: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    task = TASKS["idiom-detection"]
    monkeypatch.setitem(TASKS, task.name, dataclasses.replace(task, needs_gpu=True))
    run_id = submit(engine, ada).run_id
    tell(engine, Presence(processes=1, queues=("gpu",)))
    sweep(engine, datetime.now(UTC))
    assert (told(messages, "gpu"), told(messages, "cpu")) == ([run_id], [])


def test_runs_that_no_worker_can_take_are_not_announced_again_and_again(
    engine: Engine, ada: User, messages: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A weekend without a GPU worker would fill the broker; when one comes, the sweep rings."""
    task = TASKS["idiom-detection"]
    monkeypatch.setitem(TASKS, task.name, dataclasses.replace(task, needs_gpu=True))
    run_id = submit(engine, ada).run_id
    tell(engine, Presence(processes=1, queues=("cpu",)))
    assert sweep(engine, datetime.now(UTC)) == 0
    assert (sent_at(engine, run_id), the_run(engine, run_id).status) == (None, RunStatus.QUEUED)
    tell(engine, Presence(processes=1, queues=("cpu", "gpu")))
    assert sweep(engine, datetime.now(UTC)) == 1
    assert told(messages, "gpu") == [run_id]


def test_workers_that_are_silent_are_forgotten(engine: Engine, messages: Path) -> None:
    tell(engine, Presence(processes=1, queues=("cpu",)))
    sweep(engine, datetime.now(UTC))
    with reading(engine) as session:
        assert session.scalars(select(func.count()).select_from(Worker)).one() == 1
    sweep(engine, datetime.now(UTC) + timedelta(seconds=SILENT_SECONDS))
    with reading(engine) as session:
        assert session.scalars(select(func.count()).select_from(Worker)).one() == 0


def test_a_task_type_that_is_gone_does_not_stop_the_sweep(
    engine: Engine, ada: User, messages: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delitem(TASKS, "idiom-detection")
    submit(engine, ada)
    assert sweep(engine, OVERDUE) == 1


def test_while_the_broker_is_away_leases_are_swept_and_nothing_counts_as_sent(
    engine: Engine, ada: User, workplace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EVERGOLD_BROKER_URL", f"redis://127.0.0.1:{free_port()}/0")
    lost, waiting = submit(engine, ada, content="lost").run_id, submit(engine, ada, content="waiting").run_id
    claim(engine, lost, NOW, lease_seconds=60)
    with capture_logs() as logged:
        assert sweep(engine, NOW + timedelta(seconds=60)) == 0
    assert [entry["event"] for entry in logged] == ["broker_down"], "one refusal is enough to know"
    assert the_run(engine, lost).status == RunStatus.QUEUED
    assert [sent_at(engine, run_id) for run_id in (lost, waiting)] == [None, None]


# ------------------------------------------------------------------------------------------------------------- storage


def test_what_was_stored_for_nothing_is_taken_away(engine: Engine, tmp_path: Path) -> None:
    refused = stored_path(tmp_path, store_upload([b"refused"], FolderStorage(tmp_path), 100).sha256)
    half_written = tmp_path / "incoming" / "tmp1"
    half_written.write_text("half")
    for path in (refused, half_written):
        os.utime(path, (0, 0))
    with capture_logs() as logged:
        clear_storage(engine, FolderStorage(tmp_path), time.time())
        clear_storage(engine, FolderStorage(tmp_path), time.time())
        clear_storage(engine, FolderStorage(tmp_path / "none"), time.time())
    assert not refused.exists()
    assert not half_written.exists()
    assert [(entry["event"], entry["interrupted"], entry["set_aside"]) for entry in logged] == [
        ("storage_cleared", 1, 1)
    ], "what was done is said, and nothing else"


def test_storage_that_cannot_be_changed_does_not_stop_the_sweep(
    engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = stored_path(tmp_path, store_upload([b"refused"], FolderStorage(tmp_path), 100).sha256)
    os.utime(path, (0, 0))

    def read_only(*_: object) -> Path:
        raise OSError(30, "Read-only file system")

    monkeypatch.setattr(Path, "rename", read_only)
    with capture_logs() as logged:
        clear_storage(engine, FolderStorage(tmp_path), time.time())
    assert [entry["event"] for entry in logged] == ["storage_not_cleared"]


# ------------------------------------------------------------------------------------------------------- as a process


@pytest.mark.both
@pytest.mark.services
def test_the_process_sweeps_at_once_and_again_and_stops_when_told(engine: Engine, tmp_path: Path) -> None:
    an_hour_ago = datetime.now(UTC) - HOUR
    add_competition(engine, starts_at=an_hour_ago, ends_at=None)
    first = submit(engine, add_user(engine, "ada"), an_hour_ago).run_id
    data = tmp_path / "server"
    address = engine.url.render_as_string(hide_password=False)
    environment = environment_of(data_dir=data, database_url=address, sweep_seconds=0.2)
    process = start_sweep(tmp_path, environment)
    try:
        wait_until(lambda: sent_at(engine, first), "the first run is announced", process)
        second = submit(engine, add_user(engine, "bob"), an_hour_ago).run_id
        wait_until(lambda: sent_at(engine, second), "the second run is announced", process)
        assert told(data / "broker" / "messages") == [first, second]
        process.process.send_signal(signal.SIGTERM)
        assert process.process.wait(60.0) == 0
    finally:
        stop(process)


@pytest.mark.services
def test_the_process_outlives_a_database_that_is_not_there_yet(tmp_path: Path) -> None:
    environment = environment_of(data_dir=tmp_path, database_url=f"sqlite:///{tmp_path}/no/a.db", sweep_seconds=0.1)
    process = start_sweep(tmp_path, environment)
    try:
        wait_until(lambda: process.said().count("sweep_failed") >= 2, "it has tried twice", process)
    finally:
        stop(process)
