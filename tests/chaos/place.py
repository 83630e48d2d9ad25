"""A server on parts that may be broken: PostgreSQL, Valkey, web, sweep and workers, each killed and started again.

Or on SQLite, which is a file and not a part.
"""

from __future__ import annotations

import itertools
import os
import re
import signal
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

import redis
from sqlalchemy import Engine

from app.base.db import make_engine
from tests import postgres, services
from tests.processes import Service, kill, short_folder, start, wait_until
from tests.services import Valkey, environment_of, evergold, start_sweep

TIMES = {"lease_seconds": 2, "sweep_seconds": 0.5, "attempts": 100, "uploads_per_minute": 0}

PHASES = """\
version: 1
competitions:
  - name: storm
    title: "Storm"
    registration: {mode: open}
    tasks:
      - {name: detection, type: idiom-detection, title: "Detection", options: {languages: [en]}}
    boards:
      - name: zero-shot
        title: "Zero-shot"
        task: detection
        columns:
          - {metric: macro_f1, split: zero_shot/all, title: "All"}
          - {metric: accuracy, split: zero_shot/all, title: "Accuracy"}
    phases:
      - name: calm
        title: "Calm"
        start: "2020-01-01 00:00 UTC"
        limits: {per_day: 100000, total: 100000, rejected_per_hour: 100000}
        tasks: {detection: {gold: gold.csv, items: items.csv}}
      - name: chaos
        title: "Chaos"
        start: "2020-01-01 00:00 UTC"
        limits: {per_day: 100000, total: 100000, rejected_per_hour: 100000}
        tasks: {detection: {gold: gold.csv, items: items.csv}}
"""
ITEMS = 60
LABELS = [str(n * n % 7 % 2) for n in range(ITEMS)]


@dataclass
class Place:
    """Everything by name, and methods that break it."""

    folder: Path
    environment: dict[str, str]
    database: postgres.Postgres | None
    broker: Valkey
    engine: Engine
    port: int
    web: Service
    sweep: Service
    workers: list[Service] = field(default_factory=list)
    _number: Iterator[int] = field(default_factory=itertools.count)

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def start_worker(self, processes: int = 1, *, is_ready: bool = True, **settings: float) -> Service:
        """Start one more slow worker."""
        own = {f"EVERGOLD_{name.upper()}": str(value) for name, value in settings.items()}
        environment = {**self.environment, "EVERGOLD_GOLD_DIR": str(self.folder / "gold"), **own}
        command = [
            sys.executable,
            "-P",
            "-m",
            "tests.chaos.dawdling",
            "--queues",
            "cpu",
            "--concurrency",
            str(processes),
        ]
        worker = start(f"worker{next(self._number)}", command, self.folder, environment)
        self.workers.append(worker)
        if is_ready:
            wait_until(lambda: re.search(r"ready\.", worker.said()), "the worker is ready", worker)
        return worker

    def kill_worker(self, busy: int | None) -> None:
        """Kill a parent and its children at once, as when a machine loses its power: the one with this child, else the
        oldest.

        Another worker is started.
        """
        having = (n for n, worker in enumerate(self.workers) if busy in children_of(worker.process.pid))
        kill(self.workers.pop(next(having, 0)))
        self.start_worker(is_ready=False)

    def kill_child(self, busy: int | None) -> None:
        """Kill only a scoring process, as the kernel does if memory is short; its parent has to notice."""
        for child in [busy] if busy else children_of(self.workers[0].process.pid):
            with suppress(ProcessLookupError):
                os.kill(child, signal.SIGKILL)

    def kill_background(self) -> None:
        """Kill the process that computes statistics and checks gold; its worker starts it again."""
        for worker in self.workers:
            if process := background_of(worker.process.pid):
                with suppress(ProcessLookupError):
                    os.kill(process, signal.SIGKILL)

    def flush_broker(self) -> None:
        with redis.Redis.from_url(self.broker.address) as client:
            client.flushall()

    def restart_broker(self) -> None:
        self.broker.stop()
        self.broker.start()

    def restart_web(self) -> None:
        """Kill the web process (kill -9) and start it again at the same address."""
        kill(self.web)
        self.web = start_web(self.folder, self.environment, self.port)

    def logs(self) -> str:
        """Return the ends of all logs, for a failure."""
        return "\n".join(
            f"--- {log.name}\n{log.read_text(errors='replace')[-1500:]}" for log in self.folder.glob("*.log")
        )


def children_of(pid: int) -> list[int]:
    """Return the living children of a process, whichever of its threads started them."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(FileNotFoundError, ProcessLookupError):
            state, parent, *_ = (folder / "stat").read_text().rpartition(")")[2].split()
            if int(parent) == pid and state != "Z":
                found.append(int(folder.name))
    return found


def background_of(worker: int) -> int | None:
    """Return the background process of a worker, None if there is none."""
    for child in children_of(worker):
        with suppress(FileNotFoundError, ProcessLookupError):
            if b"background" in Path(f"/proc/{child}/cmdline").read_bytes():
                return child
    return None


@contextmanager
def a_place(*, on_sqlite: bool = False, web_processes: int = 1, **settings: float) -> Iterator[Place]:
    """Yield everything running, except for workers."""
    with ExitStack() as stack:
        folder = stack.enter_context(short_folder())
        (folder / "gold").mkdir()
        rows = [f"{n},d{n},EN,{label}\n" for n, label in enumerate(LABELS)]
        (folder / "gold" / "gold.csv").write_text("ID,DataID,Language,Label\n" + "".join(rows))
        items = [f"{n},EN,swan song,A swan song.\n" for n in range(ITEMS)]
        (folder / "items.csv").write_text("ID,Language,MWE,Target\n" + "".join(items))
        (folder / "phases.yaml").write_text(PHASES)
        database = None if on_sqlite else stack.enter_context(postgres.breakable())
        address = database.address if database else f"sqlite:///{folder / 'evergold.db'}"
        broker = stack.enter_context(services.valkey())
        environment = environment_of(
            database_url=address,
            broker_url=broker.address,
            data_dir=folder / "data",
            phases_file=folder / "phases.yaml",
            **{**TIMES, **settings},
        )
        environment["DAWDLE_SECONDS"] = "0.05"
        services.set_up(environment)
        engine = make_engine(address)
        stack.callback(engine.dispose)
        port = services.free_port()
        sweep = start_sweep(folder, environment)
        web = start_web(folder, environment, port, web_processes)
        place = Place(folder, environment, database, broker, engine, port, web, sweep)
        stack.callback(kill_all, place)
        wait_for_web(place)
        yield place


def kill_all(place: Place) -> None:
    for service in (place.web, place.sweep, *place.workers):
        kill(service)


def start_web(folder: Path, environment: dict[str, str], port: int, processes: int = 1) -> Service:
    return evergold("web", folder, environment, "web", "--port", str(port), "--processes", str(processes))


def wait_for_web(place: Place) -> None:
    wait_until(lambda: services._serves(place.port), "the web process answers", place.web)
