"""`evergold serve`, as a process of its own: what it starts, what it explains, and that it leaves nothing behind. A
server is expensive: tests share one if none of them ends it, and refusals of the preparation are tested without one.
"""

from __future__ import annotations

import io
import json
import os
import re
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest

from app.base.config import get_settings
from app.base.db import get_engine
from app.server import prepare, programs
from evergold.cli import run
from evergold.cli.output import Code
from tests import services
from tests.chaos.place import children_of
from tests.processes import REPOSITORY, START_SECONDS, Service, is_gone, kill, short_folder, start, wait_until
from tests.web.site import without_log

pytestmark = [
    pytest.mark.services,
    pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="finds processes in /proc"),
]

KILLED = "died (signal SIGKILL)"
START = (sys.executable, "-P", "-m", "evergold.cli")
#: As where there is no wheel of Valkey.
START_WITHOUT_VALKEY = (
    *(sys.executable, "-P", "-c"),
    "from evergold import cli; from app.server import broker; broker.find_valkey = lambda: None; cli.main()",
)


@dataclass
class Server:
    """A running `evergold serve`."""

    service: Service
    data_dir: Path

    @property
    def address(self) -> str:
        return str(re.findall(r"Evergold runs at (\S+)", self.service.said())[-1])

    def get(self, path: str) -> Any:
        return httpx.get(f"{self.address}{path}", timeout=60).raise_for_status().json()

    def child(self, words: str) -> int:
        """The process id of a child, by its command line."""
        return next(pid for pid, command in processes_of(self.data_dir).items() if words in command)


def processes_of(data_dir: Path) -> dict[int, str]:
    """Return every process that works on this directory: ours have it in their environment, Valkey in its title."""
    found = {}
    for folder in Path("/proc").iterdir():
        with suppress(OSError, ValueError):
            pid = int(folder.name)
            command = (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace").strip()
            mine = f"EVERGOLD_DATA_DIR={data_dir}\0".encode() in (folder / "environ").read_bytes()
            if command and (mine or str(data_dir) in command) and pid != os.getpid():
                found[pid] = command
    return found


@pytest.fixture
def folder() -> Iterator[Path]:
    """A short path, so that Valkey's socket can lie in it; nothing may be left working on it."""
    with a_folder() as path:
        yield path


@contextmanager
def a_folder() -> Iterator[Path]:
    with short_folder() as path:
        yield path
        wait_until(lambda: not processes_of(path / "var"), f"no process is left: {processes_of(path / 'var')}")


@pytest.fixture(scope="module")
def running() -> Iterator[Server]:
    """Yield one server for all tests that do not end it."""
    with a_folder() as path, serving(path) as server:
        yield server


@contextmanager
def serving(
    folder: Path,
    *options: str,
    program: tuple[str, ...] = START,
    phases: Path = REPOSITORY / "phases.yaml",
    environment: Mapping[str, str] | None = None,
    lean: bool = True,
) -> Iterator[Server]:
    """`evergold serve` on a free port, up and answering; lean: without a worker for torch, which begins slowly."""
    options = (*options, *(["--lean"] if lean else []))
    command: list[str | Path] = [*program, "serve", "--port", "0", "--data-dir", folder / "var"]
    command += ["--phases", phases, *options]
    service = start("serve", command, folder, {**services.environment_of(), **(environment or {})})
    said_before = service.said()
    try:
        wait_until(lambda: "Logs " in service.said()[len(said_before) :], "the summary is printed", service)
        yield Server(service, folder / "var")
    finally:
        if service.is_running():
            service.process.terminate()
            service.process.wait(START_SECONDS)
        kill(service)


def refusal(folder: Path, *options: str) -> str:
    """The words with which a start is refused, in a process of its own."""
    command: list[str | Path] = [*START, "serve", "--data-dir", folder / "var", *options]
    if "--port" not in options:
        command += ["--port", "0"]
    if "--phases" not in options:
        command += ["--phases", REPOSITORY / "phases.yaml"]
    done = subprocess.run(
        command,
        env=services.environment_of(),
        capture_output=True,
        text=True,
        timeout=START_SECONDS,
    )
    assert done.returncode == Code.ERROR, done.stdout + done.stderr
    said = str(done.stderr).strip()
    assert "Traceback" not in said
    assert said.startswith("Error: ")
    return said.removeprefix("Error: ")


def reason(
    folder: Path, monkeypatch: pytest.MonkeyPatch, phases: Path = REPOSITORY / "phases.yaml", demo: str = ""
) -> str:
    """Why the preparation that `evergold serve` starts refuses, from the report that it leaves: in this process."""
    report = folder / "prepared.json"
    monkeypatch.setenv("EVERGOLD_DATA_DIR", str(folder / "var"))
    monkeypatch.setenv("EVERGOLD_PHASES_FILE", str(phases))
    monkeypatch.setenv("EVERGOLD_GOLD_DIR", str(folder / "gold"))
    monkeypatch.setattr("sys.argv", ["prepare", str(report), *demo.split()])
    get_settings.cache_clear()
    assert prepare.main() == 1
    get_engine(get_settings().database_address).dispose()
    said: str = json.loads(report.read_text())["error"]
    return said


def wait_for_board(server: Server, teams: set[str]) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = []

    def is_complete() -> bool:
        rows[:] = server.get("/api/v1/competitions/demo/phases/evaluation/boards/zero-shot")["rows"]
        return teams <= {row["team"] for row in rows}

    wait_until(is_complete, f"the board shows {teams}", server.service)
    return rows


Evergold = Callable[..., str]


@pytest.fixture
def evergold(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Evergold:
    """Return a function that runs `evergold ARGUMENTS` on a folder, in this process, and returns its output."""

    def evergold(data_dir: Path, *arguments: str, code: int = Code.OK) -> str:
        monkeypatch.delenv("EVERGOLD_DATA_DIR", raising=False)  # it comes before the option's own folder
        monkeypatch.setattr("sys.stdin", io.StringIO("a long pass phrase\n"))
        get_settings.cache_clear()
        capfd.readouterr()
        assert run([*arguments, "--data-dir", str(data_dir)]) == code
        said = capfd.readouterr()
        return without_log(said.err if code else said.out).strip()

    return evergold


# -------------------------------------------------------------------------------------------------------------- life


@pytest.mark.soak
@pytest.mark.parametrize("lean", [True, False], ids=["lean", "with torch"])
def test_first_start_with_demo_really_scores_and_a_second_one_adds_nothing(folder: Path, *, lean: bool) -> None:
    with serving(folder, "--demo", "--no-history", lean=lean) as server:
        assert "password magpie-demo" in server.service.said()
        assert "Set up       a new server, as phases.yaml says" in server.service.said()
        assert "Changed" not in server.service.said()
        wait_for_board(server, {"Magpie", "Saudade Lab", "Majority class"})
    assert server.service.process.returncode == 0
    assert not processes_of(folder / "var")
    with serving(folder, "--demo", "--no-history") as server:
        said = server.service.said().split("Stopped.")[1]
        assert "Changed" not in said
        rows = wait_for_board(server, {"Magpie"})
        assert [row["entries"] for row in rows if row["team"] == "Magpie"] == [1]
        os.killpg(server.service.process.pid, signal.SIGINT)  # Ctrl-C reaches everybody, and stops all in order
        assert server.service.process.wait(START_SECONDS) == 0
    assert server.service.said().rstrip().endswith("Stopped.")
    assert not processes_of(folder / "var")


@pytest.mark.soak
def test_after_kill_9_of_the_supervisor_a_new_start_waits_for_what_is_left_and_adds_nothing(folder: Path) -> None:
    with serving(folder, "--demo", "--no-history") as server:
        wait_for_board(server, {"Magpie", "Saudade Lab", "Majority class"})
        assert b"EVERGOLD_GOLD_DIR" not in environment_of(server.child("app.server.web"))
        assert b"EVERGOLD_GOLD_DIR" in environment_of(server.child("--queues cpu"))
        server.service.process.kill()
        server.service.process.wait()
        said_before = len(server.service.said())
        with serving(folder, "--demo", "--no-history") as second:
            assert "Changed" not in second.service.said()[said_before:]
            rows = wait_for_board(second, {"Magpie"})
            assert [row["entries"] for row in rows if row["team"] == "Magpie"] == [1]
            _stop_at_once_by_a_second_ctrl_c(second)
    wait_until(lambda: not processes_of(folder / "var"), "everything is gone")


def environment_of(pid: int) -> bytes:
    return Path(f"/proc/{pid}/environ").read_bytes()


def _stop_at_once_by_a_second_ctrl_c(server: Server) -> None:
    os.kill(server.child("--queues cpu"), signal.SIGSTOP)  # a worker that will not hear of stopping
    server.service.process.send_signal(signal.SIGINT)
    wait_until(lambda: "Stopping" in server.service.said(), "it is stopping", server.service)
    server.service.process.send_signal(signal.SIGINT)
    assert server.service.process.wait(programs.WORKER_STOP_SECONDS) == 0, "it waited for the worker all the same"


def test_stop_while_starting_leaves_nothing(folder: Path) -> None:
    command: list[str | Path] = [*START, "serve", "--lean", "--port", "0", "--data-dir", folder / "var"]
    command += ["--phases", REPOSITORY / "phases.yaml"]
    service = start("serve", command, folder, services.environment_of())
    wait_until(lambda: len(processes_of(folder / "var")) >= 4, "it has begun to start", service)
    service.process.terminate()
    assert service.process.wait(START_SECONDS) == 0
    kill(service)
    assert not processes_of(folder / "var")


@pytest.mark.soak
def test_set_up_that_was_killed_half_way_is_completed_by_a_start_with_another_broker(folder: Path) -> None:
    command: list[str | Path] = [
        *START,
        "serve",
        "--lean",
        "--demo",
        "--no-history",
        "--port",
        "0",
        "--data-dir",
        folder / "var",
    ]
    command += ["--phases", REPOSITORY / "phases.yaml"]
    service = start("serve", command, folder, services.environment_of())
    wait_until(lambda: (folder / "var/evergold.db").exists(), "the database is begun", service)
    kill(service)
    with (
        services.valkey() as broker,
        serving(folder, "--demo", "--no-history", environment={"EVERGOLD_BROKER_URL": broker.address}) as server,
    ):
        assert "the one of EVERGOLD_BROKER_URL" in server.service.said()
        assert not [c for c in processes_of(folder / "var").values() if "valkey-server" in c]
        wait_for_board(server, {"Magpie", "Saudade Lab", "Majority class"})


def test_children_that_are_killed_are_said_and_started_again(running: Server) -> None:
    wait_until(lambda: len(pool_of(running)) >= 2, "the worker has its pool", running.service)
    pool = pool_of(running)
    for count, words in enumerate(("app.server.web", "--queues cpu", "workers.sweep", "valkey-server"), 1):
        dead = running.child(words)
        os.kill(dead, signal.SIGKILL)
        wait_until(lambda: running.service.said().count(KILLED) == count, "it is said", running.service)  # noqa: B023
        assert running.get("/healthz")["status"] == "ok"  # a request while web starts again only waits
        wait_until(lambda: is_running_again(running, words, dead), f"{words} is started again", running.service)  # noqa: B023
    assert running.service.said().count(KILLED) == 4
    assert all(is_gone(pid) for pid in pool)


def test_a_worker_starts_its_background_process_again(running: Server) -> None:
    """Check that the supervisor does not need to know of it."""
    said = running.service.said().count(KILLED)
    wait_until(lambda: is_running_again(running, "workers.background", 0), "it is there", running.service)
    dead = running.child("workers.background")
    os.kill(dead, signal.SIGKILL)
    wait_until(lambda: is_running_again(running, "workers.background", dead), "it is there again", running.service)
    assert running.service.said().count(KILLED) == said


def is_running_again(server: Server, words: str, dead: int) -> bool:
    return any(words in command and pid != dead for pid, command in processes_of(server.data_dir).items())


def pool_of(server: Server) -> set[int]:
    """Return the worker and its children, whatever their names."""
    worker = server.child("--queues cpu")
    return {worker, *children_of(worker)}


# ------------------------------------------------------------------------------------------------------------ broker


@pytest.mark.soak
def test_without_valkey_the_broker_works_over_files(folder: Path) -> None:
    with serving(folder, "--demo", "--no-history", program=START_WITHOUT_VALKEY) as server:
        assert f"files in {folder / 'var/broker'}" in server.service.said()
        assert not [c for c in processes_of(folder / "var").values() if "valkey-server" in c]
        wait_for_board(server, {"Magpie", "Saudade Lab"})


# ---------------------------------------------------------------------------------------------------------- refusals


def test_taken_port_and_a_second_server_on_the_same_data_are_explained(
    running: Server, folder: Path, evergold: Evergold
) -> None:
    with_phases = ("serve", "--phases", str(REPOSITORY / "phases.yaml"), "--port")
    said = evergold(running.data_dir, *with_phases, "0", code=Code.ERROR)
    assert said.startswith(f"Error: A server already runs on {running.data_dir} (process ")
    assert running.address in said
    port = running.address.rpartition(":")[2]
    said = evergold(folder / "var", *with_phases, port, code=Code.ERROR)
    assert said.startswith(f"Error: Port {port} on 127.0.0.1 is taken by another program")
    assert "\n" not in said


def test_data_dir_that_cannot_be_written_is_explained(folder: Path, evergold: Evergold) -> None:
    (folder / "var").write_text("a file")
    said = evergold(
        folder / "var", "serve", "--phases", str(REPOSITORY / "phases.yaml"), "--port", "0", code=Code.ERROR
    )
    assert said.startswith(f"Error: Cannot write to the data directory {folder / 'var'}")
    (folder / "var").unlink()


def test_missing_phases_file_is_explained(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    said = reason(folder, monkeypatch, folder / "phases.yaml")
    assert said.startswith(f"There is no {folder / 'phases.yaml'}. Create a server's folder with `evergold init`")


def test_errors_in_phases_are_listed_by_line(folder: Path) -> None:
    (folder / "phases.yaml").write_text("version: 1\ncompetition: []\nincludes: []\n")
    lines = refusal(folder, "--phases", str(folder / "phases.yaml")).splitlines()
    assert lines[0] == f"{folder / 'phases.yaml'} has 2 errors:"
    assert [line.strip().partition(": ")[0] for line in lines[1:]] == [f"{folder}/phases.yaml:{n}:1" for n in (2, 3)]


def test_database_of_a_newer_version_is_explained(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "var").mkdir()
    database = sqlite3.connect(folder / "var/evergold.db")
    with database:
        database.execute("CREATE TABLE alembic_version (version_num VARCHAR(32) NOT NULL)")
        database.execute("INSERT INTO alembic_version VALUES ('9999_the_future')")
    database.close()
    said = reason(folder, monkeypatch)
    assert "newer version of Evergold" in said
    assert "\n" not in said


def test_file_that_is_no_database_is_explained(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "var").mkdir()
    (folder / "var/evergold.db").write_bytes(b"this is no database, but long enough to be looked at closely" * 50)
    said = reason(folder, monkeypatch)
    assert said == f"The database (SQLite, {folder / 'var/evergold.db'}) cannot be used: file is not a database."


def test_database_server_that_is_away_is_explained_without_its_password(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    address = f"postgresql+psycopg://evergold:secret@127.0.0.1:{services.free_port()}/evergold"
    monkeypatch.setenv("EVERGOLD_DATABASE_URL", address)
    said = reason(folder, monkeypatch)
    assert "cannot be used" in said
    assert "secret" not in said


def test_demo_is_refused_on_a_server_made_with_init(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("a long password\n"))
    monkeypatch.delenv("EVERGOLD_DATA_DIR")  # which comes before the folder's own place for data
    arguments = ["--admin-username", "ada", "--admin-email", "ada@example.org", "--password-stdin"]
    assert run(["init", str(folder), *arguments]) == Code.OK
    assert "competition 'demo'" in reason(folder, monkeypatch, folder / "phases.yaml", "--demo")
    assert "real server" in reason(folder, monkeypatch, demo="--demo")  # not even with the demo's own phases.yaml
    database = sqlite3.connect(folder / "var/evergold.db")
    people = database.execute("SELECT username FROM users WHERE password_hash IS NOT NULL").fetchall()
    database.close()
    assert people == [("ada",)]


# ------------------------------------------------------------------------------------------------------------- links


def test_links_in_mails_and_on_terminals_lead_to_the_address_that_serves(
    running: Server, evergold: Evergold, monkeypatch: pytest.MonkeyPatch
) -> None:
    body = {"username": "pauline", "email": "pauline@example.org", "password": "a long pass phrase"}
    httpx.post(f"{running.address}/api/v1/register", json=body, timeout=60).raise_for_status()
    folder = running.data_dir / "mail"
    wait_until(lambda: any("pauline" in path.read_text() for path in folder.glob("*.eml")), "the mail is written")
    [mail] = [text for path in folder.glob("*.eml") if "pauline" in (text := path.read_text())]
    assert {link.partition("/account")[0] for link in re.findall(r"http\S+", mail) if "link=" in link} == {
        running.address
    }
    asked = (running.data_dir, "account", "reset-link", "pauline")
    assert evergold(*asked).startswith(f"{running.address}/password/new?")
    base = "https://scores.example.org"
    monkeypatch.setenv("EVERGOLD_BASE_URL", base)
    assert evergold(*asked).startswith(f"{base}/password/new?")


def test_a_web_process_alone_notes_its_address_for_sweep_and_commands(folder: Path, evergold: Evergold) -> None:
    data = folder / "var"
    evergold(data, "migrate")
    evergold(data, "account", "create", "ada", "--email", "ada@example.org", "--password-stdin")
    web, address = services.start_web(folder, services.environment_of(data_dir=data))
    try:
        assert evergold(data, "account", "reset-link", "ada").startswith(f"{address}/password/new?")
    finally:
        kill(web)
