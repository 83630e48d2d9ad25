"""Checks all processes of a sandbox from outside: their memory, their processor time, their number, their files.

The kernel's limits (rlimits) apply to single processes; this module checks the totals.
"""

from __future__ import annotations

import os
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from app.base.text import readable_size
from workers.sandbox.terms import Ended, Limits

_PAGE = os.sysconf("SC_PAGE_SIZE")
_TICK = os.sysconf("SC_CLK_TCK")
_PROC = Path("/proc")
#: Maximum number of files and folders at once; each takes a kilobyte of the kernel's memory, which no size limit
#: covers.
MOST_NAMES = 100_000


@dataclass(frozen=True, slots=True)
class Use:
    """The totals of all processes of a sandbox. memory: in bytes; shared pages count once for each process."""

    memory: int
    processor_seconds: float
    processes: int


def look(init: int, limits: Limits, folder: str) -> tuple[Ended, str] | None:
    """Return the limit that is exceeded, with a message; None if none is.

    init: process 1 of the sandbox, as seen from outside; it is counted as well, since a program can make it do its
    work.
    folder: the writable folder, as seen from inside.
    """
    found = [init, *processes_below(init)]
    use = use_of(found)
    if use.memory > limits.memory and shared_memory_of(found) > limits.memory:
        return Ended.TOO_MUCH_MEMORY, memory_words(limits)
    if use.processor_seconds > limits.processor_seconds:
        return Ended.TOO_LATE, f"it took more than {limits.processor_seconds:g} s of processor time"
    if use.processes > limits.processes + 1:
        return Ended.KILLED, f"it had more than {limits.processes} processes and threads"
    return look_at_files(f"/proc/{init}/root{folder}")


def memory_words(limits: Limits) -> str:
    """Return the message for too much memory."""
    return f"its processes held more than {readable_size(limits.memory)} of memory together"


def look_at_files(folder: str) -> tuple[Ended, str] | None:
    """Return the exceeded limit if the writable folder is full."""
    try:
        found = os.statvfs(folder)
    except OSError:
        return None  # the sandbox has ended
    if found.f_bavail == 0:
        return Ended.TOO_MUCH_WRITTEN, "it wrote more than its limit"
    if found.f_files - found.f_ffree > MOST_NAMES:
        return Ended.TOO_MUCH_WRITTEN, f"it made more than {MOST_NAMES:,} files and folders"
    return None


def processes_below(init: int) -> list[int]:
    """Return the descendants of this process, without itself; in a namespace no process leaves the tree of its init."""
    found, left = [], [init]
    while left:
        children = _children(left.pop())
        found += children
        left += children
    return found


def _children(process: int) -> list[int]:
    children: list[int] = []
    with suppress(OSError):
        for thread in os.listdir(f"/proc/{process}/task"):
            with suppress(OSError):
                children += map(int, (_PROC / f"{process}/task/{thread}/children").read_bytes().split())
    return children


def use_of(processes: list[int]) -> Use:
    """Return the totals of the processes; ended ones have added their time to their parent or the sandbox's init."""
    memory, ticks, threads = 0, 0, 0
    for process in processes:
        fields = _fields(process)
        ticks += sum(fields[11:15])
        threads += fields[17]
        memory += fields[21] * _PAGE
    return Use(memory, ticks / _TICK, threads)


def _fields(process: int) -> list[int]:
    """Return the numbers that follow the name in `stat` of proc(5), with zeros for a process that has ended.

    The name may contain anything. Indices are three less than there. 11 to 14: processor time in ticks, of the process
    and of its ended children; 17: threads; 21: pages in memory.
    """
    try:
        parts = (_PROC / f"{process}/stat").read_bytes().rpartition(b")")[2].split()
    except OSError:
        parts = []
    return [0, *(int(part) for part in parts[1:30]), *[0] * (30 - len(parts))]


def shared_memory_of(processes: list[int]) -> int:
    """Return the bytes of memory of all processes together, counting each shared page once; slower than `use_of`."""
    memory = 0
    for process in processes:
        try:
            lines = (_PROC / f"{process}/smaps_rollup").read_bytes().splitlines()
        except OSError:  # ended, or not shown to us: then all that it holds counts
            memory += _fields(process)[21] * _PAGE
            continue
        memory += sum(int(line.split()[1]) * 1024 for line in lines if line.startswith((b"Pss:", b"SwapPss:")))
    return memory
