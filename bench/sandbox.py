"""Overhead of the sandbox for an organisers' own program, compared with starting it directly.

The program is one of Python that computes for 50 ms. Started as it is means: program and submission are copied into a
folder, and a process is started there. Both sides take turns, so that the difference holds on a busy machine, too. With
`--image` the same in a container, of an image made from this machine's own Python. At the end the same program on a
started server, from an upload until it is scored, beside an upload that the server scores itself.
"""

from __future__ import annotations

import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from bench import server
from bench._command import BenchParser, run as run_bench
from tests import bubblewrap, dockers
from tests.processes import missing
from workers.sandbox import Ended, Environment, Limits, Outcome, Program, find_backend, run

#: Reads as programs of shared tasks do, and computes until it has taken 50 ms of processor time.
CODE = """
import json, sys, time
folder, output = sys.argv[1:]
with open(folder + "/ref/gold.txt") as gold, open(folder + "/res/answer.txt") as answer:
    right = sum(one == other for one, other in zip(gold, answer))
while time.process_time() < 0.05:
    pass
with open(output + "/scores.json", "w") as file:
    json.dump({"right": right}, file)
"""
ROWS = 1000
#: The program as a task of a second competition.
PHASES = """\
  - name: programs
    title: "Programs"
    tasks:
      - name: equal
        type: program
        title: "Equal"
        program: program
        options:
          command: "python3 $program/score.py $input $output"
          environment: []
          files: {required: [answer.txt]}
          metrics: [{name: right, title: "Right", minimum: 0, maximum: 1000}]
    boards:
      - {name: equal, title: "Equal", task: equal, columns: [{metric: right, split: all}]}
    phases:
      - name: open
        title: "Open"
        start: "2020-01-01 00:00 UTC"
        limits: {per_day: 100000, total: 100000}
        tasks: {equal: {}}
"""
WARM_UP = 2


def main(argv: Sequence[str] | None = None) -> None:
    parser = BenchParser(__doc__, smoke={"turns": 1, "uploads": 0})
    parser.add_argument("--turns", type=int, default=30, help="how often each side runs (default: 30)")
    parser.add_argument("--uploads", type=int, default=30, help="how many of each side a server scores (default: 30)")
    parser.add_argument("--image", action="store_true", help="in Docker as well")
    chosen = parser.parse(argv)
    if words := bubblewrap.why_not():
        missing(words)
    with tempfile.TemporaryDirectory() as name, bubblewrap.bare_environment() as environment:
        folder = Path(name)
        write(folder)
        figures = measure(folder, {"bubblewrap": Environment(environment)}, chosen.turns)
        if chosen.image:
            figures |= with_docker(folder, chosen.turns)
        if chosen.uploads:
            figures |= measure_uploads(folder, environment.parent, chosen.uploads)
    if chosen.json:
        print(json.dumps(figures, indent=1))
        return
    for key, value in figures.items():
        print(f"{key:44} {value}")


def write(folder: Path) -> None:
    """Write the program, gold, and a submission."""
    for name in ("program", "gold", "submission"):
        (folder / name).mkdir()
    (folder / "program" / "score.py").write_text(CODE)
    rows = "".join(f"{row % 7}\n" for row in range(ROWS))
    (folder / "gold" / "gold.txt").write_text(rows)
    (folder / "submission" / "answer.txt").write_text(rows)


def measure(folder: Path, environments: dict[str, Environment], turns: int) -> dict[str, Any]:
    """Return the median times of each side, and of the sandbox's overhead in the same turn."""
    find_backend()
    program = Program(folder / "program", ("python3", "$program/score.py", "$input", "$output"))

    def inside(environment: Environment) -> Callable[[], None]:
        def once() -> None:
            check(run(program, folder / "gold", folder / "submission", environment, Limits(seconds=60)))

        return once

    sides: dict[str, Callable[[], None]] = {"as it is": lambda: as_it_is(folder)}
    sides |= {name: inside(environment) for name, environment in environments.items()}
    times: dict[str, list[float]] = {name: [] for name in sides}
    for turn in range(WARM_UP + turns):
        for name, side in sides.items():
            began = time.perf_counter()
            side()
            if turn >= WARM_UP:
                times[name].append(1000 * (time.perf_counter() - began))
    figures: dict[str, Any] = {f"{name}, ms": round(statistics.median(one), 1) for name, one in times.items()}
    for name in environments:
        added = sorted(mine - plain for mine, plain in zip(times[name], times["as it is"], strict=True))
        figures[f"{name} adds, ms"] = round(statistics.median(added), 1)
        figures[f"{name} adds, p95, ms"] = round(added[int(0.95 * (len(added) - 1))], 1)
    return figures


def with_docker(folder: Path, turns: int) -> dict[str, Any]:
    """Return the same for a container; skip without Docker."""
    with dockers.daemon() as address:
        if address is None:
            missing(dockers.ABSENT)
        os.environ |= {"DOCKER_HOST": address, "EVERGOLD_SANDBOX_CONTAINERS": "docker"}
        with dockers.image("docker", "--host", address) as image:
            figures = measure(folder, {"docker": Environment(image=image)}, turns)
    return {name: value for name, value in figures.items() if name.startswith("docker")}


def measure_uploads(folder: Path, environments: Path, turns: int) -> dict[str, Any]:
    """Return how long uploads take until they are scored, by the program and by the server itself, in turns."""
    served = folder / "served"
    served.mkdir()
    native, own = server.prepare(served, server.PHASES + PHASES)
    shutil.copytree(folder / "program", served / "program")
    answer = folder / "submission" / "answer.txt"
    sides = {
        "upload to scored natively": (native, own),
        "upload to scored by the program": ("competitions/programs/phases/open/tasks/equal", answer),
    }
    times: dict[str, list[float]] = {name: [] for name in sides}
    with (
        server.running_server(served, {"EVERGOLD_ENVIRONMENTS_DIR": str(environments)}) as (url, _),
        server.team_client(url, server.token_in(served)) as client,
    ):
        for words in (["keygen"], ["put", "programs/open/equal", str(folder / "gold" / "gold.txt")]):
            command = [sys.executable, "-m", "evergold.cli", "gold", *words]
            subprocess.run(command, cwd=served, env=server.environment(served), check=True, capture_output=True)
        for turn in range(WARM_UP + turns):
            for name, (target, file) in sides.items():
                seconds, _ = server.upload_once(client, target, file.name, file.read_bytes())
                if turn >= WARM_UP:
                    times[name].append(1000 * seconds)
    figures = {f"{name}, ms": round(statistics.median(one), 1) for name, one in times.items()}
    added = statistics.median(theirs - ours for ours, theirs in zip(*times.values(), strict=True))
    return figures | {"the program adds, ms": round(added, 1)}


def as_it_is(folder: Path) -> None:
    """Run the program without any sandbox, on copies."""
    with tempfile.TemporaryDirectory() as name:
        app = Path(name)
        shutil.copytree(folder / "program", app / "program")
        shutil.copytree(folder / "submission", app / "input" / "res")
        (app / "input" / "ref").symlink_to(folder / "gold")
        (app / "output").mkdir()
        command = ["/usr/bin/python3", "score.py", str(app / "input"), str(app / "output")]
        subprocess.run(command, cwd=app / "program", check=True, capture_output=True)
        assert json.loads((app / "output" / "scores.json").read_text()) == {"right": ROWS}


def check(outcome: Outcome) -> None:
    """Assert that the program ran to its end, with the right score."""
    assert outcome.ended is Ended.FINISHED, outcome
    assert outcome.scores == json.dumps({"right": ROWS}).encode()


if __name__ == "__main__":
    sys.exit(run_bench(main))
