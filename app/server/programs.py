"""The programs of `evergold serve`: command, environment, log and time limit for stopping of each."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from app.server import broker
from app.server.children import Program

#: Longer than the time that app.server.web gives to requests in flight.
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

    workers, web: the number of scoring and of serving processes.
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
    """Return the base environment of every child: ours, with the settings that the command line overrides."""
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
    """Return PYTHONPATH for children: this code first, also where it is not installed (in an image)."""
    ours = str(Path(__file__).resolve().parents[2])
    inherited = os.environ.get("PYTHONPATH")
    return os.pathsep.join([ours, inherited] if inherited else [ours])


def valkey(options: ServeOptions, binary: Path, socket: Path) -> Program:
    command = broker.valkey_command(binary, socket)
    return Program("broker", command, {"LC_ALL": "C"}, options.log_dir / "broker.log", OTHER_STOP_SECONDS)


def prepare(options: ServeOptions, environment: Mapping[str, str], report: Path) -> Program:
    demo = ["--demo", *(["--history"] if options.history else [])] if options.demo else []
    command = [*_PYTHON, "app.server.prepare", str(report), *demo]
    return Program("prepare", command, environment, options.log_dir / "prepare.log", OTHER_STOP_SECONDS)


def web(options: ServeOptions, environment: Mapping[str, str], listener: int, gate: int | None = None) -> Program:
    """Return the web process, or the parent of several, on an open socket.

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
    """Return the program that generates the demo history once: it scores as a worker does, then exits."""
    command = [*_PYTHON, "demo.history"]
    log = options.log_dir / "history.log"
    return Program("history", command, environment, log, OTHER_STOP_SECONDS, ends_by_itself=True)


def gpu_worker(options: ServeOptions, environment: Mapping[str, str]) -> Program:
    """Return a separate worker for tasks that need torch, whose minutes of work do not delay the others."""
    command = worker_command("gpu", 1)
    return Program("gpu-worker", command, environment, options.log_dir / "gpu-worker.log", WORKER_STOP_SECONDS)


def has_torch() -> bool:
    """Return whether a worker here could take tasks that need torch."""
    return all(find_spec(package) is not None for package in ("torch", "transformers"))


def sweep(options: ServeOptions, environment: Mapping[str, str]) -> Program:
    return Program(
        "sweep", sweep_command(), {**THRIFTY, **environment}, options.log_dir / "sweep.log", OTHER_STOP_SECONDS
    )


def web_command(host: str, port: int, processes: int) -> list[str]:
    """Return the command of a web process, or the parent of several, that opens its own socket."""
    return [*_PYTHON, "app.server.web", "--host", host, "--port", str(port), "--processes", str(processes)]


def worker_command(queues: str, processes: int) -> list[str]:
    """Return the command of a worker that scores this many submissions at a time.

    queues: `auto`, `cpu` or `gpu`, see `workers.start`.
    """
    return [*_PYTHON, "workers.start", "--queues", queues, "--concurrency", str(processes)]


def selfcheck_command() -> list[str]:
    return [*_PYTHON, "workers.selfcheck"]


def gold_command(arguments: Sequence[str]) -> list[str]:
    """Return the command for operations that need the workers' private keys, and are therefore not in `app`."""
    return [*_PYTHON, "workers.gold_commands", *arguments]


def sweep_command() -> list[str]:
    return [*_PYTHON, "workers.sweep"]
