"""Visitors, a worker and a sweep while somebody migrates the database under them to a revision that they do not know.

`python -m tests.attacks.other_revision` starts the parts of a server, moves the tables on, and reports the answers to
visitors, which parts end, and whether they start again.
"""

from __future__ import annotations

import sys
import threading
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import httpx

from app.base.db import make_engine
from app.operations.migrate import upgrade
from tests.processes import START_SECONDS, Service, kill, short_folder, wait_until
from tests.revisions import move_on
from tests.services import environment_of, evergold, start_sweep, start_web, start_worker

VISITORS = 8
ADDRESSES = ("/", "/competitions/x", "/api/v1/competitions", "/login", "/api/v1/me", "/metrics", "/sitemap.xml")
PARTS = (("web", "--port", "1"), ("worker", "--queues", "cpu"), ("sweep",))


def main() -> int:
    """Send requests without a pause while the tables move on; return 1 for a 500, a part that ends, or one that then
    starts.
    """
    with short_folder() as folder:
        database = f"sqlite:///{folder / 'evergold.db'}"
        environment = environment_of(data_dir=folder / "var", database_url=database, sweep_seconds=0.2)
        engine = make_engine(database)
        upgrade(engine)
        web, address = start_web(folder, environment)
        services = [web, start_worker(folder, environment), start_sweep(folder, environment)]
        try:
            answers = _storm(address, lambda: move_on(engine), web)
            ended = [service.name for service in services if not service.is_running()]
            started = [part[0] for part in PARTS if not _is_refused(folder, environment, part)]
        finally:
            for service in services:
                kill(service)
            engine.dispose()
    for status, number in sorted(answers.items()):
        _report(f"{number:>6} answers {status}")
    _report(
        f"parts that ended: {', '.join(ended) or 'none'}; that start on other tables: {', '.join(started) or 'none'}"
    )
    return int(answers[500] > 0 or bool(ended or started))


def _storm(address: str, move: Callable[[], None], web: Service) -> Counter[int]:
    """Count the statuses before, while and after the tables move on."""
    answers: Counter[int] = Counter()
    stop = threading.Event()

    def visit() -> None:
        with httpx.Client(base_url=address, timeout=60) as client:
            while not stop.is_set():
                answers.update(client.get(path).status_code for path in ADDRESSES)

    visitors = [threading.Thread(target=visit) for _ in range(VISITORS)]
    for visitor in visitors:
        visitor.start()
    try:
        wait_until(lambda: answers[200] >= 50, "visitors are answered", web)
        move()
        wait_until(lambda: answers[503] >= 500, "visitors are refused", web)
    finally:
        stop.set()
        for visitor in visitors:
            visitor.join()
    return answers


def _is_refused(folder: Path, environment: dict[str, str], part: tuple[str, ...]) -> bool:
    service = evergold(f"{part[0]}-again", folder, environment, *part)
    try:
        status = service.process.wait(START_SECONDS)
    finally:
        kill(service)
    said = service.said()
    _report(f"{part[0]:<7} {said.strip().splitlines()[-1]}")
    return status != 0 and "Error: The database is of revision" in said and "Traceback" not in said


def _report(line: str) -> None:
    print(line)  # noqa: T201 - a script reports


if __name__ == "__main__":
    sys.exit(main())
