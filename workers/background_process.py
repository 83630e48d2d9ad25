"""Supervises a worker's background process from a thread of its main process, and restarts it."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

from app.base.logs import log, log_and_continue

COMMAND: tuple[str, ...] = (sys.executable, "-P", "-m", "workers.background")
LOOK_SECONDS = 0.5
#: A process that lived this long counts as healthy; its death starts a new series of restarts.
WELL_AFTER_SECONDS = 60.0
FIRST_DELAY_SECONDS, LONGEST_DELAY_SECONDS = 0.5, 30.0
#: A process that does not stop within this time is killed, also without loss.
STOP_SECONDS = 5.0

# The worker forks children while this thread lives. A child forked in the middle of a start would keep the pipe open
# that the start waits on.
_starting = threading.Lock()
os.register_at_fork(before=_starting.acquire, after_in_parent=_starting.release, after_in_child=_starting.release)


@contextmanager
def background_process() -> Iterator[None]:
    """Keep a background process running until the block ends."""
    stop = threading.Event()
    thread = threading.Thread(target=_keep, args=(stop,), name="background", daemon=True)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()


def _keep(stop: threading.Event) -> None:
    deaths = 0
    while not stop.is_set():
        began = time.monotonic()
        _run(stop)
        if stop.is_set():
            return
        deaths = 1 if time.monotonic() - began > WELL_AFTER_SECONDS else deaths + 1
        stop.wait(min(FIRST_DELAY_SECONDS * 2 ** (deaths - 1), LONGEST_DELAY_SECONDS))


def _run(stop: threading.Event) -> None:
    """Start the process, wait for its end and start it again; terminate it when this worker stops."""
    try:
        with _starting:
            process = subprocess.Popen([*COMMAND, str(os.getpid())], stdin=subprocess.DEVNULL)  # noqa: S603
    except OSError as error:  # out of memory or of processes
        log_and_continue("background_not_started", error)
        return
    while process.poll() is None:
        if stop.wait(LOOK_SECONDS):
            _end(process)
            return
    log.warning("background_died", status=process.returncode)


def _end(process: subprocess.Popen[bytes]) -> None:
    process.terminate()
    try:
        process.wait(STOP_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
