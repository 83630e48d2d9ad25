"""A cgroup for each run, if the worker's cgroup was delegated to it: the kernel then counts all memory of a run.

Only for version 2. EVERGOLD_SANDBOX_CGROUPS states that the worker may divide its cgroup (systemd: `Delegate=memory
pids`), since that cannot be detected: root can write everywhere. A cgroup that passes memory on to others may hold no
processes itself, so the worker's move into its child `worker`, and runs get siblings of that.
"""

from __future__ import annotations

import os
import secrets
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from workers.sandbox.settings import sandbox_settings
from workers.sandbox.terms import Limits, SandboxUnavailable

ROOT = Path("/sys/fs/cgroup")
LEAF = "worker"
CONTROLLERS = ("memory", "pids")
#: Memory for bubblewrap, the supervisor, and the kernel's data about them.
_BESIDE = 32 << 20
#: Time limit until an ended cgroup is empty.
_ENDING_SECONDS = 10.0


@dataclass(frozen=True, slots=True)
class Group:
    """The cgroup of one run."""

    folder: Path

    def add(self, process: int) -> None:
        """Move a process into the cgroup; its later children will be in it, too. Raises OSError."""
        (self.folder / "cgroup.procs").write_text(str(process))

    def was_out_of_memory(self) -> bool:
        """Return True if the kernel killed a process because the memory of the cgroup was full."""
        with suppress(OSError, ValueError):
            counts = dict(line.split() for line in (self.folder / "memory.events").read_text().splitlines())
            return int(counts["oom_kill"]) > 0
        return False


@contextmanager
def group_for(limits: Limits, in_memory: int) -> Iterator[Group | None]:
    """Create a cgroup for a run, and remove it with everything in it after the block; None if none is delegated.

    in_memory: bytes of files in memory, which the kernel counts, too. Raises SandboxUnavailable if the setting is on
    but no cgroup can be created.
    """
    if not sandbox_settings().cgroups:
        yield None
        return
    folder = delegated() / f"run-{os.getpid()}-{secrets.token_hex(4)}"
    try:
        folder.mkdir()
        (folder / "memory.max").write_text(str(limits.memory + in_memory + _BESIDE))
        (folder / "memory.oom.group").write_text("1")
        (folder / "pids.max").write_text(str(limits.processes + 2))
        with suppress(FileNotFoundError):  # a kernel without swap
            (folder / "memory.swap.max").write_text("0")
    except OSError as error:
        _remove(folder)
        raise _unusable(error) from None
    try:
        yield Group(folder)
    finally:
        _remove(folder)


def delegated() -> Path:
    """Return the cgroup below which runs get theirs, prepared for that. Raises SandboxUnavailable."""
    own = _own()
    if own.name.endswith(".scope"):  # a log-in of somebody who tries a command: its processes are not ours to move
        raise _unusable(PermissionError(f"{own.name} is a session's"))
    base = own.parent if own.name == LEAF else own
    try:
        if own == base:
            (base / LEAF).mkdir(exist_ok=True)
            for process in (base / "cgroup.procs").read_text().split():
                with suppress(ProcessLookupError):
                    (base / LEAF / "cgroup.procs").write_text(process)
        passed_on = (base / "cgroup.subtree_control").read_text().split()
        if not set(CONTROLLERS) <= set(passed_on):
            (base / "cgroup.subtree_control").write_text(" ".join(f"+{name}" for name in CONTROLLERS))
    except OSError as error:
        raise _unusable(error) from None
    return base


def _own() -> Path:
    for line in Path("/proc/self/cgroup").read_text().splitlines():
        number, _, path = line.split(":", 2)
        if number == "0" and (ROOT / "cgroup.controllers").exists():
            return ROOT / path.lstrip("/")
    raise SandboxUnavailable("EVERGOLD_SANDBOX_CGROUPS is set, but there are no cgroups of version 2 here")


def _unusable(error: OSError) -> SandboxUnavailable:
    return SandboxUnavailable(
        f"EVERGOLD_SANDBOX_CGROUPS is set, but the worker's cgroup is not its own to divide ({error}): set "
        "`Delegate=memory pids` in its unit"
    )


def _remove(folder: Path) -> None:
    """Kill the remaining processes of the cgroup, and remove it."""
    with suppress(OSError):  # cgroup.kill came with Linux 5.14; by then all has ended in any case
        (folder / "cgroup.kill").write_text("1")
    ends_at = time.monotonic() + _ENDING_SECONDS
    while folder.exists() and time.monotonic() < ends_at:
        try:
            folder.rmdir()
        except OSError:
            time.sleep(0.01)
