"""A public board, requested repeatedly: computed each time, from memory, and not sent at all (If-None-Match).

Boards of 50 and of 5,000 rows, as page and JSON, with few and with many submissions in the database (a million:
`--submissions 1000000`), on SQLite, and on PostgreSQL from one web process and from two. Figures are milliseconds of
processors for a board that is made, which hold also where others use the machine, requests per second, their ratios
within one run, and how many a second of processor time would serve. Needs Linux. Loopback only; stops by itself.
"""

from __future__ import annotations

import asyncio
import json
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from itertools import product
from pathlib import Path

import httpx
import pytest

from app.base.db import make_engine
from app.operations.migrate import upgrade
from bench._command import BenchParser, run
from bench._processors import processor_seconds_of_family
from bench._seeded import fill
from tests import postgres
from tests.processes import kill, short_folder
from tests.services import environment_of, start_web

DATABASES = ("sqlite", "postgresql")
PAGE = "/competitions/idioms/phases/evaluation/boards/zero-shot"
PATHS = {"page": PAGE, "page, sorted": f"{PAGE}?sort=team&kind=team", "JSON": f"/api/v1{PAGE}"}
SMOKE = {"database": ["postgresql"], "rows": [3], "submissions": [10], "processes": [1], "seconds": 0.05}
#: Enough to keep two processes busy.
CONNECTIONS = 8

Figures = dict[str, object]


def main(argv: Sequence[str] | None = None) -> int:
    """Run, print a table (or JSON)."""
    parser = BenchParser(__doc__, smoke=SMOKE)
    parser.add_argument("--database", nargs="+", choices=DATABASES, default=DATABASES)
    parser.add_argument("--rows", type=int, nargs="+", default=[50, 5000])
    parser.add_argument("--submissions", type=int, nargs="+", default=[100, 100_000])
    parser.add_argument("--processes", type=int, nargs="+", default=[1, 2], help="of the web; one on SQLite")
    parser.add_argument("--seconds", type=float, default=3.0, help="for each figure")
    arguments = parser.parse(argv)
    sizes = list(product(arguments.rows, arguments.submissions))
    figures = []
    for database in arguments.database:
        try:
            for one in figures_on(database, sizes, arguments.processes, arguments.seconds):
                figures.append(one)
                if not arguments.json:
                    print("  ".join(f"{name} {value}" for name, value in one.items()), flush=True)
        except pytest.skip.Exception as missing:
            print(missing, file=sys.stderr)
    if arguments.json:
        print(json.dumps(figures, indent=1))
    return 0


def figures_on(
    database: str, sizes: Sequence[tuple[int, int]], processes: Sequence[int], seconds: float
) -> Iterator[Figures]:
    """Measure each size, number of web processes, and form of the board."""
    with postgres.breakable() if database == "postgresql" else nullcontext() as server:
        for rows, submissions in sizes:
            with filled(server, rows, submissions) as place:
                for count in processes if server else [1]:
                    known = {"database": database, "rows": rows, "submissions": max(rows, submissions)}
                    for one in measure(place, count, seconds):
                        yield {**known, "processes": count, **one}


# ---------------------------------------------------------------------------------------------------------- the server


@dataclass(frozen=True, slots=True)
class Place:
    """A folder for a server's data, a database, and the main process of PostgreSQL."""

    folder: Path
    database_url: str
    postmaster: int | None


@dataclass(frozen=True, slots=True)
class Running:
    """A server's address and its processes."""

    url: str
    pids: Mapping[str, int]

    def spent(self) -> dict[str, float]:
        """Return the processor seconds used so far, by process."""
        return {who: processor_seconds_of_family(pid) for who, pid in self.pids.items()}


@contextmanager
def filled(server: postgres.Postgres | None, rows: int, submissions: int) -> Iterator[Place]:
    """Create a competition with so many teams on its board and so many scored submissions; server: None for SQLite."""
    with short_folder() as folder:
        in_file = nullcontext(f"sqlite:///{folder / 'evergold.db'}")
        with postgres.database(server.address) if server else in_file as address:
            engine = make_engine(address)
            upgrade(engine)
            fill(engine, rows, submissions, tell)
            engine.dispose()
            yield Place(folder, address, server.pid if server else None)


def tell(what: str, done: int, of: int) -> None:
    """Report how far the database is filled."""
    print(f"\r{what}: {done:,} of {of:,}", end="\n" if done == of else "", file=sys.stderr, flush=True)


def measure(place: Place, processes: int, seconds: float) -> Iterator[Figures]:
    """Measure each form of the board: computed each time, from memory, not sent at all."""
    with running(place, processes, answers_mebibytes=0) as server:
        made = {name: ask(server, path, seconds, connections=processes) for name, path in PATHS.items()}
    with running(place, processes, answers_mebibytes=64) as server:
        for name, path in PATHS.items():
            first = httpx.get(server.url + path, timeout=120)
            kept, not_sent = (ask(server, path, seconds, known=known) for known in (False, True))
            yield {
                "form": name,
                "compressed KiB": round(int(first.headers["content-length"]) / 1024, 1),
                **{f"made, ms of {who}": round(1000 * used, 1) for who, used in made[name].used.items()},
                "made/s": round(made[name].per_second, 2),
                "kept/s": round(kept.per_second),
                "not sent/s": round(not_sent.per_second),
                "kept/CPU s": kept.per_processor_second,
                "not sent/CPU s": not_sent.per_processor_second,
                "kept : made": round(kept.per_second / made[name].per_second, 1),
                "not sent : kept": round(not_sent.per_second / kept.per_second, 2),
            }


@contextmanager
def running(place: Place, processes: int = 1, *, answers_mebibytes: int) -> Iterator[Running]:
    """Run the web processes as a server does; answers_mebibytes: 0 for no cache of responses."""
    environment = environment_of(
        data_dir=place.folder, database_url=place.database_url, answers_mebibytes=answers_mebibytes
    )
    web, url = start_web(place.folder, environment, processes=processes)
    try:
        pids = {"the web": web.process.pid, "PostgreSQL": place.postmaster}
        yield Running(url, {who: pid for who, pid in pids.items() if pid is not None})
    finally:
        kill(web)


# ---------------------------------------------------------------------------------------------------------- the client


@dataclass(frozen=True, slots=True)
class Asked:
    """Requests and their cost. used: processor seconds per response, by process."""

    per_second: float
    used: Mapping[str, float]

    @property
    def per_processor_second(self) -> int | None:
        """Return the responses per processor second; None if too little time was used to measure."""
        used = sum(self.used.values())
        return round(1 / used) if used else None


def ask(server: Running, path: str, seconds: float, *, known: bool = False, connections: int = CONNECTIONS) -> Asked:
    """Request for so long over several connections, after one request on each; known: send the last tag."""
    return asyncio.run(_ask_on(server, httpx.URL(server.url + path), connections, seconds, known))


async def _ask_on(server: Running, url: httpx.URL, connections: int, seconds: float, known: bool) -> Asked:
    head = f"GET {url.raw_path.decode()} HTTP/1.1\r\nHost: bench\r\nAccept-Encoding: gzip\r\n"
    opened = [await asyncio.open_connection(url.host, url.port) for _ in range(connections)]
    etags = await asyncio.gather(*(_ask(reader, writer, f"{head}\r\n", 200) for reader, writer in opened))
    request, status = (f"{head}If-None-Match: {etags[0]}\r\n\r\n", 304) if known else (f"{head}\r\n", 200)
    before, began = server.spent(), time.perf_counter()

    async def ask_on(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> int:
        count = 0
        while time.perf_counter() - began < seconds:
            await _ask(reader, writer, request, status)
            count += 1
        return count

    count = sum(await asyncio.gather(*(ask_on(reader, writer) for reader, writer in opened)))
    took, after = time.perf_counter() - began, server.spent()
    for _, writer in opened:
        writer.close()
    return Asked(count / took, {who: (after[who] - before[who]) / count for who in after})


async def _ask(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, request: str, status: int) -> str:
    """Return the tag of the response; anything unexpected ends the bench. A minimal client adds little time."""
    writer.write(request.encode())
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
    first, *lines = head.split("\r\n")
    headers = {name.lower(): value.strip() for name, _, value in (one.partition(":") for one in lines if one)}
    if status != int(first.split()[1]):
        raise SystemExit(f"expected {status}: {first}")
    if status == 200:
        await reader.readexactly(int(headers["content-length"]))
    return headers.get("etag", "")


if __name__ == "__main__":
    sys.exit(run(main))
