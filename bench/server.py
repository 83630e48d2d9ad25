"""The whole server on its embedded default: upload to scored, p50 and p95 over many uploads, and its memory.

Starts `evergold serve` on a fresh data folder with a competition of idiom detection, uploads a file of the size of
SemEval-2022's development data again and again, one at a time, and long-polls each to its end. Loopback only; stops
by itself.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

import httpx

from app.base.db import make_engine
from app.web.http.identity import SESSION_COOKIE
from bench import _busy_board
from bench._command import BenchParser, run
from bench._people import cookie_of, token_of
from bench._requests import addresses, milliseconds_each
from bench.scoring import SEED, generate_detection
from tests.services import free_port

ROOT = Path(__file__).resolve().parent.parent
PHASES = """\
version: 1
competitions:
  - name: bench
    title: "Bench"
    tasks:
      - {name: detection, type: idiom-detection, title: "Detection"}
    boards:
      - name: zero-shot
        title: "Zero-shot"
        task: detection
        columns:
          - {metric: macro_f1, split: zero_shot/all, title: "All"}
          - {metric: macro_f1, split: one_shot/all, title: "One-shot"}
    phases:
      - name: open
        title: "Open"
        start: "2020-01-01 00:00 UTC"
        limits: {per_day: 100000, total: 100000}
        tasks: {detection: {gold: gold.csv}}
"""
START_SECONDS = 60
#: Enough for the ticks of the system's clock, a hundredth of a second each.
REQUESTS_OF_A_KIND = 60


def main(argv: Sequence[str] | None = None) -> None:
    """Run, print a table (or JSON)."""
    parser = BenchParser(__doc__, smoke={"uploads": 3})
    parser.add_argument("--uploads", type=int, default=200)
    parser.add_argument("--with-statistics", action="store_true", help="waits with and without statistics going")
    arguments = parser.parse(argv)
    with tempfile.TemporaryDirectory(prefix="evergold-bench-") as folder:
        measured = measure_with_statistics if arguments.with_statistics else measure
        figures = measured(Path(folder), arguments.uploads)
    if arguments.json:
        print(json.dumps(figures, indent=1))
        return
    for name, value in figures.items():
        print(f"{name:28} {value}")


def measure(folder: Path, uploads: int) -> dict[str, object]:
    """Start the server, upload, ask for what a team asks for, and look at its processes while they are still warm."""
    target, file = prepare(folder)
    with running_server(folder) as (url, process):
        token = token_in(folder)
        seconds, newest = upload_many(url, token, target, file, uploads)
        memory = memory_mib(process.pid)
        web = next((pid for pid, name, _ in server_processes(process.pid) if name == "web"), None)
        asked = addresses(token, cookie_in(folder), "/competitions/bench/runs", *newest)
        times = min(uploads, REQUESTS_OF_A_KIND)
        each = dict(milliseconds_each(url, web, asked, times)) if web is not None and Path("/proc").exists() else {}
    tenth = max(1, uploads // 10)
    first, last = (round(1000 * statistics.median(some), 1) for some in (seconds[:tenth], seconds[-tenth:]))
    seconds.sort()
    return {
        "file": file.name,
        "uploads": uploads,
        "upload_to_scored_p50_ms": round(1000 * statistics.median(seconds), 1),
        "upload_to_scored_p95_ms": round(1000 * seconds[int(0.95 * (len(seconds) - 1))], 1),
        "upload_to_scored_max_ms": round(1000 * seconds[-1], 1),
        "upload_to_scored_first_tenth_p50_ms": first,
        "upload_to_scored_last_tenth_p50_ms": last,
        **{f"processor_{name}_ms": value for name, value in each.items()},
        **{f"memory_{name}_mib": value for name, value in memory.items()},
    }


def cookie_in(folder: Path) -> dict[str, str]:
    """Return the cookie of a log-in of the token's account."""
    engine = make_engine(f"sqlite:///{folder / 'var' / 'evergold.db'}")
    try:
        return {SESSION_COOKIE: cookie_of(engine, "bench")}
    finally:
        engine.dispose()


def measure_with_statistics(folder: Path, uploads: int) -> dict[str, object]:
    """Return how long checks and uploads wait, with and without statistics of a full board and gold checks."""
    _, file = prepare(folder, _busy_board.PHASES)
    with (
        running_server(folder, _busy_board.SETTINGS) as (url, process),
        _busy_board.busy_server(url, folder, file) as busy,
    ):
        waits = _busy_board.measure_waits(busy, uploads)
        return {**waits, **{f"memory_{name}_mib": value for name, value in memory_mib(process.pid).items()}}


def prepare(folder: Path, phases: str = PHASES) -> tuple[str, Path]:
    """Write phases.yaml and gold into `folder`; return the target of the uploads and the file."""
    (folder / "phases.yaml").write_text(phases, encoding="utf-8")
    gold, prediction = generate_detection(folder, random.Random(SEED))
    (folder / "gold").mkdir()
    gold.rename(folder / "gold" / "gold.csv")
    return "competitions/bench/phases/open/tasks/detection", prediction


def environment(folder: Path) -> dict[str, str]:
    """Return the caller's environment without other settings of Evergold, with this checkout importable."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("EVERGOLD_")}
    return {
        **kept,
        "PYTHONPATH": str(ROOT),
        "EVERGOLD_DATA_DIR": str(folder / "var"),
        "EVERGOLD_GOLD_DIR": str(folder / "gold"),
        "EVERGOLD_UPLOADS_PER_MINUTE": "100000",  # one team sends more here than any does
    }


@contextmanager
def running_server(
    folder: Path, settings: Mapping[str, str] | None = None
) -> Iterator[tuple[str, subprocess.Popen[bytes]]]:
    """Run `evergold serve` on a free port with these settings; stop it with SIGTERM at the end."""
    port = free_port()
    command = [sys.executable, "-m", "evergold.cli", "serve", "--port", str(port)]
    own = environment(folder) | dict(settings or {})
    process = subprocess.Popen(command, cwd=folder, env=own, stdout=subprocess.DEVNULL)
    url = f"http://127.0.0.1:{port}"
    try:
        wait_until_up(url, process)
        yield url, process
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(timeout=30)


def wait_until_up(url: str, process: subprocess.Popen[bytes]) -> None:
    """Return when the server answers; raise if it stops or takes too long."""
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline:
        if process.poll() is not None:
            raise SystemExit(f"the server stopped with {process.returncode}")
        try:
            if httpx.get(f"{url}/healthz", timeout=1).status_code == httpx.codes.OK:
                return
        except httpx.TransportError:
            time.sleep(0.05)
    raise SystemExit("the server did not start")


def token_in(folder: Path) -> str:
    """Create an account on the server with this data folder, and return its token."""
    engine = make_engine(f"sqlite:///{folder / 'var' / 'evergold.db'}")
    try:
        return token_of(engine, "bench")
    finally:
        engine.dispose()


def upload_many(url: str, token: str, target: str, file: Path, uploads: int) -> tuple[list[float], tuple[str, str]]:
    """Return the seconds from first byte to scored, by upload; and the IDs of the newest and the one
    before it."""
    with team_client(url, token) as client:
        content = file.read_bytes()
        ids = [upload_once(client, target, file.name, content)[1]]  # the worker may still be starting
        took = list[float]()
        for _ in range(uploads):
            seconds, submission_id = upload_once(client, target, file.name, content)
            took.append(seconds)
            ids.append(submission_id)
    return took, (ids[-1], ids[-2])


def team_client(url: str, token: str) -> httpx.Client:
    """Return an API client that uses the token."""
    return httpx.Client(base_url=f"{url}/api/v1", timeout=60, headers={"Authorization": f"Bearer {token}"})


def upload_once(client: httpx.Client, target: str, name: str, content: bytes) -> tuple[float, str]:
    """Upload once and wait; return the seconds and the ID."""
    started = time.perf_counter()
    accepted = client.post(f"/{target}/submissions", files={"file": (name, content)}).raise_for_status().json()
    state = client.get(f"/submissions/{accepted['id']}", params={"wait": 30}).raise_for_status().json()
    seconds = time.perf_counter() - started
    if state["status"] != "scored":
        raise SystemExit(f"expected scored, got {state['status']}: {state.get('problems')}")
    return seconds, accepted["id"]


def memory_mib(supervisor: int) -> dict[str, float]:
    """Return the resident memory of the server's processes, by kind (Linux; elsewhere empty)."""
    found: dict[str, float] = {}
    for _, name, resident in server_processes(supervisor):
        found[name] = max(found.get(name, 0.0), resident)
    return dict(sorted(found.items()))


def server_processes(supervisor: int) -> list[tuple[int, str, float]]:
    """Return the server's processes: PID, kind, MiB of memory; empty without `ps`."""
    if not shutil.which("ps"):
        return []
    table = subprocess.run(["ps", "-eo", "pid,ppid,rss,args"], capture_output=True, text=True, check=True).stdout
    rows = [line.split(None, 3) for line in table.splitlines()[1:]]
    family = {supervisor}
    for _ in range(4):  # children, grandchildren, …
        family |= {int(row[0]) for row in rows if int(row[1]) in family}
    parents = {int(row[1]) for row in rows}
    named = [(int(pid), kind(command, is_parent=int(pid) in parents), rss) for pid, _, rss, command in rows]
    return [(pid, name, round(int(rss) / 1024, 1)) for pid, name, rss in named if pid in family and name]


def kind(command: str, *, is_parent: bool) -> str | None:
    """web, worker (the parent), worker_child, sweep, broker or supervisor, by the command line."""
    if "workers.start" in command:
        return "worker" if is_parent else "worker_child"
    for word, name in (("app.server.web", "web"), ("sweep", "sweep"), ("valkey", "broker"), ("serve", "supervisor")):
        if word in command:
            return name
    return None


if __name__ == "__main__":
    sys.exit(run(main))
