"""`make bench`: every benchmark in a process of its own, within twenty minutes, into bench/results.json.

On a slow or busy machine `--minutes 60` leaves more time; benchmarks without time left are skipped and count as failed.

The README's table and that of docs/performance.md are written from it by `python -m bench.readme`.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from tempfile import TemporaryFile
from typing import Any

from bench._benches import BENCHES, Bench
from bench._conditions import ROOT, commit, load, machine, versions
from bench._figures import plain_table

RESULTS = ROOT / "bench" / "results.json"
LIMIT_MINUTES = 20.0
#: Of the limit: to end what a benchmark started that has to be stopped.
STOP_SECONDS = 60


def main(argv: Sequence[str] | None = None) -> int:
    """Run all benchmarks, or the named ones; the exit code is the number of failed ones."""
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help="only these; nothing is written then")
    parser.add_argument("--minutes", type=float, default=LIMIT_MINUTES, help="time for all (default: %(default)g)")
    parser.add_argument("--smoke", action="store_true", help="at their smallest sizes; nothing is written then")
    arguments = parser.parse_args(argv)
    unknown = set(arguments.names) - {bench.name for bench in BENCHES}
    if unknown:
        parser.error(f"no such benchmark: {', '.join(sorted(unknown))}")
    chosen = [bench for bench in BENCHES if not arguments.names or bench.name in arguments.names]
    results = run_all(chosen, 60 * arguments.minutes, is_smoke=arguments.smoke)
    if not arguments.smoke and not arguments.names:
        RESULTS.write_text(json.dumps(results, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    failed = {name: one["failed"] for name, one in results["benches"].items() if "failed" in one}
    for name, why in failed.items():
        print(f"{name} failed: {why}", file=sys.stderr)
    print(json.dumps(results["benches"], indent=1) if arguments.smoke or arguments.names else plain_table(results))
    return len(failed)


def run_all(benches: Sequence[Bench], limit_seconds: float, *, is_smoke: bool) -> dict[str, Any]:
    """Run the benchmarks one after the other; one whose time has run out is stopped or not started."""
    began, measured = time.monotonic(), dict[str, Any]()
    conditions = {
        "commit": commit(),
        "began_at": datetime.now(UTC).isoformat(timespec="seconds"),
        "machine": machine(),
        "versions": versions(),
        "load_before": load(),
    }
    with progress(len(benches)) as tell:
        for bench in benches:
            tell(bench.name)
            left = limit_seconds - STOP_SECONDS - (time.monotonic() - began)
            measured[bench.name] = run(bench, left, is_smoke=is_smoke)
    return {**conditions, "seconds": round(time.monotonic() - began), "benches": measured}


def run(bench: Bench, limit_seconds: float, *, is_smoke: bool) -> dict[str, Any]:
    """Run a benchmark; return its results, or why there are none."""
    arguments = ("--smoke",) if is_smoke else bench.arguments
    known = {"command": bench.command, "seed": bench.seed, "load": load()}
    if limit_seconds <= 0:
        return {**known, "failed": "no time was left"}
    command = [sys.executable, "-m", f"bench.{bench.name}", "--json", *arguments]
    began = time.monotonic()
    # Files, as a server that outlives its benchmark would keep a pipe open; a group, to end such a server.
    with TemporaryFile("w+") as output, TemporaryFile("w+") as errors:
        process = subprocess.Popen(command, cwd=ROOT, stdout=output, stderr=errors, start_new_session=True)
        try:
            code = process.wait(limit_seconds)
        except subprocess.TimeoutExpired:
            return {**known, "failed": f"stopped after {limit_seconds:.0f} s"}
        finally:
            stop(process)
        for file in (output, errors):
            file.seek(0)
        printed, complaints = output.read(), errors.read()
    known["seconds"] = round(time.monotonic() - began, 1)
    if code:
        return {**known, "failed": "\n".join(complaints.splitlines()[-5:]) or f"exit code {code}"}
    figures = json.loads(printed)
    skipped = figures.get("skipped") if isinstance(figures, dict) else None
    return {**known, "skipped": skipped} if skipped else {**known, "figures": figures}


def stop(process: subprocess.Popen[bytes]) -> None:
    """Interrupt a benchmark, so that it stops its own children; then kill the rest of its process group."""
    process.send_signal(signal.SIGINT)
    with suppress(subprocess.TimeoutExpired):
        process.wait(STOP_SECONDS - 10)
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


@contextmanager
def progress(count: int) -> Iterator[Callable[[str], None]]:
    """Show one changing line on a terminal; elsewhere print a line for each benchmark."""
    if not sys.stderr.isatty():
        yield lambda name: print(f"bench.{name}", file=sys.stderr, flush=True)
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as line:
        task = line.add_task("Measuring", total=count)
        begun = list[str]()

        def tell(name: str) -> None:
            line.update(task, description=f"Measuring {name}", completed=len(begun))
            begun.append(name)

        yield tell


if __name__ == "__main__":
    sys.exit(main())
