"""A server on several machines that share PostgreSQL, Valkey and a bucket, and no disk."""

from __future__ import annotations

import itertools
import shutil
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from sqlalchemy import Engine

from app.base.db import make_engine
from tests import postgres, services
from tests.canary import MARK
from tests.chaos.place import ITEMS, LABELS, PHASES, TIMES
from tests.faulty_store import FaultyStore, faulty_store
from tests.processes import Service, kill, short_folder
from tests.s3 import new_bucket, s3_environment, s3_server
from tests.services import environment_of, evergold, start_sweep, start_web, start_worker

GOLD = "ID,DataID,Language,Label\n" + "".join(f"{n},{MARK}{n},EN,{label}\n" for n, label in enumerate(LABELS))


@dataclass
class Machines:
    """Machines: two for the web, three for workers, two for sweeps; `address` is that of either web
    process, in turns.
    """

    folder: Path
    engine: Engine
    store: FaultyStore
    bucket: str
    webs: tuple[str, str]
    workers: list[Service]
    sweeps: list[Service]
    _turns: Iterator[int]

    @property
    def address(self) -> str:
        return self.webs[next(self._turns) % 2]

    def logs(self) -> str:
        """Return the ends of all logs, for a failure."""
        logs = sorted(self.folder.rglob("*.log"))
        return "\n".join(f"--- {log.relative_to(self.folder)}\n{log.read_text()[-1500:]}" for log in logs)


@contextmanager
def machines(postgres_server: str, workers: int = 3) -> Iterator[Machines]:
    """Yield all the machines, running; one of them has made the workers' key, and the others have a copy."""
    with ExitStack() as stack:
        folder = stack.enter_context(short_folder())
        _write_competition(folder)
        store = stack.enter_context(faulty_store(stack.enter_context(s3_server())))
        bucket = new_bucket(store.address)
        database = stack.enter_context(postgres.database(postgres_server))
        broker = stack.enter_context(services.valkey())
        shared = {
            **environment_of(
                database_url=database,
                broker_url=broker.address,
                phases_file=folder / "phases.yaml",
                secure_cookies="false",
                **{**TIMES, "lease_seconds": 10},
            ),
            **s3_environment(store.address, bucket),
        }

        def of_machine(name: str, **own: Path) -> tuple[Path, dict[str, str]]:
            place = folder / name
            place.mkdir()
            more = {f"EVERGOLD_{key.upper()}": str(value) for key, value in own.items()}
            return place, {**shared, "EVERGOLD_DATA_DIR": str(place / "data"), **more}

        first = of_machine("first", gold_key_file=folder / "gold" / "workers.key")
        for command in (["apply", "--migrate"], ["gold", "keygen"]):
            done = evergold(command[0], *first, *command)
            assert done.process.wait(120) == 0, done.said()
        engine = make_engine(database)
        stack.callback(engine.dispose)
        running: dict[str, list[Service]] = {"worker": [], "sweep": []}
        addresses = []
        for number in range(2):
            web, address = start_web(*of_machine(f"web{number}"))
            stack.callback(kill, web)
            addresses.append(address)
        for number in range(workers):
            gold = folder / "gold" / f"of-worker{number}"
            shutil.copytree(folder / "gold" / "plain", gold)
            machine = of_machine(f"worker{number}", gold_dir=gold, gold_key_file=folder / "gold" / "workers.key")
            running["worker"].append(start_worker(*machine))
            stack.callback(kill, running["worker"][-1])
        for number in range(2):
            running["sweep"].append(start_sweep(*of_machine(f"sweep{number}")))
            stack.callback(kill, running["sweep"][-1])
        webs = (addresses[0], addresses[1])
        yield Machines(folder, engine, store, bucket, webs, running["worker"], running["sweep"], itertools.count())


def _write_competition(folder: Path) -> None:
    (folder / "gold" / "plain").mkdir(parents=True)
    (folder / "gold" / "plain" / "gold.csv").write_text(GOLD)
    items = [f"{n},EN,swan song,A swan song.\n" for n in range(ITEMS)]
    (folder / "items.csv").write_text("ID,Language,MWE,Target\n" + "".join(items))
    downloads = "items: items.csv, downloads: [{file: items.csv, title: Items}]"
    (folder / "phases.yaml").write_text(PHASES.replace("items: items.csv", downloads))
