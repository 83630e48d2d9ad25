"""The process that keeps a bucket's keys, starts the worker without them, and accesses the bucket for it.

Scoring code reads participants' files and gold; if it were compromised, the keys would open everything else. So they
are only in this process, which parses no such file: it fetches files into the cache, and stores sealed files by their
sha256.
"""

from __future__ import annotations

import ctypes
import json
import os
import signal
import socket
import socketserver
import subprocess
import sys
import tempfile
import threading
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from app.base.config import get_settings
from app.base.logs import configure_logging, log, log_libraries
from app.base.stores.folder import sha256_of
from app.base.stores.interface import CHECKS, INCOMING, Storage, StoredFile, digest_of, stored_name
from app.base.stores.keeper import FAULTS, LINE_BYTES, SOCKET_VARIABLE
from app.base.stores.places import Kind, both_of
from app.base.stores.s3_settings import KEYS

#: Constants of prctl(2).
_PDEATHSIG, _DUMPABLE = 1, 4


def main(arguments: Sequence[str]) -> int:
    """Run a worker with these arguments and serve its requests; return its exit code."""
    configure_logging()
    log_libraries()
    _prctl(_DUMPABLE, 0)  # hides the memory even from processes of the same user
    with tempfile.TemporaryDirectory(prefix="evergold-keeper-") as folder:  # private, mode 0700
        address = str(Path(folder) / "socket")
        with Keeper(address, both_of(get_settings(), "s3")) as keeper:
            command = [sys.executable, "-P", "-m", "workers.start", *arguments]
            signals, workers = list[int](), list[subprocess.Popen[bytes]]()
            _pass_on(signals, workers)
            workers.append(subprocess.Popen(command, env=without_keys(os.environ) | {SOCKET_VARIABLE: address}))  # noqa: S603
            for number in signals:  # received before the worker existed
                workers[0].send_signal(number)
            threading.Thread(target=keeper.serve_forever, name="keeper", daemon=True).start()
            status = workers[0].wait()
            keeper.shutdown()
    return status if status >= 0 else 128 - status


def _pass_on(signals: list[int], workers: list[subprocess.Popen[bytes]]) -> None:
    """Forward stop signals to the worker; those that arrive before it exists are forwarded later."""

    def passed_on(number: int, _: object) -> None:
        if workers:
            workers[0].send_signal(number)
        else:
            signals.append(number)

    signal.signal(signal.SIGTERM, passed_on)
    signal.signal(signal.SIGQUIT, passed_on)
    signal.signal(signal.SIGINT, lambda *_: None)  # a terminal sends it to both


def without_keys(environment: Mapping[str, str]) -> dict[str, str]:
    """Return the environment without variables that open the bucket or lead to it."""
    return {name: value for name, value in environment.items() if name not in KEYS and not name.startswith("AWS_")}


def end_with_keeper() -> None:
    """Exit when the keeper dies, because a worker can read no files without it; the supervisor restarts both."""
    end_with_parent()
    with socket.socket(socket.AF_UNIX) as door:
        try:
            door.connect(os.environ[SOCKET_VARIABLE])
        except OSError:  # the keeper was killed while this process started: no signal will come
            raise SystemExit("Error: the process that holds the keys of the store has ended.") from None


def end_with_parent(number: int = signal.SIGTERM) -> None:
    """Let the kernel send this process a signal when its parent dies."""
    _prctl(_PDEATHSIG, number)


def _prctl(what: int, value: int) -> None:
    """Call prctl, which exists only on Linux."""
    if sys.platform == "linux":
        ctypes.CDLL(None, use_errno=True).prctl(what, value, 0, 0, 0)


class Keeper(socketserver.ThreadingUnixStreamServer):
    """A server that answers each line with one line, with a thread for each connection."""

    daemon_threads = True
    request_queue_size = 64

    def __init__(self, address: str, storages: Mapping[Kind, Storage]) -> None:
        super().__init__(address, _Connection)
        self._storages = storages

    def answer(self, request: dict[str, Any]) -> dict[str, Any]:
        """Return the response to any request."""
        try:
            return {"result": self._result(request)}
        except tuple(FAULTS.values()) as error:
            name = next(name for name, kind in FAULTS.items() if isinstance(error, kind))
            return {"fault": name, "message": str(error)}
        except (KeyError, TypeError, ValueError):
            return {"fault": "refused", "message": "this is not a question to a keeper"}
        except OSError as error:
            log.error("keeper_failed", deed=request.get("deed"), kind=type(error).__name__)
            return {"fault": "away", "message": f"The worker's disk cannot be written: {error.strerror}."}

    def _result(self, request: dict[str, Any]) -> Any:
        storage, name = self._storages[request["kind"]], _checked(request["name"])
        match request["deed"]:
            case "path":
                return str(storage.path(name, request["sha256"]))
            case "find":
                kept = storage.find(name)
                return asdict(kept) if kept else None
            case "keep":
                return _keep(storage, name, request["file"])
        raise ValueError(request["deed"])


def _checked(name: str) -> str:
    """Return the name if it is a sha256 or names a file to validate, so that it cannot lead outside the storage."""
    folder, _, rest = name.partition("/")
    if digest_of(name) is None and (folder != CHECKS or not rest or set(rest) & set("/.\\")):
        raise ValueError(name)
    return name


def _keep(storage: Storage, name: str, file: str) -> None:
    """Store a partial upload under this name if the name is its sha256, so that no existing file can be overwritten."""
    path = storage.folder / INCOMING / Path(file).name
    if path.is_symlink() or stored_name(digest := sha256_of(path)) != name:
        raise ValueError(name)
    storage.keep(path, name, StoredFile(digest, path.stat().st_size))


class _Connection(socketserver.StreamRequestHandler):
    server: Keeper

    def handle(self) -> None:
        line = self.rfile.readline(LINE_BYTES)
        if not line:  # a client that only tested the connection
            return
        try:
            request = dict(json.loads(line))
        except (ValueError, TypeError):
            request = {}
        self.wfile.write(json.dumps(self.server.answer(request)).encode() + b"\n")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
