"""What `evergold serve` runs: the command, environment, log and patience of each child process."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from app.server import broker
from app.server.children import Program

#: Longer than the seconds that app.server.web gives to requests in flight.
WEB_STOP_SECONDS = 6.0
#: A running scoring may end within; one that takes longer is taken up again after the next start.
WORKER_STOP_SECONDS = 20.0
OTHER_STOP_SECONDS = 3.0

#: Unless whoever starts the server wants otherwise, and not where torch works. numpy's arithmetic in one thread: there
#: are as many processes as shall work at a time. One heap for all threads: Python lets one of them work at a time, and
#: each heap keeps what its threads once needed.
THRIFTY = {"OPENBLAS_NUM_THREADS": "1", "MALLOC_ARENA_MAX": "1"}
#: Settings of workers that the web process is not even told.
WAYS_TO_GOLD = frozenset({"EVERGOLD_GOLD_DIR", "EVERGOLD_GOLD_KEY_FILE"})

#: Modules are found where this code lies (see `code_path`), never in the folder somebody happens to stand in.
_PYTHON = (sys.executable, "-P", "-m")


@dataclass(frozen=True)
class ServeOptions:
    """What the command line says; paths are absolute, `workers` is the number of processes that score, web of those
    that serve; lean: whether what needs torch is left to others."""

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
    """What every child starts from: our environment, with the settings that the command line has the last word on."""
    return {
        **os.environ,
        "EVERGOLD_DATA_DIR": str(options.data_dir),
        "EVERGOLD_PHASES_FILE": str(options.phases_file),
        "EVERGOLD_GOLD_DIR": str(options.gold_dir),
        **({"EVERGOLD_LEAN": "true"} if options.lean else {}),
        "PYTHONPATH": code_path(),
        "PYTHONUNBUFFERED": "1",  # logs are complete when something dies
    }


def code_path() -> str:
    """PYTHONPATH for children: this code first, also where it was never installed but only lies (in an image)."""
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
    """The web process, or the parent of several, on an open socket; with a gate, one that serves only after a byte came
    through."""
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
    }  # on one machine, nobody need think of keys
    return Program("worker", command, with_key, options.log_dir / "worker.log", WORKER_STOP_SECONDS)


def history(options: ServeOptions, environment: Mapping[str, str]) -> Program:
    """Tells the demo's past, once: it scores as a worker does, and is done."""
    command = [*_PYTHON, "demo.history"]
    log = options.log_dir / "history.log"
    return Program("history", command, environment, log, OTHER_STOP_SECONDS, ends_by_itself=True)


def gpu_worker(options: ServeOptions, environment: Mapping[str, str]) -> Program:
    """A worker of its own for what needs torch: what takes minutes does not keep the others waiting."""
    command = worker_command("gpu", 1)
    return Program("gpu-worker", command, environment, options.log_dir / "gpu-worker.log", WORKER_STOP_SECONDS)


def has_torch() -> bool:
    """Whether a worker here could take what needs torch."""
    return all(find_spec(package) is not None for package in ("torch", "transformers"))


def sweep(options: ServeOptions, environment: Mapping[str, str]) -> Program:
    return Program(
        "sweep", sweep_command(), {**THRIFTY, **environment}, options.log_dir / "sweep.log", OTHER_STOP_SECONDS
    )


def web_command(host: str, port: int, processes: int) -> list[str]:
    """A web process, or the parent of several, that listens by itself."""
    return [*_PYTHON, "app.server.web", "--host", host, "--port", str(port), "--processes", str(processes)]


def worker_command(queues: str, processes: int) -> list[str]:
    """A worker that scores so many submissions at a time. queues: `auto`, `cpu` or `gpu`, see `workers.start`."""
    return [*_PYTHON, "workers.start", "--queues", queues, "--concurrency", str(processes)]


def selfcheck_command() -> list[str]:
    return [*_PYTHON, "workers.selfcheck"]


def gold_command(arguments: Sequence[str]) -> list[str]:
    """What needs the workers' private keys, and is therefore no part of `app`."""
    return [*_PYTHON, "workers.gold_commands", *arguments]


def sweep_command() -> list[str]:
    return [*_PYTHON, "workers.sweep"]
