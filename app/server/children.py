"""Child processes of the supervisor: each in a separate process group, with a separate log, restarted with backoff.

A guard process cleans up if the supervisor itself is killed. `app.server.programs` has the programs,
`app.server.supervisor` their order.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

GRACE_SECONDS = 5.0


def watch(lines: Iterable[str]) -> None:
    """Track the process groups; when the input ends, end the remaining ones."""
    groups: set[int] = set()
    for line in lines:
        group = int(line[1:])
        if line.startswith("+"):
            groups.add(group)
        else:
            groups.discard(group)
    end_groups(groups, GRACE_SECONDS)


def end_groups(groups: Iterable[int], grace_seconds: float) -> None:
    """Send SIGTERM to all groups, and SIGKILL to those still running after the grace period."""
    left = {group for group in groups if signal_group(group, signal.SIGTERM)}
    deadline = time.monotonic() + grace_seconds
    while left and time.monotonic() < deadline:
        time.sleep(0.05)
        left = {group for group in left if signal_group(group, 0)}
    for group in left:
        signal_group(group, signal.SIGKILL)


def signal_group(group: int, number: int) -> bool:
    """Send a signal to a process group; return False if the group is empty."""
    try:
        os.killpg(group, number)
    except ProcessLookupError:
        return False
    except PermissionError:  # macOS raises this for a group of zombies
        return False
    return True


if __name__ == "__main__":
    for ignored in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(ignored, signal.SIG_IGN)
    watch(sys.stdin)


LOG_LIMIT_BYTES = 20 * 1024 * 1024
#: A child that lived this long counts as healthy; its next death starts a new series of restarts.
WELL_AFTER_SECONDS = 60.0
FIRST_DELAY_SECONDS = 0.5
LONGEST_DELAY_SECONDS = 30.0


@dataclass(frozen=True)
class Program:
    """A program to run: its name for logs, command, complete environment, and time limit for stopping."""

    name: str
    command: Sequence[str]
    environment: Mapping[str, str]
    log: Path
    stop_seconds: float
    keep_open: tuple[int, ...] = ()  # file descriptors to inherit
    ends_by_itself: bool = False  # it has a single task and is not restarted


@dataclass
class Child:
    """A running program, or one waiting for its restart."""

    program: Program
    process: subprocess.Popen[bytes] | None = None
    started_at: float = 0.0
    log_begins: int = 0  # position in the log at that time
    deaths: int = 0  # in the current series
    is_refused: bool = False  # its last exit was due to the database's tables, see app.base.exit_status
    start_again_at: float = 0.0


@dataclass
class Guard:
    """The process that cleans up after a killed supervisor. lock: the descriptor that it keeps locked."""

    lock: int
    process: subprocess.Popen[str]
    groups: set[int] = field(default_factory=set)


@dataclass
class StopRequest:
    """The requests made by signals: Ctrl-C sets `stop`, a second one `hurry`."""

    stop: bool = False
    hurry: bool = False


# ----------------------------------------------------------------------------------------------------------- guard


def start_guard(lock: int) -> Guard:
    """Start the guard in a separate session, where the terminal's signals do not reach it, and return it."""
    return Guard(lock, _spawn_guard(lock))


def keep_guard(watched: Guard) -> None:
    """Restart the guard if it was killed, and send it all groups."""
    if watched.process.poll() is None:
        return
    _hang_up(watched)
    watched.process = _spawn_guard(watched.lock)
    for group in watched.groups:
        _write_line(watched, f"+{group}")


def dismiss_guard(watched: Guard) -> None:
    """End the guard, and everything that it still watches."""
    _hang_up(watched)
    watched.process.wait()


def _hang_up(watched: Guard) -> None:
    if watched.process.stdin:
        with suppress(BrokenPipeError):  # lines that it did not read do not matter: it is gone
            watched.process.stdin.close()


def _spawn_guard(lock: int) -> subprocess.Popen[str]:
    # -I -S: no site packages, no environment: starts in a few milliseconds.
    command = [sys.executable, "-I", "-S", str(Path(__file__).resolve())]
    return subprocess.Popen(  # noqa: S603 - our own script
        command, stdin=subprocess.PIPE, text=True, bufsize=1, pass_fds=(lock,), start_new_session=True
    )


def _write_line(watched: Guard, line: str) -> None:
    with suppress(BrokenPipeError):  # it was killed; keep_guard starts another one and sends it everything
        if watched.process.stdin:
            watched.process.stdin.write(f"{line}\n")


# -------------------------------------------------------------------------------------------------------- children


def start(child: Child, watched: Guard) -> None:
    """Run the program in a new process group, with its output appended to its log."""
    program = child.program
    program.log.parent.mkdir(parents=True, exist_ok=True)
    with program.log.open("ab") as log:
        child.log_begins = log.tell()
        child.process = subprocess.Popen(  # noqa: S603 - our own programs, no shell
            program.command,
            env=dict(program.environment),
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            pass_fds=program.keep_open,
            process_group=0,
        )
    watched.groups.add(child.process.pid)
    _write_line(watched, f"+{child.process.pid}")
    child.started_at = time.monotonic()


def is_running(child: Child) -> bool:
    """Return whether the main process is alive."""
    return child.process is not None and child.process.poll() is None


def reap(child: Child, watched: Guard) -> int:
    """Clean up after a child has died: end the rest of its group and schedule its restart; return its exit code."""
    if child.process is None:
        raise RuntimeError("it was never started")
    status = child.process.wait()
    _forget(child, watched)
    now = time.monotonic()
    child.deaths = 1 if now - child.started_at > WELL_AFTER_SECONDS else child.deaths + 1
    delay = min(FIRST_DELAY_SECONDS * 2 ** (child.deaths - 1), LONGEST_DELAY_SECONDS)
    child.start_again_at = now + delay
    return status


def stop(children: Sequence[Child], watched: Guard, wish: StopRequest) -> None:
    """Send SIGTERM to each child, SIGKILL to those that exceed their limit; return when all process groups are gone."""
    running = [child for child in children if child.process is not None]
    for child in running:
        _signal(child, signal.SIGTERM)
    began = time.monotonic()
    while waiting := [child for child in running if is_running(child)]:
        for child in waiting:
            if wish.hurry or time.monotonic() - began > child.program.stop_seconds:
                _signal(child, signal.SIGKILL)
        time.sleep(0.02)
    for child in running:
        _forget(child, watched)


def _signal(child: Child, number: signal.Signals) -> None:
    # Only the main process: a Celery worker, for example, stops its children gracefully itself.
    if child.process is not None and is_running(child):
        child.process.send_signal(number)


def _forget(child: Child, watched: Guard) -> None:
    if child.process is not None:
        signal_group(child.process.pid, signal.SIGKILL)
        watched.groups.discard(child.process.pid)
        _write_line(watched, f"-{child.process.pid}")
        child.process = None


# ------------------------------------------------------------------------------------------------------------ logs


def shorten_log(log: Path, limit_bytes: int = LOG_LIMIT_BYTES) -> None:
    """Move a long log aside (`web.log.1`) and truncate it; writers in append mode continue at the start."""
    try:
        if log.stat().st_size <= limit_bytes:
            return
    except FileNotFoundError:
        return
    with log.open("rb+") as file, log.with_name(f"{log.name}.1").open("wb") as old:
        while chunk := file.read(1024 * 1024):
            old.write(chunk)
        file.truncate(0)


def last_lines(child: Child, count: int = 8) -> list[str]:
    """Return the last lines that the child has logged since its start, which show why it died."""
    try:
        with child.program.log.open("rb") as file:
            size = file.seek(0, os.SEEK_END)
            begins = child.log_begins if child.log_begins <= size else 0  # the log was truncated meanwhile
            file.seek(max(begins, size - 16_384))
            text = file.read().decode(errors="replace")
    except FileNotFoundError:
        return []
    return [line for line in text.splitlines() if line.strip()][-count:]
