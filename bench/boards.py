"""A public board, asked for again and again: made each time, from memory, and not sent at all (If-None-Match).

Boards of 50 and of 5,000 rows, as page and JSON, with few and with many submissions in the database, from one web
process and from two. Figures are requests per second, their ratios within one run, and how many a second of processor
time would serve (Linux), which tells more where others use the machine. Loopback only; stops by itself.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx

from app.base.db import make_engine
from app.operations.migrate import upgrade
from bench.seeded import fill

ROOT = Path(__file__).resolve().parent.parent
PAGE = "/competitions/idioms/phases/evaluation/boards/zero-shot"
PATHS = {"page": PAGE, "page, sorted": f"{PAGE}?sort=team&kind=team", "JSON": f"/api/v1{PAGE}"}
START_SECONDS = 180
#: Enough to keep two processes busy.
CONNECTIONS = 8


def main() -> int:
    """Run, print a table (or JSON)."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, nargs="+", default=[50, 5000])
    parser.add_argument("--submissions", type=int, nargs="+", default=[100, 100_000])
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--seconds", type=float, default=3.0, help="for each figure")
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    figures = []
    for rows in arguments.rows:
        for submissions in arguments.submissions:
            with tempfile.TemporaryDirectory(prefix="evergold-bench-") as folder:
                fill_database(Path(folder), rows, submissions)
                for workers in arguments.workers:
                    known = {"rows": rows, "submissions": max(rows, submissions), "workers": workers}
                    figures += [{**known, **one} for one in measure(Path(folder), workers, arguments.seconds)]
                    if not arguments.json:
                        print("\n".join(line(one) for one in figures[-len(PATHS) :]), flush=True)
    if arguments.json:
        print(json.dumps(figures, indent=1))
    return 0


def line(one: dict[str, object]) -> str:
    """A row of the table."""
    return "  ".join(f"{name} {value}" for name, value in one.items())


def fill_database(folder: Path, rows: int, submissions: int) -> None:
    """A competition with so many teams on its board, and so many scored submissions."""
    engine = make_engine(f"sqlite:///{folder / 'evergold.db'}")
    upgrade(engine)
    fill(engine, rows, submissions)
    engine.dispose()


# ---------------------------------------------------------------------------------------------------------- the server


def measure(folder: Path, workers: int, seconds: float) -> list[dict[str, object]]:
    """Requests per second of each form of the board: made each time, from memory, not sent at all."""
    found = []
    with running(folder, workers, answers_mebibytes=0) as (url, _):
        made = {name: rate(url + path, seconds, known=False, connections=2) for name, path in PATHS.items()}
    with running(folder, workers, answers_mebibytes=64) as (url, pid):
        for name, path in PATHS.items():
            first = httpx.get(url + path, timeout=120)
            before = cpu_seconds(pid)
            kept = rate(url + path, seconds, known=False)
            between = cpu_seconds(pid)
            not_sent = rate(url + path, seconds, known=True)
            spent = (between - before, cpu_seconds(pid) - between)
            found.append(
                {
                    "form": name,
                    "compressed KiB": round(int(first.headers["content-length"]) / 1024, 1),
                    "made/s": round(made[name], 2),
                    "kept/s": round(kept),
                    "not sent/s": round(not_sent),
                    "kept/CPU s": round(kept * seconds / spent[0]) if spent[0] else None,
                    "not sent/CPU s": round(not_sent * seconds / spent[1]) if spent[1] else None,
                    "kept : made": round(kept / made[name], 1),
                    "not sent : kept": round(not_sent / kept, 2),
                }
            )
    return found


@contextmanager
def running(folder: Path, workers: int, *, answers_mebibytes: int) -> Iterator[tuple[str, int]]:
    """uvicorn on a free port of loopback, ended by SIGTERM."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [sys.executable, "-m", "uvicorn", "app.web.main:create_app", "--factory", "--host", "127.0.0.1"]
    command += ["--port", str(port), "--workers", str(workers), "--no-access-log", "--log-level", "error"]
    # uvicorn kills a process that says nothing for five seconds: on a busy machine none would ever finish its imports.
    command += ["--timeout-worker-healthcheck", str(START_SECONDS), "--timeout-keep-alive", str(START_SECONDS)]
    kept = {name: value for name, value in os.environ.items() if not name.startswith("EVERGOLD_")}
    settings = {"EVERGOLD_DATA_DIR": str(folder), "EVERGOLD_ANSWERS_MEBIBYTES": str(answers_mebibytes)}
    process = subprocess.Popen(command, cwd=ROOT, env={**kept, **settings}, stdout=subprocess.DEVNULL)
    try:
        wait_until_up(f"http://127.0.0.1:{port}", process)
        yield f"http://127.0.0.1:{port}", process.pid
    finally:
        process.terminate()
        process.wait(timeout=60)


def cpu_seconds(pid: int) -> float:
    """Processor time of the server and its processes until now; 0 where the machine does not tell it so."""
    stats = [path.read_text().rpartition(")")[2].split() for path in Path("/proc").glob(f"{pid}/stat")]
    stats += [
        found
        for path in Path("/proc").glob("[0-9]*/stat")
        if int((found := path.read_text().rpartition(")")[2].split())[1]) == pid
    ]
    return sum(int(stat[11]) + int(stat[12]) for stat in stats) / os.sysconf("SC_CLK_TCK")


def wait_until_up(url: str, process: subprocess.Popen[bytes]) -> None:
    """Return when the server answers; stop if it does, or takes too long."""
    deadline = time.monotonic() + START_SECONDS
    while process.poll() is None and time.monotonic() < deadline:
        try:
            httpx.get(f"{url}/healthz", timeout=5)
        except httpx.TransportError:
            time.sleep(0.1)
        else:
            return
    raise SystemExit("the server did not start")


# ---------------------------------------------------------------------------------------------------------- the client


def rate(url: str, seconds: float, *, known: bool, connections: int = CONNECTIONS) -> float:
    """Answers per second over several connections, after one on each; `known`: with the tag of what was sent before."""
    parts = httpx.URL(url)
    head = f"GET {parts.raw_path.decode()} HTTP/1.1\r\nHost: bench\r\nAccept-Encoding: gzip\r\n"
    return asyncio.run(_rate(parts.host, parts.port or 80, head, connections, seconds, known))


async def _rate(host: str, port: int, head: str, connections: int, seconds: float, known: bool) -> float:
    opened = [await asyncio.open_connection(host, port) for _ in range(connections)]
    etags = await asyncio.gather(*(_ask(reader, writer, f"{head}\r\n", 200) for reader, writer in opened))
    request, status = (f"{head}If-None-Match: {etags[0]}\r\n\r\n", 304) if known else (f"{head}\r\n", 200)
    began = time.perf_counter()

    async def ask_on(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> int:
        count = 0
        while time.perf_counter() - began < seconds:
            await _ask(reader, writer, request, status)
            count += 1
        return count

    counts = await asyncio.gather(*(ask_on(reader, writer) for reader, writer in opened))
    took = time.perf_counter() - began
    for _, writer in opened:
        writer.close()
    return sum(counts) / took


async def _ask(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, request: str, status: int) -> str:
    """The tag of the answer; anything unexpected ends the bench. A client of our own: the server is to be measured."""
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
    sys.exit(main())
