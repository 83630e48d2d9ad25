"""Runs jobs in the helper, which starts with the first job and keeps running; callers only need `run`.

Decoders and parsers see data from strangers only there, under limits on processor time, memory and seconds, so that no
input can block or crash the web process.
"""

from __future__ import annotations

import atexit
import json
import os
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from app.base.errors import Busy, EvergoldError
from app.helper import serve
from app.helper.wire import Message, receive, send

#: Extra time for an answer, as the helper may have to be started.
_GRACE_SECONDS = 20
_BUSY = "The server is busy reading files and texts. Please try again in a moment."


class TooMuchWork(EvergoldError):
    """A job reached one of its limits."""

    status = 422
    code = "too_much_work"


class HelperFailed(RuntimeError):
    """A job raised an unexpected error; the message is its traceback."""


@dataclass(frozen=True)
class Job:
    """A kind of work.

    - function: `module:name`, of a function that takes and returns a document and bytes.
    - processor_seconds, seconds, mebibytes: limits; `seconds` is wall-clock time.
    - at_once, waiting: how many jobs can run, and how many more can wait, each in its caller's thread.
    """

    function: str
    processor_seconds: int
    seconds: int
    mebibytes: int
    at_once: int = 2
    waiting: int = 8
    _free: threading.Semaphore = field(init=False, repr=False, compare=False)
    _places: threading.Semaphore = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_free", threading.Semaphore(self.at_once))
        object.__setattr__(self, "_places", threading.Semaphore(self.at_once + self.waiting))

    @contextmanager
    def turn(self) -> Iterator[None]:
        """Wait for a free slot and hold it during the block. Raises Busy if too many are waiting."""
        if not self._places.acquire(blocking=False):
            raise Busy(_BUSY)
        try:
            with self._free:
                yield
        finally:
            self._places.release()

    @property
    def record(self) -> bytes:
        """The job in the format that the helper reads."""
        names = ("function", "processor_seconds", "seconds", "mebibytes")
        return json.dumps({name: getattr(self, name) for name in names}).encode().ljust(serve.RECORD_BYTES)


def run(job: Job, head: Mapping[str, Any], content: bytes = b"") -> Message:
    """Run the job's function and return its result. Raises TooMuchWork, or Busy."""
    with job.turn():
        return run_now(job, head, content)


def run_now(job: Job, head: Mapping[str, Any], content: bytes = b"") -> Message:
    """Run the job's function and return its result, for callers that hold a turn."""
    answer, answered = _answer(job, head, content)
    if "crashed" in answer:
        raise HelperFailed(answer["crashed"])
    return answer, answered


def _answer(job: Job, head: Mapping[str, Any], content: bytes) -> Message:
    for is_last in (False, True):
        with _HELPER.connection(job) as connection:
            connection.settimeout(job.seconds + _GRACE_SECONDS)
            try:
                with suppress(BrokenPipeError, ConnectionResetError):  # it may answer before reading everything
                    send(connection, head, content)
                return receive(connection)
            except (EOFError, OSError):
                if is_last or _HELPER.is_running:
                    break
    raise TooMuchWork("Reading this takes too much time or memory.")


class _Helper:
    """The helper of this process: started with the first job, and again if it has ended."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._control: socket.socket | None = None
        self._owner = 0

    @property
    def is_running(self) -> bool:
        """True if the helper is alive, as far as known."""
        return self._process is not None and self._process.poll() is None

    @contextmanager
    def connection(self, job: Job) -> Iterator[socket.socket]:
        """Open a connection to a child process for this job."""
        ours, theirs = socket.socketpair()
        with ours:
            with theirs:
                self._pass(job.record, theirs.fileno())
            yield ours

    def _pass(self, record: bytes, descriptor: int) -> None:
        with self._lock:
            if self._control is None or not self.is_running or self._owner != os.getpid():
                self._start()
            try:
                self._send(record, descriptor)
            except OSError:  # it has just ended
                self._start()
                self._send(record, descriptor)

    def _send(self, record: bytes, descriptor: int) -> None:
        if self._control is None:
            raise BrokenPipeError
        socket.send_fds(self._control, [record], [descriptor])

    def _start(self) -> None:
        self.end()
        self._control, theirs = socket.socketpair()
        with theirs:
            # -I and no environment: it has no access to the database, keys or the caller.
            command = [sys.executable, "-I", str(Path(serve.__file__).resolve()), str(theirs.fileno())]
            self._process = subprocess.Popen(  # noqa: S603 - our own script
                command,
                env={"OPENBLAS_NUM_THREADS": "1"},
                cwd="/",
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                pass_fds=[theirs.fileno()],
            )
        self._owner = os.getpid()

    def end(self) -> None:
        """End the helper; it also ends by itself when this process is gone."""
        if self._control is not None:
            self._control.close()
        if self._process is not None and self._owner == os.getpid():
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(2)
        self._control = self._process = None


_HELPER = _Helper()
atexit.register(_HELPER.end)
