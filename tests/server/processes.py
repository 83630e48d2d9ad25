"""A whole running Evergold, with a competition to submit to and ways to break its parts.

It has two forms: the embedded default under `evergold serve`, and single processes on PostgreSQL and Valkey, as
containers run them.
"""

from __future__ import annotations

import os
import re
import signal
import socket
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from uuid import UUID

import pytest
from sqlalchemy import Engine, select

from app.base.db import make_engine, reading
from app.models import ScoringRun
from app.server import programs
from tests import postgres
from tests.canary import MARK
from tests.processes import kill, short_folder, stop, wait_until
from tests.sealed import files_with
from tests.services import environment_of, evergold, set_up, start_sweep, start_web, start_worker, valkey

#: Short, so that a lost worker is noticed soon.
TIMES = {"lease_seconds": 2, "sweep_seconds": 0.5}

PHASES = """\
version: 1
include: ["imported/*/competition.yaml"]
competitions:
  - name: swans
    title: "Swan songs"
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
      - name: evaluation
        title: "Evaluation"
        start: "2020-01-01 00:00 UTC"
        limits: {per_day: 2}
        visibility: {precision: full, slices: all}
        tasks:
          detection: {gold: swans/gold.csv, items: items.csv}
      - name: stalled
        title: "Whose gold hangs until a test lets it go"
        start: "2020-01-01 00:00 UTC"
        visibility: {precision: full, slices: all}
        tasks:
          detection: {gold: swans/stalled.csv, items: items.csv}
      - name: over
        title: "Over"
        start: "2020-01-01 00:00 UTC"
        end: "2020-01-02 00:00 UTC"
        tasks:
          detection: {gold: swans/gold.csv, items: items.csv}
"""
ITEMS = "ID,Language,MWE,Target\n" + "".join(f"{n},EN,swan song,A swan song.\n" for n in (1, 2, 3, 4))
#: With the mark that must be seen nowhere else; see `tests.canary`.
GOLD = f"ID,DataID,Language,Label\n1,{MARK}d1,EN,0\n2,d2,EN,0\n3,d3,EN,1\n4,d4,EN,1\n"


@dataclass
class Server:
    """A server that responds at `address`; `engine` accesses its database from outside.

    break_broker makes the broker useless without an error, mend_broker brings it back without its messages.
    replace_worker is for servers on which nothing supervises the processes.
    """

    address: str
    engine: Engine
    gold: Path
    break_broker: Callable[[], None]
    mend_broker: Callable[[], None]
    replace_worker: Callable[[], None] = lambda: None


Prepare = Callable[[Path], None]


@contextmanager
def embedded(prepare: Prepare) -> Iterator[Server]:
    """Yield a server under `evergold serve` with default settings: SQLite, and the broker from a wheel. `prepare` may
    add to the folder.
    """
    with short_folder() as folder:
        _write_competition(folder, prepare)
        data = folder / "var"
        paths = ("--data-dir", str(data), "--phases", str(folder / "phases.yaml"))
        environment = environment_of(gold_dir=folder / "gold", **TIMES)
        service = evergold("serve", folder, environment, "serve", "--port", "0", *paths)
        engine = make_engine(f"sqlite:///{data / 'evergold.db'}")
        try:
            wait_until(lambda: "runs at http" in service.said(), "the server says where it is", service)
            found = re.search(r"http://[\d.:]+", service.said())
            assert found is not None
            lifeline = EmbeddedBroker(data)
            yield Server(found[0], engine, folder / "gold", lifeline.hang, lifeline.lose)
        finally:
            engine.dispose()
            stop(service)
        check_no_gold_told(folder)


@contextmanager
def on_real_parts(postgres_server: str, prepare: Prepare) -> Iterator[Server]:
    """Yield a server with a PostgreSQL and a broker of its own, and with web, worker and sweep started one by one."""
    with ExitStack() as stack:
        folder = stack.enter_context(short_folder())
        stack.callback(check_no_gold_told, folder)
        _write_competition(folder, prepare)
        named_broker = os.environ.get("EVERGOLD_TEST_BROKER_URL", "")
        own_broker = None if named_broker else stack.enter_context(valkey())
        database = stack.enter_context(postgres.database(postgres_server))
        shared = environment_of(
            database_url=database,
            broker_url=own_broker.address if own_broker else named_broker,
            data_dir=folder / "data",
            phases_file=folder / "phases.yaml",
            **TIMES,
        )
        with_gold = {**shared, "EVERGOLD_GOLD_DIR": str(folder / "gold")}
        set_up(shared)
        web, address = start_web(folder, shared)
        stack.callback(kill, web)
        stack.callback(kill, start_worker(folder, with_gold, processes=2))
        stack.callback(kill, start_sweep(folder, shared))
        engine = make_engine(database)
        stack.callback(engine.dispose)

        def replace_worker() -> None:
            stack.callback(kill, start_worker(folder, with_gold, name="another-worker"))

        breaking = (own_broker.stop, own_broker.start) if own_broker else (_leave_alone, _leave_alone)
        yield Server(address, engine, folder / "gold", *breaking, replace_worker)


class EmbeddedBroker:
    """The broker that a supervisor watches: it hangs while it is broken, and is lost when it is mended."""

    def __init__(self, data: Path) -> None:
        path = programs.socket_path(data)
        assert path is not None
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
            connection.connect(str(path))
            connection.sendall(b"INFO server\r\n")
            told = re.search(rb"process_id:(\d+)", connection.recv(65_536))
        assert told is not None
        self._process = int(told[1])

    def hang(self) -> None:
        os.kill(self._process, signal.SIGSTOP)

    def lose(self) -> None:
        os.kill(self._process, signal.SIGKILL)


def kill_worker_of(server: Server, submission_id: UUID) -> None:
    """Kill the worker that holds this submission's run (kill -9), with all its processes."""
    with reading(server.engine) as session:
        worker = session.scalars(select(ScoringRun.worker).where(ScoringRun.submission_id == submission_id)).one()
    assert worker is not None
    os.killpg(os.getpgid(int(worker.rpartition(":")[2])), signal.SIGKILL)


def check_no_gold_told(folder: Path) -> None:
    """Check that no log, row or stored file of a server that has ended contains gold, except where
    organisers put it.
    """
    told = [path for path in files_with(folder, MARK.encode()) if not path.startswith("gold/")]
    assert told == []


def _write_competition(folder: Path, prepare: Prepare) -> None:
    (folder / "gold" / "swans").mkdir(parents=True)
    (folder / "gold" / "swans" / "gold.csv").write_text(GOLD)
    (folder / "items.csv").write_text(ITEMS)
    (folder / "phases.yaml").write_text(PHASES)
    prepare(folder)


def _leave_alone() -> None:
    pytest.skip("the broker of EVERGOLD_TEST_BROKER_URL is not ours to break")
