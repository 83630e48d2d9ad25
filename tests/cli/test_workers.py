"""`evergold workers`: who is present, as a table and as JSON, with the results of self-checks."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from app.base.config import get_settings
from app.base.db import get_engine, writing
from app.models import SelfCheck, Worker
from app.runs.workers import SILENT_SECONDS, announce_worker
from evergold.cli import run
from evergold.cli.output import Code

Evergold = Callable[..., tuple[int, str, str]]


@pytest.fixture
def evergold(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Evergold:
    """The command line, on a migrated database in a folder of the test's own."""
    monkeypatch.chdir(tmp_path)

    def command(*arguments: str) -> tuple[int, str, str]:
        code = run(list(arguments))
        return code, *capsys.readouterr()

    assert command("migrate")[0] == Code.OK
    return command


def announce(name: str, *queues: str, silent_for: float = 0, **more: object) -> None:
    now = datetime.now(UTC)
    row: dict[str, object] = {
        "name": name,
        "host": "box",
        "processes": 2,
        "queues": list(queues),
        "device": None,
        "versions": {"python": "3.12.1"},
        "models": [],
        "self_check": None,
        "self_check_words": [],
        "self_checked_at": None,
        "started_at": now,
        **more,
    }
    with writing(get_engine(get_settings().database_address)) as session:
        announce_worker(session, Worker(**row), now - timedelta(seconds=silent_for))


def test_workers_that_are_there_are_listed_and_those_that_are_silent_are_not(evergold: Evergold) -> None:
    announce("box:1", "cpu")
    announce("box:2", device="cuda", self_check=SelfCheck.REFUSED, self_check_words=["other numbers."], models=["m"])
    announce("box:3", "cpu", silent_for=SILENT_SECONDS)
    code, out, err = evergold("workers")
    assert code == Code.OK
    lines = [line.split("\t") for line in out.splitlines()]
    assert lines[0][:6] == ["Worker", "Queues", "At a time", "Device", "Self-check", "Models"]
    assert [line[:6] for line in lines[1:]] == [
        ["box:1", "cpu", "2", "–", "–", "–"],
        ["box:2", "none yet", "2", "cuda", "refused", "m"],
    ]
    assert err == "box:2: other numbers.\n"


def test_as_json_it_has_everything(evergold: Evergold) -> None:
    announce("box:1", "cpu", "gpu", self_check=SelfCheck.PASSED, self_checked_at=datetime(2026, 1, 10, tzinfo=UTC))
    code, out, _ = evergold("workers", "--json")
    [worker] = json.loads(out)["workers"]
    assert code == Code.OK
    assert (worker["queues"], worker["self_check"], worker["versions"]) == (
        ["cpu", "gpu"],
        "passed",
        {"python": "3.12.1"},
    )
    assert worker["self_checked_at"] == "2026-01-10T00:00:00+00:00"


def test_without_workers_the_table_is_empty_and_without_a_database_it_says_so(
    evergold: Evergold, tmp_path: Path
) -> None:
    assert len(evergold("workers")[1].splitlines()) == 1
    (tmp_path / "var" / "evergold.db").unlink()
    get_engine(get_settings().database_address).dispose()
    code, out, err = evergold("workers")
    assert (code, out) == (Code.ERROR, "")
    assert err.startswith("Error: The database cannot be read: no such table: workers")
