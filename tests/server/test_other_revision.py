"""Real processes on tables of another revision: at the start they refuse with a message, while running they report it
and wait.
"""

from __future__ import annotations

import json
import os
import re
import signal
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import httpx
import pytest
from sqlalchemy import Engine

from app.base.db import make_engine, reading
from app.base.exit_status import OTHER_REVISION
from app.operations.database_revision import NEWEST_REVISION
from app.operations.health import SWEEP, last_beat
from app.operations.migrate import migrating, upgrade, upgrade_to
from evergold.cli import run
from tests import lanes, postgres
from tests.processes import START_SECONDS, Service, kill, short_folder, wait_until
from tests.revisions import FUTURE, move_on, set_revision
from tests.server.test_serve import processes_of
from tests.services import environment_of, evergold, start_sweep, start_web, start_worker

pytestmark = pytest.mark.services

PARTS = {
    "web": ("web", "--port", "1"),
    "worker": ("worker", "--queues", "cpu"),
    "sweep": ("sweep",),
}
BOARDS = ("/api/v1/competitions", "/competitions/x/phases/y/boards/z", "/", "/api/v1/me", "/metrics", "/status/x")


@dataclass
class Place:
    """A folder with a database, and what its processes are started with."""

    folder: Path
    engine: Engine
    environment: dict[str, str]

    def run(self, *arguments: str) -> tuple[int, str]:
        """Return the exit status of a command, and its whole output."""
        service = evergold(f"{arguments[0]}-once", self.folder, self.environment, *arguments)
        try:
            return service.process.wait(START_SECONDS), service.said()
        finally:
            kill(service)
            service.log.unlink()


@contextmanager
def a_place(address: str | None = None) -> Iterator[Place]:
    with short_folder() as folder:
        database = address or f"sqlite:///{folder / 'evergold.db'}"
        engine = make_engine(database)
        try:
            yield Place(
                folder, engine, environment_of(data_dir=folder / "var", database_url=database, sweep_seconds=0.2)
            )
        finally:
            engine.dispose()


@pytest.fixture
def place() -> Iterator[Place]:
    with a_place() as found:
        yield found


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.soak)])
def either(request: pytest.FixtureRequest) -> Iterator[Place]:
    """Yield a place on each kind of database."""
    with ExitStack() as stack:
        on_server = request.param == "postgresql"
        address = (
            stack.enter_context(postgres.database(request.getfixturevalue("postgres_server"))) if on_server else None
        )
        yield stack.enter_context(a_place(address))


# ------------------------------------------------------------------------------------------------------------- start


@pytest.mark.parametrize("part", PARTS)
def test_a_part_does_not_start_on_older_tables_and_names_the_command(place: Place, part: str) -> None:
    with migrating(place.engine) as connection:
        upgrade_to(connection, "0004")
    status, said = place.run(*PARTS[part])
    assert status == (1 if part == "web" else OTHER_REVISION)
    assert (
        f"Error: The database is of revision 0004, older than this program needs (revision {NEWEST_REVISION}, " in said
    )
    assert "`evergold migrate`." in said
    assert "Traceback" not in said


@pytest.mark.parametrize("part", [lanes.in_soak("web"), lanes.in_soak("worker"), "sweep"])
def test_a_part_does_not_start_on_newer_tables_and_says_that_they_are(place: Place, part: str) -> None:
    """Check newer tables; that all parts check the revision is tested with older tables."""
    upgrade(place.engine)
    move_on(place.engine)
    status, said = place.run(*PARTS[part])
    assert status == (1 if part == "web" else OTHER_REVISION)
    assert f"Error: The database is of revision {FUTURE}, made by a newer version of Evergold" in said
    assert "Traceback" not in said


@pytest.mark.soak
def test_several_web_processes_do_not_start_either(postgres_server: str) -> None:
    with postgres.database(postgres_server) as address, a_place(address) as place:
        upgrade(place.engine)
        move_on(place.engine)
        status, said = place.run("web", "--port", "1", "--processes", "2")
    assert status == 1
    assert "made by a newer version of Evergold" in said
    assert "Traceback" not in said


def test_migrate_prints_each_revision_that_it_applies(
    place: Place, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with migrating(place.engine) as connection:
        upgrade_to(connection, "0003")
    status, said = place.run("migrate")
    assert status == 0
    revisions = ["0004", "0005", "0006", "0007", "0008", "0009", "0010", "0011", "0012", "0013", "0014", "0015", "0016"]
    assert re.findall(r"^revision (\d{4}): \S", said, re.MULTILINE) == revisions
    assert said.endswith("The database was migrated.\n")
    for name in ("DATABASE_URL", "DATA_DIR"):
        monkeypatch.setenv(f"EVERGOLD_{name}", place.environment[f"EVERGOLD_{name}"])
    assert (run(["migrate"]), capsys.readouterr().out) == (0, "The database is up to date.\n")
    set_revision(place.engine, FUTURE)
    assert run(["migrate"]) == 1
    assert "made by a newer version of Evergold" in capsys.readouterr().err


# ------------------------------------------------------------------------------------------------------------ running


def test_a_running_web_process_says_that_it_is_being_upgraded_and_never_500_and_goes_on(either: Place) -> None:
    upgrade(either.engine)
    web, address = start_web(either.folder, either.environment)
    try:
        with httpx.Client(base_url=address, timeout=60) as client:
            assert client.get("/api/v1/competitions").status_code == 200
            move_on(either.engine)
            for path in BOARDS:  # at once, before it has looked
                assert client.get(path).status_code != 500
            wait_until(lambda: client.get("/healthz").json()["status"] == "upgrading", "it has looked", web)
            for path in BOARDS:
                _check_refusal(client.get(path))
            _check_refusal(client.post("/api/v1/register", json={}))
            _check_page(client)
            assert client.get("/healthz").status_code == 200
            ready = client.get("/readyz")
            assert ready.status_code == 503
            assert "the migrations belong to a newer version" in ready.json()["error"]["message"]
            assert client.get("/static/evergold.css").status_code == 200
            assert client.get("/status").status_code == 200
            assert web.is_running()
            _goes_on_when_the_tables_fit_again(either.engine, client, web)
    finally:
        kill(web)


def _goes_on_when_the_tables_fit_again(engine: Engine, client: httpx.Client, web: Service) -> None:
    set_revision(engine, NEWEST_REVISION)
    wait_until(lambda: client.get("/api/v1/competitions").status_code == 200, "it goes on", web)
    set_revision(engine, "0004")
    wait_until(lambda: client.get("/").status_code == 503, "it has looked", web)
    assert "is older than the program" in client.get("/").json()["error"]["message"]
    set_revision(engine, NEWEST_REVISION)
    wait_until(lambda: client.get("/api/v1/competitions").status_code == 200, "it goes on again", web)


def _check_refusal(answer: httpx.Response) -> None:
    assert answer.status_code == 503, answer.url
    error = answer.json()["error"]
    assert (error["code"], error["details"]) == ("being_upgraded", {})
    assert "its database is newer than the program that answers" in error["message"]
    assert int(answer.headers["Retry-After"]) > 0


def _check_page(client: httpx.Client) -> None:
    page = client.get("/competitions/x", headers={"Accept": "text/html"})
    assert page.status_code == 503
    assert "<h1>Being upgraded</h1>" in page.text
    assert page.headers["Retry-After"]


def test_a_running_worker_and_sweep_stop_working_in_words_and_do_not_end(either: Place) -> None:
    upgrade(either.engine)
    services: list[Service] = []
    try:
        services.append(start_worker(either.folder, either.environment))
        services.append(start_sweep(either.folder, either.environment))
        wait_until(lambda: _has_swept(either.engine), "the sweep works", services[-1])
        move_on(either.engine)
        for service in services:
            wait_until(partial(_says, service, "no_work_taken"), "it says so", service)
            assert f"The database is of revision {FUTURE}" in service.said()
            assert service.is_running()
    finally:
        for service in services:
            kill(service)


def test_under_the_supervisor_parts_that_are_refused_are_named_once(place: Place) -> None:
    """And the web process that is started again answers, for the port is the supervisor's."""
    phases = place.folder / "phases.yaml"
    phases.write_text("version: 1\ncompetitions: []\n")
    data = place.folder / "var"
    service = evergold(
        "serve",
        place.folder,
        environment_of(),
        "serve",
        "--port",
        "0",
        "--data-dir",
        str(data),
        "--phases",
        str(phases),
    )
    engine = make_engine(f"sqlite:///{data / 'evergold.db'}")
    try:
        wait_until(lambda: "Logs " in service.said(), "the summary is printed", service)
        found = re.search(r"http://[\d.:]+", service.said())
        assert found is not None
        wait_until(lambda: _has_swept(engine), "the sweep works", service)
        move_on(engine)
        _kill_child(data, "app.server.web")
        _kill_child(data, "workers.sweep")
        wait_until(lambda: "sweep does not start: The database is of revision" in service.said(), "it says so", service)
        wait_until(lambda: _status(f"{found[0]}/healthz") == "upgrading", "the web process answers", service)
        assert httpx.get(found[0], timeout=60).status_code == 503
        assert service.said().count("sweep does not start") == 1
    finally:
        engine.dispose()
        kill(service)


def _says(service: Service, words: str) -> bool:
    return words in service.said()


def _has_swept(engine: Engine) -> bool:
    with reading(engine) as session:
        return last_beat(session, SWEEP) is not None


def _kill_child(data: Path, words: str) -> None:
    [pid] = [pid for pid, command in processes_of(data).items() if words in command]
    os.kill(pid, signal.SIGKILL)


def _status(address: str) -> str:
    try:
        return str(json.loads(httpx.get(address, timeout=60).content)["status"])
    except (httpx.HTTPError, ValueError, KeyError):
        return ""
