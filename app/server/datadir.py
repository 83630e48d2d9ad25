"""The data directory: created if needed, writable, and used by one server at a time (`serve.lock`, held with flock)."""

from __future__ import annotations

import fcntl
import json
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TextIO

LOCK_NAME = "serve.lock"
#: Time that a start waits for leftover processes of a server whose supervisor was killed.
LEFTOVER_SECONDS = 15.0


class ServeError(Exception):
    """The server cannot start; the message is a sentence for the user who started it."""


@contextmanager
def lock_data_dir(data_dir: Path) -> Iterator[TextIO]:
    """Lock the directory and yield the lock file, for the server's address. Raises ServeError with a sentence."""
    try:
        data_dir.mkdir(parents=True, exist_ok=True)
        file = (data_dir / LOCK_NAME).open("a+", encoding="utf-8")
    except OSError as error:
        raise ServeError(
            f"Cannot write to the data directory {data_dir}: {error.strerror}. Choose another with --data-dir."
        ) from None
    with file:
        _lock(file, data_dir)
        note_holder(file, None)
        yield file


def note_holder(file: TextIO, address: str | None) -> None:
    """Write the process id and address of this server to the lock file, for others that find it locked."""
    file.seek(0)
    file.truncate()
    json.dump({"process": os.getpid(), "address": address}, file)
    file.flush()


def _lock(file: TextIO, data_dir: Path) -> None:
    deadline = time.monotonic() + LEFTOVER_SECONDS
    while not _try_lock(file):
        holder = _noted(file)
        if _is_alive(holder.get("process")):
            where = f", {holder['address']}" if holder.get("address") else ""
            raise ServeError(f"A server already runs on {data_dir} (process {holder['process']}{where}).")
        if time.monotonic() > deadline:
            raise ServeError(f"Processes of an earlier server still use {data_dir}; stop them, then start again.")
        time.sleep(0.1)


def _try_lock(file: TextIO) -> bool:
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _noted(file: TextIO) -> dict[str, Any]:
    file.seek(0)
    try:
        noted = json.loads(file.read())
    except ValueError:  # it is being written right now
        return {}
    return noted if isinstance(noted, dict) else {}


def _is_alive(process: object) -> bool:
    if not isinstance(process, int):
        return False
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
