"""How much longer an organiser's own program takes in the sandbox than started as it is.

The program is one of Python that computes for 50 ms. Started as it is means: program and submission are copied into a
folder, and a process is started there. Both sides take turns, so that the difference holds on a busy machine, too. With
`--image` the same in a container, of an image made from this machine's own Python.
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
WARM_UP = 2


def main(argv: Sequence[str] | None = None) -> None:
    parser = BenchParser(__doc__, smoke={"turns": 1})
    parser.add_argument("--turns", type=int, default=30, help="how often each side runs (default: 30)")
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
    """Return the middle of the times of each side, and of what each sandbox adds in the same turn."""
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
    """Return the same of a container. Skips where there is no Docker."""
    with dockers.daemon() as address:
        if address is None:
            missing(dockers.ABSENT)
        os.environ |= {"DOCKER_HOST": address, "EVERGOLD_SANDBOX_CONTAINERS": "docker"}
        with dockers.image("docker", "--host", address) as image:
            figures = measure(folder, {"docker": Environment(image=image)}, turns)
    return {name: value for name, value in figures.items() if name.startswith("docker")}


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
