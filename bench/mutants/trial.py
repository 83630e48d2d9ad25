"""A trial: the tests of a module in a copy of the checkout, with one fault in it. The checkout is never touched."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
#: pytest's exit status when every test passed; and where there was none to run.
_PASSED, _NONE = 0, 5
#: A trial that takes so much longer than the tests do without a fault hangs, and that is noticed, too.
_PATIENCE, _PATIENCE_SECONDS = 4, 60


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

    def seconds_without_fault(self, tests: Sequence[str]) -> float:
        """How long these tests take; raises Broken if they do not pass."""
        began = time.monotonic()
        status, said = self._run(tests, 1800)
        if status != _PASSED:
            raise Broken(f"without a fault {' '.join(tests)} do not pass:\n{said[-3000:]}")
        return time.monotonic() - began

    def is_noticed(self, tests: Sequence[str], seconds: float, module: str, source: str) -> bool:
        """Whether one of the tests, which take so long without a fault, fails with this text in place of the module."""
        with self._in_place(self._folder / module, source):
            status, said = self._run(tests, _PATIENCE * seconds + _PATIENCE_SECONDS)
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

    def _run(self, tests: Sequence[str], limit_seconds: float) -> tuple[int, str]:
        """The status and the output; of a trial that takes too long, a signal's."""
        options = ["-x", "-q", "-n", "0", "-p", "no:cacheprovider", "-m", "not services and not browser"]
        command = [sys.executable, "-m", "pytest", *options, "--hypothesis-seed=0", *tests]
        process = subprocess.Popen(
            command,
            cwd=self._folder,
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
