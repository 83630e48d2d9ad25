"""Gold whose check never ends, with a real worker: nobody waits for it, and after repeated kills the check ends."""

from __future__ import annotations

import itertools
import os
import signal
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from sqlalchemy import Engine

from app.base.config import get_settings
from app.base.db import reading, writing
from app.base.queue import _sender, send_gold_check, send_run, send_validation
from app.gold.checks import RESEND, unanswered_checks
from app.models import GoldCheck, GoldVersion, RunStatus, User, Validation, ValidationStatus
from tests.chaos.place import background_of, children_of
from tests.processes import Service, is_gone, kill, start, stop, wait_until
from tests.sealed import make_key, seal_gold
from tests.services import environment_of, valkey
from tests.workers.files import GOLD, ask, upload
from tests.world import the_phase_task, the_run

pytestmark = [
    pytest.mark.services,
    pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="finds processes in /proc"),
]


@dataclass
class Place:
    """A worker whose background process hangs over a version of gold."""

    engine: Engine
    worker: Service
    version: int
    hang: Path
    begin_worker: Callable[[], Service]

    @property
    def background(self) -> int:
        found = background_of(self.worker.process.pid)
        assert found
        return found

    @property
    def computing(self) -> int:
        """The process that hangs."""
        (found,) = children_of(self.background)
        return found

    def is_hanging(self) -> bool:
        found = background_of(self.worker.process.pid)
        return bool(found and children_of(found))

    def check_gold_again(self) -> GoldVersion:
        """Check gold again, now that nothing hangs, after the sweep has announced it again."""
        self.hang.unlink()
        with writing(self.engine) as session:
            waiting = unanswered_checks(session, datetime.now(UTC) + RESEND + timedelta(seconds=1))
        assert waiting == [self.version]
        assert send_gold_check(self.version)
        wait_until(lambda: self.look().check_state != GoldCheck.WAITING, "the gold is checked", self.worker)
        return self.look()

    def look(self) -> GoldVersion:
        with reading(self.engine) as session:
            return session.get_one(GoldVersion, self.version)


@pytest.fixture
def place(
    engine: Engine, ada: User, workplace: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Place]:
    make_key(engine)
    (workplace / "gold" / "gold.csv").write_text(GOLD)
    version = seal_gold(engine, GOLD.encode(), checked=False)
    hang = get_settings().data_dir / "hang"
    hang.touch()
    with writing(engine) as session:
        the_phase_task(session).phase.ends_at = None
    numbers = itertools.count()
    with valkey() as broker:
        monkeypatch.setenv("EVERGOLD_BROKER_URL", broker.address)
        get_settings.cache_clear()
        _sender.cache_clear()
        address = engine.url.render_as_string(hide_password=False)
        environment = environment_of(database_url=address, broker_url=broker.address, data_dir=hang.parent)

        def begin_worker() -> Service:
            command = [sys.executable, "-P", "-m", "tests.workers.hanging", "--queues", "cpu"]
            worker = start(f"worker{next(numbers)}", command, tmp_path, environment)
            wait_until(lambda: "ready." in worker.said(), "the worker is ready", worker)
            return worker

        found = Place(engine, begin_worker(), version.id, hang, begin_worker)
        try:
            assert send_gold_check(version.id)
            wait_until(found.is_hanging, "the gold is being checked", found.worker)
            yield found
        finally:
            kill(found.worker)
            _sender().close()
            _sender.cache_clear()


def test_neither_a_check_nor_a_run_waits_for_work_that_takes_for_ever(place: Place, ada: User) -> None:
    validation, run = ask(place.engine, ada), upload(place.engine, ada)
    assert send_validation(validation)
    assert send_run(run)
    wait_until(lambda: the_run(place.engine, run).status == RunStatus.SCORED, "it is scored", place.worker)
    wait_until(lambda: state(place.engine, validation) == ValidationStatus.VALID, "it is checked", place.worker)
    assert place.is_hanging()
    assert place.look().check_state == GoldCheck.WAITING


def state(engine: Engine, validation_id: object) -> ValidationStatus:
    with reading(engine) as session:
        return session.get_one(Validation, validation_id).status


@pytest.mark.parametrize("who", ["computing", "background"])
def test_whoever_of_the_background_is_killed_the_worker_goes_on_and_the_work_is_done(place: Place, who: str) -> None:
    before, killed = {place.background, place.computing}, getattr(place, who)
    os.kill(killed, signal.SIGKILL)

    def goes_on() -> bool:
        background = background_of(place.worker.process.pid)
        left = before - {background}
        return background not in (None, killed) and not place.is_hanging() and all(is_gone(pid) for pid in left)

    wait_until(goes_on, "it goes on, and nothing is left that hangs", place.worker)
    found = place.check_gold_again()
    assert (found.check_state, found.check_attempts) == (GoldCheck.VALID, 2)
    assert place.worker.is_running()


def test_a_worker_that_is_killed_alone_takes_its_background_along(place: Place) -> None:
    left = {place.background, place.computing}
    place.worker.process.kill()
    place.worker.process.wait()
    wait_until(lambda: all(is_gone(pid) for pid in left), "they have ended by themselves")
    kill(place.worker)
    place.worker = place.begin_worker()
    assert place.check_gold_again().check_state == GoldCheck.VALID


def test_a_worker_that_is_told_to_stop_waits_for_no_background_work(place: Place) -> None:
    left = {place.background, place.computing}
    stop(place.worker)
    assert place.worker.process.returncode == 0
    assert all(is_gone(pid) for pid in left)
    found = place.look()
    assert (found.check_attempts, found.check_failure) == (0, "its worker was stopped")
    place.worker = place.begin_worker()
    assert place.check_gold_again().check_state == GoldCheck.VALID
