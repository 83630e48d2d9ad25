"""Running jobs in the helper, started when first needed and kept: `run` is all that others call.

Decoders and parsers see what strangers send only there, under bounds of processor time, memory and seconds, so that
nothing that is sent holds or fells the web process.
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

#: An answer may take this much longer than its job: the helper may have to be started.
_GRACE_SECONDS = 20
_BUSY = "The server is reading very many files and texts at this moment. Please try again in a moment."


class TooMuchWork(EvergoldError):
    """A job reached one of its bounds."""

    status = 422
    code = "too_much_work"


class HelperFailed(RuntimeError):
    """A job raised an error that is a fault of ours; the message is its traceback."""


@dataclass(frozen=True)
class Job:
    """A kind of work. function: `module:name`, of a function that takes and returns a document and bytes; seconds: wall
    clock; at_once, waiting: how many run and how many more may wait, each in a thread of its caller."""

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
        """Wait until one more may run; raises Busy where too many wait already."""
        if not self._places.acquire(blocking=False):
            raise Busy(_BUSY)
        try:
            with self._free:
                yield
        finally:
            self._places.release()

    @property
    def record(self) -> bytes:
        """The job as the helper reads it."""
        names = ("function", "processor_seconds", "seconds", "mebibytes")
        return json.dumps({name: getattr(self, name) for name in names}).encode().ljust(serve.RECORD_BYTES)


def run(job: Job, head: Mapping[str, Any], content: bytes = b"") -> Message:
    """Return what the job's function returns; raises TooMuchWork, or Busy."""
    with job.turn():
        return run_now(job, head, content)


def run_now(job: Job, head: Mapping[str, Any], content: bytes = b"") -> Message:
    """Do as `run` does, for callers that hold a turn."""
    answer, answered = _answer(job, head, content)
    if "crashed" in answer:
        raise HelperFailed(answer["crashed"])
    return answer, answered


def _answer(job: Job, head: Mapping[str, Any], content: bytes) -> Message:
    for is_last in (False, True):
        with _HELPER.connection(job) as connection:
            connection.settimeout(job.seconds + _GRACE_SECONDS)
            try:
                with suppress(BrokenPipeError, ConnectionResetError):  # it may have answered before it read all
                    send(connection, head, content)
                return receive(connection)
            except (EOFError, OSError):
                if is_last or _HELPER.is_running:
                    break
    raise TooMuchWork("It takes too much time or memory to read.")


class _Helper:
    """The process of this process: none until the first job, another where one has ended."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._control: socket.socket | None = None
        self._owner = 0

    @property
    def is_running(self) -> bool:
        """Whether it lives, as far as is known."""
        return self._process is not None and self._process.poll() is None

    @contextmanager
    def connection(self, job: Job) -> Iterator[socket.socket]:
        """A connection to a child for this job."""
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
            except OSError:  # it ended at this very moment
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
            # -I and no environment: it knows nothing of the database, of keys, or of who called us.
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
        """End it; it ends by itself, too, when this process has gone."""
        if self._control is not None:
            self._control.close()
        if self._process is not None and self._owner == os.getpid():
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(2)
        self._control = self._process = None


_HELPER = _Helper()
atexit.register(_HELPER.end)
