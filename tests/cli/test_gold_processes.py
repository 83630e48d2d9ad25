"""The processes of `evergold serve` that get keys and gold: workers do, the web process does not."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from app.server import programs
from app.server.programs import THRIFTY, WAYS_TO_GOLD, ServeOptions
from app.server.web import run_web
from evergold.cli import run
from evergold.cli.output import Code
from workers.keys import KeySettings

TOLD = {"EVERGOLD_GOLD_DIR": "/safe/gold", "EVERGOLD_GOLD_KEY_FILE": "/safe/key", "PATH": "/bin"}


@pytest.fixture
def options(tmp_path: Path) -> ServeOptions:
    return ServeOptions("127.0.0.1", 0, tmp_path, tmp_path / "phases.yaml", tmp_path / "gold")


def test_the_web_process_is_told_neither_where_gold_nor_where_keys_are(options: ServeOptions) -> None:
    web = programs.web(options, TOLD, listener=3)
    assert dict(web.environment) == {"PATH": "/bin", **THRIFTY}
    assert set(TOLD) - set(web.environment) == WAYS_TO_GOLD


def test_a_web_process_that_was_told_forgets_it(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in TOLD.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr("app.server.web.uvicorn.Server", lambda _: type("Server", (), {"run": lambda *_, **__: None})())
    monkeypatch.setattr("app.server.web.check_tables", lambda: None)  # there is no database
    run_web()
    assert not WAYS_TO_GOLD & set(os.environ)


def test_evergold_web_becomes_a_process_that_is_told_neither_and_is_thrifty(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    became = []
    monkeypatch.setattr("app.cli.server.exec_program", lambda command: became.append((command, dict(os.environ))))
    for name, value in {**TOLD, **THRIFTY}.items():
        monkeypatch.setenv(name, value)
    for name in THRIFTY:
        monkeypatch.delenv(name)
    assert run(["web", "--data-dir", str(tmp_path), "--port", "8400"]) == Code.OK
    [(command, environment)] = became
    assert command == programs.web_command("127.0.0.1", 8400, 1)
    assert THRIFTY.items() <= environment.items()
    assert not WAYS_TO_GOLD & set(environment)


def test_the_worker_of_serve_makes_the_first_key_and_other_workers_never_do(
    options: ServeOptions, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert not KeySettings().make_gold_key
    worker = programs.worker(options, TOLD)
    assert TOLD.items() <= worker.environment.items()
    for name, value in worker.environment.items():
        monkeypatch.setenv(name, value)
    assert KeySettings().make_gold_key
    assert "EVERGOLD_MAKE_GOLD_KEY" not in programs.gpu_worker(options, TOLD).environment


@pytest.mark.parametrize("name", ["OPENBLAS_NUM_THREADS", "MALLOC_ARENA_MAX"])
def test_one_thread_for_numpy_and_one_heap_where_there_is_no_torch_unless_somebody_wants_more(
    options: ServeOptions, name: str
) -> None:
    for program in (
        programs.web(options, TOLD, listener=3),
        programs.worker(options, TOLD),
        programs.sweep(options, TOLD),
    ):
        assert program.environment[name] == "1"
    assert name not in programs.gpu_worker(options, TOLD).environment
    assert programs.worker(options, {**TOLD, name: "4"}).environment[name] == "4"
