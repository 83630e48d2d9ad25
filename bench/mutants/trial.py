"""A trial: the tests of a module in a copy of the checkout, with one fault in it. The checkout is never touched."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from bench.mutants.faults import Fault
from bench.mutants.inside import TASK_VARIABLE, Verdict

ROOT = Path(__file__).resolve().parents[2]
#: pytest's exit status when every test passed; and where there was none to run.
_PASSED, _NONE = 0, 5
_LIMIT_SECONDS = 3600
#: A test that only waits, because of a fault, is noticed so; one that computes without end is sooner.
_TEST_TIMEOUT = "--timeout=60"
#: Of the tests of one module, without what they take on import.
_ALONE_LIMIT_SECONDS = 600
#: One thread: a fork has one, and each process its core.
_QUIET = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}


class Broken(Exception):
    """The tests fail, or there are none, without any fault."""


class Yard:
    """A copy of what git knows of the checkout, and of what it does not ignore."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._faults = 0
        command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
        listed = subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
        for name in listed.stdout.decode().split("\0"):
            if name and (ROOT / name).is_file():
                (folder / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(ROOT / name, folder / name)

    def try_all(self, tests: Sequence[str], faults: Sequence[Fault]) -> list[bool]:
        """Of each fault whether one of the tests fails with it. Raises Broken if one fails without.

        What was changed too late, after it had run on import, is tried again in a process of its own.
        """
        return [
            self._is_noticed_alone(touching, fault) if verdict == "unsure" else verdict == "noticed"
            for (verdict, touching), fault in zip(self._together(tests, faults), faults, strict=True)
        ]

    def _together(self, tests: Sequence[str], faults: Sequence[Fault]) -> list[tuple[Verdict, list[str]]]:
        """What `inside` says of each."""
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
        _, said = self._run(
            tests, _LIMIT_SECONDS, "-p", "bench.mutants.inside", _TEST_TIMEOUT, **{TASK_VARIABLE: str(task)}
        )
        if not answer.exists():
            raise Broken(f"without a fault {' '.join(tests)} do not pass:\n{said[-3000:]}")
        return [json.loads(line) for line in answer.read_text().splitlines()]

    def _is_noticed_alone(self, tests: Sequence[str], fault: Fault) -> bool:
        if not tests:  # pytest would take none for all
            return False
        listed = self._folder / "tests.txt"
        listed.write_text("\n".join(tests))
        with self._in_place(self._folder / fault.module, fault.source()):
            status, said = self._run([f"@{listed}"], _ALONE_LIMIT_SECONDS, "-x")
        if status == _NONE:
            raise Broken(said[-3000:])
        return status != _PASSED

    @contextmanager
    def _in_place(self, path: Path, source: str) -> Iterator[None]:
        """A compiled module is known by size and second of its text: no two texts here have the same second."""
        before, times = path.read_bytes(), path.stat()
        self._faults += 1
        path.write_text(source, encoding="utf-8")
        os.utime(path, (times.st_atime + self._faults, times.st_mtime + self._faults))
        try:
            yield
        finally:
            path.write_bytes(before)
            os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))

    def _run(self, tests: Sequence[str], limit_seconds: float, *options: str, **environment: str) -> tuple[int, str]:
        """The status and the output; of a trial that takes too long, a signal's."""
        usual = ["-q", "-n", "0", "-p", "no:cacheprovider", "-m", "not services and not browser"]
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
