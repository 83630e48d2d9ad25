"""A trial: the tests of a module in a copy of the checkout, with one fault in it. The checkout is never touched."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import chain
from pathlib import Path

from bench.mutants.faults import Fault
from bench.mutants.inside import TASK_VARIABLE, Verdict

ROOT = Path(__file__).resolve().parents[2]
#: pytest's exit status when every test passed; and where there was none to run.
_PASSED, _NONE = 0, 5
_LIMIT_SECONDS = 3600
#: Of the tests of one module, without what they take on import.
_ALONE_LIMIT_SECONDS = 600
#: Tests of real servers, which no fork can ask, are shown what the others let live: those that name its module.
_QUICK, _OF_SERVERS = "not services and not browser", "services and not browser"
#: Git ignores them, and tests that need them are skipped without.
_PACKAGES = ("tests/oidc/node_modules",)
#: One thread: a fork has one, and each process its core.
_QUIET = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}


class Broken(Exception):
    """Tests fail without any fault, or there are none."""


class Yard:
    """A copy of the tracked and unignored files of the checkout, with packages that tests need."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._faults = 0
        self.left_out: set[str] = set()
        """Tests that failed without any fault: the others decided."""
        command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
        listed = subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
        for name in listed.stdout.decode().split("\0"):
            if name and (ROOT / name).is_file():
                (folder / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(ROOT / name, folder / name)
        for name in _PACKAGES:
            if (ROOT / name).is_dir():
                (folder / name).symlink_to(ROOT / name)

    def try_all(self, tests: Sequence[str], faults: Sequence[Fault]) -> list[bool | None]:
        """Return of each fault whether a test fails with it; None for those without time left.

        What was changed too late, after it had run on import, is tried again in a process of its own. Raises Broken if
        there are no tests, or none that passes without a fault.
        """
        answers = self._together(tests, faults)
        noticed: list[bool | None] = [
            self._is_noticed(verdict, touching, tests, fault)
            for (verdict, touching), fault in zip(answers, faults, strict=False)
        ]
        return [*noticed, *[None] * (len(faults) - len(noticed))]

    def _is_noticed(self, verdict: Verdict, touching: Sequence[str], tests: Sequence[str], fault: Fault) -> bool:
        naming = self._naming(tests, fault)
        is_child = Path(fault.module).stem.endswith("_child")  # most of it runs elsewhere
        telling = naming if is_child or not touching else touching
        is_noticed = self._is_noticed_alone(telling, fault) if verdict == "unsure" else verdict == "noticed"
        return is_noticed or self._is_noticed_alone(naming, fault, _OF_SERVERS)

    def _naming(self, tests: Sequence[str], fault: Fault) -> list[str]:
        """Return the files of tests that name a module, `rows` for `rows_child`: it may run in children alone."""
        name = Path(fault.module).stem.removesuffix("_child")
        places = (self._folder / test for test in tests)
        files = chain.from_iterable(place.rglob("test_*.py") if place.is_dir() else [place] for place in places)
        named = re.compile(rf"\b{re.escape(name)}\b")
        return [str(file.relative_to(self._folder)) for file in sorted(files) if named.search(file.read_text())]

    def _together(self, tests: Sequence[str], faults: Sequence[Fault]) -> list[tuple[Verdict, list[str]]]:
        """Return the answers of `inside`, as far as it came."""
        task = self._folder / "faults.json"
        task.write_text(
            json.dumps(
                [
                    {
                        "module": str(self._folder / fault.module),
                        "function": fault.function,
                        "source": fault.source(),
                    }
                    for fault in faults
                ]
            )
        )
        answer = task.with_suffix(".done")
        answer.unlink(missing_ok=True)
        _, said = self._run(tests, _LIMIT_SECONDS, "-p", "bench.mutants.inside", **{TASK_VARIABLE: str(task)})
        if not answer.exists():
            raise Broken(f"without a fault {' '.join(tests)} do not pass:\n{said[-3000:]}")
        told = [json.loads(line) for line in answer.read_text().splitlines()]
        if len(told) < len(faults):
            print(f"ended after {len(told)} of {len(faults)} faults:\n{said[-3000:]}", flush=True)
        self.left_out.update(name for _, _, left_out in told for name in left_out)
        return [(verdict, touching) for verdict, touching, _ in told]

    def _is_noticed_alone(self, tests: Sequence[str], fault: Fault, lane: str = _QUICK) -> bool:
        """Return whether a test fails with the fault and passes without it; others are left out."""
        left = [name for name in tests if name not in self.left_out]
        while left:  # pytest would take none for all
            with self._in_place(self._folder / fault.module, fault.source()):
                status, said = self._run_named(left, lane)
            if status == _PASSED or (status == _NONE and lane == _OF_SERVERS):
                return False
            failed = [name for name in left if _is_failed(name, said)]
            if not failed or self._run_named(failed, lane)[0] == _PASSED:
                return True
            self.left_out.update(failed)
            left = [name for name in left if name not in failed]
        return False

    def _run_named(self, tests: Sequence[str], lane: str) -> tuple[int, str]:
        """Run these tests until one fails."""
        listed = self._folder / "tests.txt"
        listed.write_text("\n".join(tests))
        status, said = self._run([f"@{listed}"], _ALONE_LIMIT_SECONDS, "-x", lane=lane)
        if status == _NONE and lane == _QUICK:
            raise Broken(said[-3000:])
        return status, said

    @contextmanager
    def _in_place(self, path: Path, source: str) -> Iterator[None]:
        """Write a module with a distinct modification time, by which Python recognises compiled modules."""
        before, times = path.read_bytes(), path.stat()
        self._faults += 1
        path.write_text(source, encoding="utf-8")
        os.utime(path, (times.st_atime + self._faults, times.st_mtime + self._faults))
        try:
            yield
        finally:
            path.write_bytes(before)
            os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))

    def _run(
        self, tests: Sequence[str], limit_seconds: float, *options: str, lane: str = _QUICK, **environment: str
    ) -> tuple[int, str]:
        """Return status and output; a trial that takes too long is killed."""
        usual = ["-q", "-n", "0", "-p", "no:cacheprovider", "-m", lane]
        command = [sys.executable, "-m", "pytest", *usual, "--hypothesis-seed=0", *options, *tests]
        process = subprocess.Popen(
            command,
            cwd=self._folder,
            env=os.environ | _QUIET | environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )
        try:
            said, _ = process.communicate(timeout=limit_seconds)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            said, _ = process.communicate()
        return process.returncode, said


def _is_failed(name: str, said: str) -> bool:
    """Return whether pytest's last lines name this test: `FAILED tests/test_x.py::test_y[1 - 2] - AssertionError`."""
    heads = (f"FAILED {name}", f"ERROR {name}")
    follows = tuple(f"{head}{sign}" for head in heads for sign in (" - ", "::"))
    return any(line in heads or line.startswith(follows) for line in said.splitlines())
