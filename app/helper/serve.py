"""The helper: a script whose process forks a child for each job, under limits, and holds no secrets.

It inherits no environment, and no open file of the web process except a socket. A job is a record with its function and
limits, and a separate connection; the child reads its message there, responds, and exits. Imports of a job happen
before the first fork, and so only once.
"""

from __future__ import annotations

import importlib
import json
import os
import resource
import select
import signal
import socket
import sys
import traceback
from contextlib import suppress
from pathlib import Path
from typing import Any

#: Size of a record on the socket: JSON, padded with blanks.
RECORD_BYTES = 256
#: The helper ends after this time without work; the next job starts another.
IDLE_SECONDS = 600


def main() -> None:
    """Serve until the web process is gone or has been idle for a while."""
    sys.path.append(str(Path(__file__).resolve().parents[2]))  # in a checkout that is not installed
    for number in (signal.SIGINT, signal.SIGTERM):  # the web process ends us after its last answer
        signal.signal(number, signal.SIG_IGN)
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # no need to wait for children
    control = socket.socket(fileno=int(sys.argv[1]))
    while select.select([control], [], [], IDLE_SECONDS)[0]:
        record, descriptors, _, _ = socket.recv_fds(control, RECORD_BYTES, 1)
        if not record or not descriptors:
            return
        _fork(control, json.loads(record), descriptors[0])


def _fork(control: socket.socket, order: dict[str, Any], descriptor: int) -> None:
    connection = socket.socket(fileno=descriptor)
    module, _, name = order["function"].partition(":")
    importlib.import_module(module)
    if os.fork():
        connection.close()
        return
    status = 1
    try:
        control.close()
        _bound(order)
        _work(connection, module, name)
        status = 0
    finally:
        os._exit(status)


def _bound(order: dict[str, Any]) -> None:
    """Set the limits of a child; the kernel kills it if it exceeds one."""
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    signal.alarm(order["seconds"])
    memory = _mapped_bytes() + order["mebibytes"] * 1024 * 1024
    for which, bound in (
        (resource.RLIMIT_AS, memory),
        (resource.RLIMIT_CPU, order["processor_seconds"]),
        (resource.RLIMIT_CORE, 0),
    ):
        resource.setrlimit(which, (bound, bound))


def _mapped_bytes() -> int:
    """Return the memory in bytes that is mapped before a job begins, mostly by modules."""
    try:
        return int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    except OSError:  # not Linux
        return 1024 * 1024 * 1024


def _work(connection: socket.socket, module: str, name: str) -> None:
    from app.helper.wire import receive, send

    head, content = receive(connection)
    try:
        answer, answered = getattr(importlib.import_module(module), name)(head, content)
    except MemoryError:
        return  # no answer: a limit was reached
    except Exception:  # our own fault, reported by the web process
        answer, answered = {"crashed": traceback.format_exc()}, b""
    with suppress(OSError):  # nobody is waiting any more
        send(connection, answer, answered)


if __name__ == "__main__":
    main()
