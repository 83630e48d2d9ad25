"""Scoring that is paused and machines that are drained, with a real worker that is killed meanwhile."""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import pytest
from sqlalchemy import Engine, func, select

from app.base.config import get_settings
from app.base.db import reading, writing
from app.base.queue import _sender, has_messages, send_run
from app.models import RunStatus, ScoreRow, User
from app.runs.holds import Target, hold, lift
from tests.processes import Service, kill, wait_until
from tests.services import environment_of, start_sweep, start_worker, valkey
from tests.workers.files import upload
from tests.world import NOW, the_phase_task, the_run

pytestmark = pytest.mark.services


@dataclass
class Place:
    """A worker, the sweep, and how to begin another worker."""

    engine: Engine
    worker: Service
    begin_worker: Callable[[], Service]

    def replace_worker(self) -> None:
        """Kill the worker as a machine that loses its power does; another takes its place."""
        kill(self.worker)
        self.worker = self.begin_worker()

    def hold(self, target: Target) -> None:
        with writing(self.engine) as session:
            hold(session, target, "An upgrade.", actor=None, now=datetime.now(UTC))

    def lift(self, target: Target) -> None:
        with writing(self.engine) as session:
            lift(session, target, actor=None, now=datetime.now(UTC))


@pytest.fixture
def place(
    engine: Engine, ada: User, workplace: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Place]:
    with writing(engine) as session:
        the_phase_task(session).phase.ends_at = None
    with valkey() as broker:
        monkeypatch.setenv("EVERGOLD_BROKER_URL", broker.address)
        get_settings.cache_clear()
        _sender.cache_clear()
        address = engine.url.render_as_string(hide_password=False)
        data = get_settings().data_dir
        environment = environment_of(database_url=address, broker_url=broker.address, data_dir=data, sweep_seconds=0.2)

        def begin_worker() -> Service:
            return start_worker(tmp_path, environment)

        sweep = start_sweep(tmp_path, environment)
        found = Place(engine, begin_worker(), begin_worker)
        try:
            yield found
        finally:
            kill(found.worker)
            kill(sweep)
            _sender().close()
            _sender.cache_clear()


def test_paused_scoring_stays_paused_over_kills_and_then_scores_each_run_once(place: Place, ada: User) -> None:
    server = Target()
    place.hold(server)
    runs = [upload(place.engine, ada, now=NOW) for _ in range(3)]
    for run in runs:
        assert send_run(run)
    wait_until(lambda: has_messages("cpu") is False, "the worker has taken all messages", place.worker)
    place.replace_worker()
    assert send_run(runs[0])
    wait_until(lambda: has_messages("cpu") is False, "the next worker has taken the message", place.worker)
    assert {the_run(place.engine, run).status for run in runs} == {RunStatus.QUEUED}
    place.lift(server)
    _wait_until_scored(place, runs)


def test_a_drained_machine_takes_nothing_though_its_worker_is_killed_and_started(place: Place, ada: User) -> None:
    machine = Target(host=socket.gethostname())
    place.hold(machine)
    place.replace_worker()
    wait_until(lambda: "worker_drained" in place.worker.said(), "the worker follows", place.worker)
    run = upload(place.engine, ada, now=NOW)
    assert send_run(run)
    assert the_run(place.engine, run).status == RunStatus.QUEUED
    place.lift(machine)
    place.replace_worker()
    _wait_until_scored(place, [run])


def _wait_until_scored(place: Place, runs: list[int]) -> None:
    def all_scored() -> bool:
        return {the_run(place.engine, run).status for run in runs} == {RunStatus.SCORED}

    wait_until(all_scored, "all are scored", place.worker)
    with reading(place.engine) as session:
        assert {the_run(place.engine, run).attempts for run in runs} == {1}
        scored = select(func.count(ScoreRow.run_id.distinct())).where(ScoreRow.run_id.in_(runs))
        assert session.scalar(scored) == len(runs)
