"""Confinement of a run: what reads and scores a participant's file gets bounded memory, time and files, and no network.

The bounds are the operating system's (rlimits of the worker's child), set before a run and lifted after it. Name
look-ups and connections are refused to the scoring thread by an audit hook; the run's heartbeat, a thread of its own,
keeps its way to the database. Native code could pass by the hook: docker-compose.yml therefore gives workers a network
without a way out.
"""

from __future__ import annotations

import resource
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

from pydantic import Field

from app.base.environment import EnvironmentSettings
from workers.settings import settings_of

MEBIBYTE = 1024 * 1024
#: What a run may not do. `socket.connect` alone would do for TCP; the others say no earlier, with a better name.
_REFUSED = frozenset(
    {"socket.connect", "socket.sendto", "socket.sendmsg", "socket.bind", "socket.getaddrinfo", "socket.gethostbyname"}
)


#: Seconds within which a run that took its processor time is ended in order, see `workers.overrun`.
_LATE = 5


class RunLimits(EnvironmentSettings):
    """What one run may use; a setting of workers alone. 0: no bound."""

    prefix_of_variables = "EVERGOLD_RUN_"
    ignore_empty = True

    memory_mebibytes: int = Field(8192, ge=0, description="private memory of the worker's process while it scores")
    cpu_seconds: int = Field(3600, ge=0, description="processor time of one run; a run that takes more is ended")
    open_files: int = Field(512, ge=0, description="files and connections open at once")
    file_mebibytes: int = Field(4096, ge=0, description="size of any file that is written while a run lasts")


class NetworkRefused(PermissionError):
    """Scoring tried to reach the network: nothing that scores has a reason to."""


_confined = threading.local()
_lock = threading.Lock()
_hooked = False
#: How many runs are confined now, and what the process's own bounds were before the first of them.
_inside = 0
_own_bounds: dict[int, tuple[int, int]] = {}


@contextmanager
def confined(limits: RunLimits | None = None) -> Iterator[None]:
    """Bound what the block may use, and refuse it the network. One run at a time in a process, as workers have it;
    of several, in threads, the latest bounds hold, until the last of them ends.

    Too much memory is a MemoryError; processor time far beyond the bound ends the process: its lease then runs out.
    """
    _set_bounds(_bounds(limits or settings_of(RunLimits)))
    _confined.now = True
    try:
        yield
    finally:
        _confined.now = False
        _lift_bounds()


def _bounds(limits: RunLimits) -> dict[int, int]:
    """resource -> soft limit. Processor time counts from the process's birth, so this run's share is added to it."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    wanted = {
        # Of what is private and writable, not of address space: reserved and shared mappings (CUDA, models) are free.
        resource.RLIMIT_DATA: limits.memory_mebibytes * MEBIBYTE,
        resource.RLIMIT_CPU: limits.cpu_seconds and int(used.ru_utime + used.ru_stime) + 1 + _LATE + limits.cpu_seconds,
        resource.RLIMIT_NOFILE: limits.open_files,
        resource.RLIMIT_FSIZE: limits.file_mebibytes * MEBIBYTE,
    }
    return {which: bound for which, bound in wanted.items() if bound}


def _set_bounds(bounds: dict[int, int]) -> None:
    global _inside
    with _lock:
        _install_hook()
        _inside += 1
        for which, bound in bounds.items():
            soft, hard = resource.getrlimit(which)
            _own_bounds.setdefault(which, (soft, hard))
            _set_soft(which, bound, hard)


def _lift_bounds() -> None:
    global _inside
    with _lock:
        _inside -= 1
        if _inside == 0:
            for which, (soft, hard) in _own_bounds.items():
                _set_soft(which, soft, hard)
            _own_bounds.clear()


def _set_soft(which: int, bound: int, hard: int) -> None:
    """Never above the hard limit, which the machine's owner set; some systems know not all of these limits."""
    if hard != resource.RLIM_INFINITY and (bound > hard or bound == resource.RLIM_INFINITY):
        bound = hard
    with suppress(ValueError, OSError):
        resource.setrlimit(which, (bound, hard))


def _install_hook() -> None:
    """Once per process: audit hooks cannot be taken away again, so it asks whether its thread is scoring."""
    global _hooked
    if not _hooked:
        sys.addaudithook(_refuse_network)
        _hooked = True


def _refuse_network(
    event: str,
    arguments: tuple[Any, ...],
    refused: frozenset[str] = _REFUSED,
    confined_now: threading.local = _confined,
) -> None:
    """What it needs are arguments: when the interpreter ends, it is called after this module has lost its names."""
    if event in refused and getattr(confined_now, "now", False):
        raise NetworkRefused(f"scoring may not use the network ({event})")
