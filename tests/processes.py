"""Child processes of tests: each with a process group and a log of its own, reliably ended.

A guard process ends them all should the tests themselves be killed.
"""

from __future__ import annotations

import atexit
import os
import pwd
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import NoReturn

import pytest

from app.server import children

#: How long is waited for what happens at once on a quiet machine: ten times as much as a crowded one was seen to need.
START_SECONDS = 180.0
#: Between two looks whether it has happened.
LONGEST_PAUSE_SECONDS = 0.1
REPOSITORY = Path(__file__).resolve().parents[1]


@dataclass
class Service:
    """A running child process, the leader of its group; its output is in `log`."""

    name: str
    process: subprocess.Popen[bytes]
    log: Path

    def is_running(self) -> bool:
        return self.process.poll() is None

    def said(self) -> str:
        return self.log.read_text(encoding="utf-8", errors="replace")


def start(
    name: str,
    command: Sequence[str | Path],
    folder: Path,
    environment: Mapping[str, str],
    *,
    user: str | None = None,
    keep_open: Sequence[int] = (),
) -> Service:
    """Start a command in a process group of its own; its log is `folder/name.log`."""
    log = folder / f"{name}.log"
    group = pwd.getpwnam(user).pw_gid if user else None
    with log.open("ab") as output:
        process = subprocess.Popen(
            [str(part) for part in command],
            env=dict(environment),
            cwd="/" if user else REPOSITORY,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            pass_fds=tuple(keep_open),
            process_group=0,
            user=user,
            group=group,
            extra_groups=[] if user else None,
        )
    _tell_guard(f"+{process.pid}")
    return Service(name, process, log)


def stop(service: Service, number: int = signal.SIGTERM, seconds: float = 60.0) -> None:
    """Ask the leader to stop, then end whatever is left of its group; nothing outlives this."""
    if service.is_running():
        service.process.send_signal(number)
        with suppress(subprocess.TimeoutExpired):
            service.process.wait(seconds)
    kill(service)


def kill(service: Service) -> None:
    """Kill the whole group at once (kill -9)."""
    children.signal_group(service.process.pid, signal.SIGKILL)
    service.process.wait()
    _tell_guard(f"-{service.process.pid}")


def wait_until(done: Callable[[], object], what: str, service: Service | None = None, seconds: float = 0.0) -> None:
    """Return soon after `done()`; fail with a sentence and the end of the log if that takes too long.

    The pauses between calls grow: a call may cost more than what it waits for.
    """
    deadline, pause = time.monotonic() + (seconds or START_SECONDS), 0.01
    while not done():
        ended = service is not None and not service.is_running()
        if ended or time.monotonic() > deadline:
            said = service.said()[-3000:] if service else ""
            pytest.fail(f"waited in vain until {what}\n{said}")
        time.sleep(pause)
        pause = min(1.2 * pause, LONGEST_PAUSE_SECONDS)


def is_gone(pid: int) -> bool:
    """Return whether this process has ended, even if its parent has not noticed yet."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except OSError:
        return True


@lru_cache(maxsize=1)
def _guard() -> subprocess.Popen[str]:
    """Start the process that watches our groups; it ends them when its input ends, however we end."""
    command = [sys.executable, "-I", "-S", str(Path(children.__file__))]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, text=True, bufsize=1, start_new_session=True)
    atexit.register(_dismiss, process)
    return process


def _tell_guard(line: str) -> None:
    stdin = _guard().stdin
    assert stdin is not None
    stdin.write(f"{line}\n")


def _dismiss(process: subprocess.Popen[str]) -> None:
    if process.stdin:
        process.stdin.close()
    process.wait()


@contextmanager
def short_folder(owner: str | None = None) -> Iterator[Path]:
    """A temporary folder with a path short enough for Unix sockets."""
    folder = Path(tempfile.mkdtemp(prefix="evg-"))
    if owner:
        account = pwd.getpwnam(owner)
        os.chown(folder, account.pw_uid, account.pw_gid)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def missing(what: str) -> NoReturn:
    """Skip the test with what is not installed; with CI=true fail it instead."""
    if os.environ.get("CI") == "true":
        pytest.fail(what)
    pytest.skip(what)
