"""Commands of docs/running.md, "On PostgreSQL, step by step", run exactly as documented: real processes, an empty
database.
"""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import httpx
import pytest

from tests import postgres
from tests.processes import REPOSITORY, Service, short_folder, start, stop, wait_until
from tests.services import Valkey, environment_of, free_port

PASSWORD = "correct horse battery"
GUIDE = (REPOSITORY / "docs/running.md").read_text()
SECTION = GUIDE[GUIDE.index("## On PostgreSQL, step by step") : GUIDE.index("## With PostgreSQL and Redis")]
INSTALL, FOLDER, PEOPLE = re.findall(r"```bash\n(.*?)```", SECTION, re.DOTALL)
#: These go on until they are stopped.
LASTING = ("web", "worker", "sweep")
#: What the guide's competition is called in its last lines.
COMPETITION = """\
version: 1
competitions:
  - name: my-task
    title: "My task"
    tasks: [{name: detection, type: idiom-detection, title: "Detection", options: {languages: [en]}}]
    boards:
      - {name: b, title: "B", task: detection, columns: [{metric: macro_f1, split: zero_shot/all, title: "All"}]}
    phases: [{name: p, title: "P", start: "2020-01-01 00:00 UTC", tasks: {detection: {items: items.csv}}}]
"""
ITEMS = "ID,Language,MWE,Target\n1,EN,swan song,A swan song.\n"


def commands(block: str) -> list[list[str]]:
    """The lines of `evergold`, in their order, without comments."""
    lines = (line for line in block.splitlines() if line.startswith("evergold "))
    return [shlex.split(line, comments=True)[1:] for line in lines]


@pytest.fixture
def folder(postgres_server: str, valkey: Valkey) -> Iterator[Path]:
    """A server's folder with the guide's `.env`, its two addresses exchanged for those that are here."""
    with short_folder() as place, postgres.database(postgres_server) as database:
        env = FOLDER[FOLDER.index("<<'END'\n") + 8 : FOLDER.index("END\n", FOLDER.index("<<'END'\n") + 8)]
        addresses = {"EVERGOLD_DATABASE_URL": database, "EVERGOLD_BROKER_URL": valkey.address}
        names = [line.partition("=")[0] for line in env.splitlines()]
        assert sorted(names) == sorted(addresses)
        (place / ".env").write_text("".join(f"{name}={addresses[name]}\n" for name in names))
        yield place


def evergold(folder: Path, arguments: list[str]) -> None:
    """A command of the guide, the password on stdin instead of a terminal."""
    asks = arguments[0] == "init" or arguments[:2] == ["account", "create"]
    done = subprocess.run(
        [sys.executable, "-P", "-m", "evergold.cli", *arguments, *(["--password-stdin"] if asks else [])],
        cwd=folder,
        env=environment_of(),
        input=PASSWORD if asks else "",
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, (arguments, done.stdout, done.stderr)


@pytest.mark.soak
def test_the_guide_leads_from_an_empty_database_to_a_server_with_its_organisers(folder: Path) -> None:
    port = str(free_port())
    with ExitStack() as stack:
        started: dict[str, Service] = {}
        for arguments in commands(FOLDER):
            if arguments[0] in LASTING:
                name = arguments[0]
                if name == "web":
                    arguments[arguments.index("--port") + 1] = port
                line = shlex.join([sys.executable, "-P", "-m", "evergold.cli", *arguments])
                command = ["/bin/sh", "-c", f"cd {shlex.quote(str(folder))} && exec {line}"]
                started[name] = start(name, command, folder, environment_of())
                stack.callback(stop, started[name])
            else:
                evergold(folder, arguments)
        assert tuple(started) == LASTING
        (folder / "phases.yaml").write_text(COMPETITION)
        (folder / "items.csv").write_text(ITEMS)
        evergold(folder, ["apply"])
        for arguments in commands(PEOPLE):
            evergold(folder, arguments)
        client = stack.enter_context(httpx.Client(base_url=f"http://127.0.0.1:{port}/api/v1", timeout=30))
        wait_until(lambda: answers(client), "the web process answers", started["web"])
        wait_until(lambda: is_ready(client), "every part of the server is there", started["worker"], seconds=180)
        for person in ("ada", "grace"):
            account = client.get("/me", headers=token_of(client, person)).json()
            assert (account["username"], account["is_administrator"]) == (person, True)
    assert not (folder / "var/evergold.db").exists()


def answers(client: httpx.Client) -> bool:
    try:
        return client.get("/competitions").status_code == 200
    except httpx.TransportError:
        return False


def is_ready(client: httpx.Client) -> bool:
    return client.get(str(client.base_url).replace("/api/v1/", "/readyz")).status_code == 200


def token_of(client: httpx.Client, person: str) -> dict[str, str]:
    made = client.post("/tokens", json={"name": "here", "username": person, "password": PASSWORD})
    assert made.status_code == 201, made.text
    return {"Authorization": f"Bearer {made.json()['secret']}"}


def test_what_the_guide_installs_is_what_there_is() -> None:
    [requirements] = re.findall(r"--requirement (\S+)", INSTALL)
    assert (REPOSITORY / requirements).is_file()
    [packages] = re.findall(r"--no-deps --force-reinstall (.+)", INSTALL)
    assert [(REPOSITORY / package / "pyproject.toml").is_file() for package in packages.split()] == [True, True]
    assert not re.search(r"^(make|docker)\b", INSTALL + FOLDER + PEOPLE, re.MULTILINE)
