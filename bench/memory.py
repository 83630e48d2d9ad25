"""What each kind of process holds: a web process after its start and after every page, a worker's process, the sweep.

RSS counts whatever a process has in memory; PSS divides what it shares with others among them. Pages are those of the
leak tests' server, every GET route with whatever there is to see, one at a time. Loopback only; Linux.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter

import httpx
import pytest
from sqlalchemy import select

from app.base.config import get_settings
from app.base.db import make_engine, reading
from app.models import Heartbeat
from app.operations.migrate import upgrade
from app.server.programs import THRIFTY
from bench import throughput
from bench._processors import family, resident_mib, shared_in_parts_mib
from tests.leaks import place
from tests.leaks.bodies import body_of
from tests.processes import kill, short_folder, start, wait_until
from tests.services import environment_of, free_port, start_sweep, start_worker
from tests.web.routes import addresses, application
from tests.web.site import Site
from tests.world import NOW

RUNS = 40
SWEEPS = 3


def main() -> int:
    parts = {"web": measure_web, "worker": measure_worker, "sweep": measure_sweep}
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("parts", nargs="*", choices=[*parts, []], help="default: all")
    for part in parser.parse_args().parts or parts:
        with pytest.MonkeyPatch.context() as patch:
            parts[part](patch)
    return 0


def tell(what: str, pid: int) -> None:
    print(f"{what:60} RSS {resident_mib(pid):6.1f} MiB   PSS {shared_in_parts_mib(pid):6.1f} MiB", flush=True)


def measure_web(patch: pytest.MonkeyPatch) -> None:
    """On SQLite, without a broker."""
    with short_folder() as folder:
        address, token = f"sqlite:///{folder}/evergold.db", place.MONITORED["metrics_token"].get_secret_value()
        environment = environment_of(data_dir=folder, database_url=address, metrics_token=token)
        for name, value in environment.items():
            patch.setenv(name, value)
        get_settings.cache_clear()
        engine = make_engine(address)
        upgrade(engine)
        site = Site(f"http://127.0.0.1:{free_port()}", application(), get_settings(), engine)
        built = place.build(site)
        place.reveal(built)
        place.judge(built, place.TEAMS)
        command = [sys.executable, "-P", "-m", "bench._web_at", site.url.rpartition(":")[2], NOW.isoformat()]
        web = start("web", command, folder, environment | THRIFTY)
        try:
            wait_until(lambda: _answers(site.url), "it answers", web)
            tell("web process after its start", web.process.pid)
            for role in ("anonymous", "participant", "organiser", "administrator"):
                statuses = look_at_everything(built, role)
                tell(f"the same, {role}: {statuses}", web.process.pid)
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
    """Every GET route, with every name of what is there; how many answered how."""
    statuses: Counter[int] = Counter()
    with built.client(role) as visitor:
        for address in addresses(application()):
            if address.method == "GET":
                for path in built.fill_all(address):
                    statuses[visitor.send("GET", path, **body_of(str(address), built.names)).status_code] += 1
    return ", ".join(f"{count} × {status}" for status, count in sorted(statuses.items()))


def measure_worker(patch: pytest.MonkeyPatch) -> None:
    """Two processes, on PostgreSQL and Valkey, after some runs of two task types."""
    with throughput.a_place() as (where, works):
        worker = start_worker(where.folder, where.environment, processes=2)
        try:
            for work in works:
                throughput.score_all(where, work, RUNS, worker)
            main_process, *children = family(worker.process.pid)
            tell("worker's main process", main_process)
            for child in children:
                tell(f"worker's process after {2 * RUNS} runs by two", child)
        finally:
            kill(worker)


def measure_sweep(patch: pytest.MonkeyPatch) -> None:
    """On PostgreSQL and Valkey."""
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
            tell(f"sweep after {SWEEPS} rounds", sweep.process.pid)
        finally:
            kill(sweep)


if __name__ == "__main__":
    sys.exit(main())
