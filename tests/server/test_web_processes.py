"""Several web processes on one port: any may die, none outlives the one that started them, and SQLite has one."""

from __future__ import annotations

import os
import re
import signal
from contextlib import suppress

import httpx
import pytest

from app.server.web import check_processes
from evergold.cli import run
from evergold.cli.output import Code
from tests import postgres, services
from tests.chaos.place import children_of
from tests.processes import Service, is_gone, short_folder, wait_until
from tests.services import environment_of, evergold

pytestmark = pytest.mark.services


def test_one_that_is_killed_is_started_again_and_none_outlives_their_parent(postgres_server: str) -> None:
    with short_folder() as folder, postgres.database(postgres_server) as database:
        (folder / "phases.yaml").write_text("version: 1\ncompetitions: []\n")
        environment = environment_of(
            data_dir=folder / "data", phases_file=folder / "phases.yaml", database_url=database
        )
        services.set_up(environment)
        port = services.free_port()
        web = evergold("web", folder, environment, "web", "--port", str(port), "--processes", "2")
        wait_until(lambda: len(serving(web)) == 2, "both serve", web)
        first, second = serving(web)
        os.kill(first, signal.SIGKILL)
        answers = 0
        while first in serving(web) or len(serving(web)) < 2:
            # A connection that the killed one had taken is lost; the next one is not.
            with suppress(httpx.TransportError):
                url = f"http://127.0.0.1:{port}/api/v1/competitions"
                answers += httpx.get(url, timeout=60).raise_for_status().status_code == 200
        assert answers
        assert second in serving(web)
        assert answers_counted(port) >= answers, "whichever process is asked"
        children = serving(web)
        web.process.kill()
        web.process.wait(60)
        wait_until(lambda: all(map(is_gone, children)), "they are gone")


def answers_counted(port: int) -> float:
    text = httpx.get(f"http://127.0.0.1:{port}/metrics", timeout=60).raise_for_status().text
    [number] = re.findall(
        r'^evergold_http_responses_total\{route="/api/v1/competitions",status="2xx"\} (\S+)', text, re.M
    )
    return float(number)


def serving(web: Service) -> set[int]:
    """Return the processes that reported their start, and are alive."""
    begun = {int(pid) for pid in re.findall(r"Started server process \[(\d+)\]", web.said())}
    return begun & set(children_of(web.process.pid))


def test_sqlite_has_one(tmp_path_factory: pytest.TempPathFactory, capsys: pytest.CaptureFixture[str]) -> None:
    check_processes(1)
    folder = str(tmp_path_factory.mktemp("data"))
    for command in ("web", "serve"):
        count = "--processes" if command == "web" else "--web-processes"
        assert run([command, "--data-dir", folder, count, "2"]) == Code.ERROR
        assert "Several web processes need PostgreSQL" in capsys.readouterr().err
