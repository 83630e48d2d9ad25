"""Memory of each kind of process: a web process after its start and after every page, a worker's process, the sweep.

RSS counts whatever a process has in memory; PSS divides what it shares with others among them. Pages are those of the
leak tests' server, every GET route with whatever there is to see, one at a time. Loopback only; Linux.
"""

from __future__ import annotations

import json
import sys
import time
from argparse import Namespace
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, redirect_stdout
from dataclasses import asdict, dataclass

import httpx
from sqlalchemy import select

from app.base.config import get_settings
from app.base.db import make_engine, reading
from app.models import Heartbeat
from app.operations.migrate import upgrade
from app.server.programs import THRIFTY
from bench import throughput
from bench._command import BenchParser, run
from bench._processors import family, resident_mib, shared_in_parts_mib
from tests.leaks import place
from tests.processes import kill, short_folder, start, wait_until
from tests.services import environment_of, free_port, start_sweep, start_worker
from tests.web.bodies import body_of
from tests.web.routes import addresses, application
from tests.web.site import Site
from tests.world import NOW

SWEEPS = 3
ROLES = ("anonymous", "participant", "organiser", "administrator")
SMOKE = {"parts": ["web"], "roles": ["anonymous"]}


@dataclass(frozen=True, slots=True)
class Held:
    """Memory of a process at a moment."""

    name: str
    moment: str
    rss_mib: float
    pss_mib: float


def main(argv: Sequence[str] | None = None) -> int:
    """Run, print a line for each process (or JSON)."""
    parser = BenchParser(__doc__, smoke=SMOKE)
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=list(PARTS))
    parser.add_argument("--roles", nargs="+", choices=ROLES, default=ROLES, help="who looks at every page")
    parser.add_argument("--runs", type=int, default=40, help="of each task type, scored by the worker")
    arguments = parser.parse(argv)
    figures = []
    for part in arguments.parts:
        for held in PARTS[part](arguments):
            figures.append(held)
            if not arguments.json:
                print(f"{held.moment:60} RSS {held.rss_mib:6.1f} MiB   PSS {held.pss_mib:6.1f} MiB", flush=True)
    if arguments.json:
        print(json.dumps({held.name: asdict(held) for held in figures}, indent=1))
    return 0


def look_at(name: str, moment: str, pid: int) -> Held:
    """Return the memory of the process now."""
    return Held(name, moment, round(resident_mib(pid), 1), round(shared_in_parts_mib(pid), 1))


def measure_web(arguments: Namespace) -> Iterator[Held]:
    """Measure a web process on SQLite, without a broker."""
    with ExitStack() as stack:
        folder = stack.enter_context(short_folder())
        address, token = f"sqlite:///{folder}/evergold.db", place.MONITORED["metrics_token"].get_secret_value()
        environment = environment_of(data_dir=folder, database_url=address, metrics_token=token)
        stack.enter_context(throughput.as_settings(environment))
        engine = make_engine(address)
        upgrade(engine)
        site = Site(f"http://127.0.0.1:{free_port()}", application(), get_settings(), engine)
        with redirect_stdout(sys.stderr):  # its log
            built = place.build(site)
            place.reveal(built)
            place.judge(built, place.TEAMS)
        command = [sys.executable, "-P", "-m", "bench._web_at", site.url.rpartition(":")[2], NOW.isoformat()]
        web = start("web", command, folder, environment | THRIFTY)
        try:
            wait_until(lambda: _answers(site.url), "it answers", web)
            yield look_at("web_start", "web process after its start", web.process.pid)
            for role in arguments.roles:
                statuses = look_at_everything(built, role)
                yield look_at(f"web_{role}", f"the same, {role}: {statuses}", web.process.pid)
        finally:
            kill(web)
            built.close()
            site.clients.close()
            engine.dispose()


def _answers(url: str) -> bool:
    try:
        return httpx.get(f"{url}/healthz").status_code == 200
    except httpx.TransportError:
        return False


def look_at_everything(built: place.Place, role: str) -> str:
    """Request every GET route with every existing name; count the responses by status."""
    statuses: Counter[int] = Counter()
    with built.client(role) as visitor:
        for address in addresses(application()):
            if address.method == "GET":
                for path in built.fill_all(address):
                    statuses[visitor.send("GET", path, **body_of(str(address), built.names)).status_code] += 1
    return ", ".join(f"{count} × {status}" for status, count in sorted(statuses.items()))


def measure_worker(arguments: Namespace) -> Iterator[Held]:
    """Measure a worker with two processes, on PostgreSQL and Valkey, after some runs of two task types."""
    with throughput.a_place() as (where, works):
        worker = start_worker(where.folder, where.environment, processes=2)
        try:
            for work in works:
                throughput.score_all(where, work, arguments.runs, worker)
            main_process, *children = family(worker.process.pid)
            yield look_at("worker_main", "worker's main process", main_process)
            for number, child in enumerate(children, 1):
                moment = f"worker's process after {2 * arguments.runs} runs by two"
                yield look_at(f"worker_child_{number}", moment, child)
        finally:
            kill(worker)


def measure_sweep(arguments: Namespace) -> Iterator[Held]:
    """Measure the sweep, on PostgreSQL and Valkey."""
    with throughput.a_place() as (where, _):
        sweep = start_sweep(where.folder, where.environment | {"EVERGOLD_SWEEP_SECONDS": "1"})
        try:
            beats: set[object] = set()

            def rounds() -> bool:
                with reading(where.engine) as session:
                    beats.update(session.scalars(select(Heartbeat.beat_at)))
                return len(beats) >= SWEEPS

            wait_until(rounds, "it swept", sweep)
            time.sleep(1)
            yield look_at("sweep", f"sweep after {SWEEPS} rounds", sweep.process.pid)
        finally:
            kill(sweep)


PARTS = {"web": measure_web, "worker": measure_worker, "sweep": measure_sweep}

if __name__ == "__main__":
    sys.exit(run(main))
