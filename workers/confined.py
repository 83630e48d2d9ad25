"""Confinement of a run: limited memory, time and files, and no network, while a participant's file is read and scored.

The limits are those of the operating system (rlimits of the worker's child), set before a run and lifted after it. An
audit hook refuses name look-ups and connections to the scoring thread; the run's heartbeat runs in another thread and
still reaches the database. Native code could bypass the hook, so docker-compose.yml gives workers a network without
external access.
"""

from __future__ import annotations

import resource
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

from pydantic import Field
from pydantic_settings import BaseSettings, SettingsConfigDict

from workers.settings import settings_of

MEBIBYTE = 1024 * 1024
#: Events that a run may not cause. `socket.connect` would be enough for TCP; the others fail earlier, with a better
#: name.
_REFUSED = frozenset(
    {"socket.connect", "socket.sendto", "socket.sendmsg", "socket.bind", "socket.getaddrinfo", "socket.gethostbyname"}
)


#: Seconds that a run over its processor time has until the kernel kills it, see `workers.overrun`.
_LATE = 5


class RunLimits(BaseSettings):
    """The resource limits of one run; read by workers only. 0: unlimited."""

    model_config = SettingsConfigDict(env_prefix="EVERGOLD_RUN_", env_ignore_empty=True)

    memory_mebibytes: int = Field(8192, ge=0, description="private memory of the worker's process while it scores")
    cpu_seconds: int = Field(3600, ge=0, description="processor time of one run; a run that takes more is stopped")
    open_files: int = Field(512, ge=0, description="number of files and connections open at the same time")
    file_mebibytes: int = Field(4096, ge=0, description="size of any file that a run writes")


class NetworkRefused(PermissionError):
    """Scoring tried to use the network, which no scorer needs."""


_confined = threading.local()
_lock = threading.Lock()
_hooked = False
#: Number of runs confined now, and the limits that the process had before the first of them.
_inside = 0
_own_bounds: dict[int, tuple[int, int]] = {}


@contextmanager
def confined(limits: RunLimits | None = None) -> Iterator[None]:
    """Limit the resources of the block and refuse it network access.

    Workers run one block at a time in a process. With several threads, the latest limits apply until the last block
    ends. Too much memory raises MemoryError; if the processor time is far above the limit, the process ends, and its
    lease expires.
    """
    _set_bounds(_bounds(limits or settings_of(RunLimits)))
    _confined.now = True
    try:
        yield
    finally:
        _confined.now = False
        _lift_bounds()


def _bounds(limits: RunLimits) -> dict[int, int]:
    """Return soft limits by resource; processor time counts from the process start, so its use so far is added."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    wanted = {
        # Limits private writable memory, not address space: reserved and shared mappings (CUDA, models) are not
        # counted.
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
    """Set the soft limit, at most to the hard limit; ignore limits that the system does not know."""
    if hard != resource.RLIM_INFINITY and (bound > hard or bound == resource.RLIM_INFINITY):
        bound = hard
    with suppress(ValueError, OSError):
        resource.setrlimit(which, (bound, hard))


def _install_hook() -> None:
    """Install the hook once per process: audit hooks cannot be removed, so it checks whether its thread is scoring."""
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
    """Raise NetworkRefused for network events of a scoring thread.

    All names are arguments because the hook still runs at exit, when module globals are gone.
    """
    if event in refused and getattr(confined_now, "now", False):
        raise NetworkRefused(f"scoring may not use the network ({event})")
