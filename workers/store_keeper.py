"""The keeper of a bucket's keys: it starts the worker without them, and does for it what needs them.

What scores reads participants' files and gold; were it taken over, the keys would open everything else. So they are in
this process alone, which reads no such file: it fetches into the cache, and stores what was sealed, by its sha256.
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
from app.base.stores.interface import Storage
from app.base.stores.keeper import FAULTS, LINE_BYTES, SOCKET_VARIABLE
from app.base.stores.names import CHECKS, INCOMING, StoredFile, digest_of, stored_name
from app.base.stores.places import Kind, both_of
from app.base.stores.s3_settings import KEYS
from app.base.stores.stored import sha256_of

#: Of prctl(2).
_PDEATHSIG, _DUMPABLE = 1, 4


def main(arguments: Sequence[str]) -> int:
    """Keep the keys for as long as a worker runs that was started with these arguments; its exit status."""
    configure_logging()
    log_libraries()
    _prctl(_DUMPABLE, 0)  # not even processes of the same user may look into this one
    with tempfile.TemporaryDirectory(prefix="evergold-keeper-") as folder:  # nobody else's, mode 0700
        address = str(Path(folder) / "socket")
        with Keeper(address, both_of(get_settings(), "s3")) as keeper:
            command = [sys.executable, "-P", "-m", "workers.start", *arguments]
            signals, workers = list[int](), list[subprocess.Popen[bytes]]()
            _pass_on(signals, workers)
            workers.append(subprocess.Popen(command, env=without_keys(os.environ) | {SOCKET_VARIABLE: address}))  # noqa: S603
            for number in signals:  # that came before there was anybody to pass them on to
                workers[0].send_signal(number)
            threading.Thread(target=keeper.serve_forever, name="keeper", daemon=True).start()
            status = workers[0].wait()
            keeper.shutdown()
    return status if status >= 0 else 128 - status


def _pass_on(signals: list[int], workers: list[subprocess.Popen[bytes]]) -> None:
    """Whatever tells this process to stop tells the worker; what comes before there is one is kept."""

    def passed_on(number: int, _: object) -> None:
        if workers:
            workers[0].send_signal(number)
        else:
            signals.append(number)

    signal.signal(signal.SIGTERM, passed_on)
    signal.signal(signal.SIGQUIT, passed_on)
    signal.signal(signal.SIGINT, lambda *_: None)  # a terminal sends it to both


def without_keys(environment: Mapping[str, str]) -> dict[str, str]:
    """What a worker may know: nothing that opens the bucket, and nothing that leads to it."""
    return {name: value for name, value in environment.items() if name not in KEYS and not name.startswith("AWS_")}


def end_with_keeper() -> None:
    """A worker whose keeper was killed could read no file: it ends, too, now or then, and both are started again."""
    end_with_parent()
    with socket.socket(socket.AF_UNIX) as door:
        try:
            door.connect(os.environ[SOCKET_VARIABLE])
        except OSError:  # killed while this process was starting: nobody will be told any more
            raise SystemExit("Error: the process that keeps the keys of the store is gone.") from None


def end_with_parent(number: int = signal.SIGTERM) -> None:
    """Have this process sent a signal when the one that started it is gone."""
    _prctl(_PDEATHSIG, number)


def _prctl(what: int, value: int) -> None:
    """On Linux; elsewhere there is no such thing."""
    if sys.platform == "linux":
        ctypes.CDLL(None, use_errno=True).prctl(what, value, 0, 0, 0)


class Keeper(socketserver.ThreadingUnixStreamServer):
    """Answers one line with one line, each connection in a thread of its own."""

    daemon_threads = True
    request_queue_size = 64

    def __init__(self, address: str, storages: Mapping[Kind, Storage]) -> None:
        super().__init__(address, _Connection)
        self._storages = storages

    def answer(self, asked: dict[str, Any]) -> dict[str, Any]:
        """The answer to a question, whatever it is."""
        try:
            return {"result": self._result(asked)}
        except tuple(FAULTS.values()) as error:
            name = next(name for name, kind in FAULTS.items() if isinstance(error, kind))
            return {"fault": name, "message": str(error)}
        except (KeyError, TypeError, ValueError):
            return {"fault": "refused", "message": "this is no question to a keeper"}
        except OSError as error:
            log.error("keeper_failed", deed=asked.get("deed"), kind=type(error).__name__)
            return {"fault": "away", "message": f"The worker's disk cannot be written: {error.strerror}."}

    def _result(self, asked: dict[str, Any]) -> Any:
        storage, name = self._storages[asked["kind"]], _checked(asked["name"])
        match asked["deed"]:
            case "path":
                return str(storage.path(name, asked["sha256"]))
            case "find":
                kept = storage.find(name)
                return asdict(kept) if kept else None
            case "keep":
                return _keep(storage, name, asked["file"])
        raise ValueError(asked["deed"])


def _checked(name: str) -> str:
    """A name of content, or of a file to check; never a way out of the storage."""
    folder, _, rest = name.partition("/")
    if digest_of(name) is None and (folder != CHECKS or not rest or set(rest) & set("/.\\")):
        raise ValueError(name)
    return name


def _keep(storage: Storage, name: str, file: str) -> None:
    """What lies half-written under this name, whose sha256 it must be: nobody can put anything over what is there."""
    path = storage.folder / INCOMING / Path(file).name
    if path.is_symlink() or stored_name(digest := sha256_of(path)) != name:
        raise ValueError(name)
    storage.keep(path, name, StoredFile(digest, path.stat().st_size))


class _Connection(socketserver.StreamRequestHandler):
    server: Keeper

    def handle(self) -> None:
        line = self.rfile.readline(LINE_BYTES)
        if not line:  # whoever it was wanted to know whether anybody is here
            return
        try:
            asked = dict(json.loads(line))
        except (ValueError, TypeError):
            asked = {}
        self.wfile.write(json.dumps(self.server.answer(asked)).encode() + b"\n")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
