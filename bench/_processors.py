"""Processor time and memory of processes, as reported by Linux."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

_TICKS = os.sysconf("SC_CLK_TCK")


def family(pid: int) -> list[int]:
    """Return a process and its children."""
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return [pid, *map(int, children)]


def processor_seconds(pid: int) -> float:
    """Return the processor time that a process has used."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / _TICKS


def processor_seconds_of_family(pid: int) -> float:
    """Return the processor time of a process and its children, including ended ones that were waited for."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    total = sum(map(int, fields[11:15])) / _TICKS
    for child in family(pid)[1:]:
        with suppress(FileNotFoundError, ProcessLookupError):  # it ended just now
            total += processor_seconds(child)
    return total


def resident_mib(pid: int) -> float:
    """Return the memory of a process, including what it shares."""
    found = re.search(r"VmRSS:\s+(\d+) kB", Path(f"/proc/{pid}/status").read_text())
    return int(found[1]) / 1024 if found else 0.0


def shared_in_parts_mib(pid: int) -> float:
    """Return the memory of processes, with shared memory divided among those that share it."""
    found = re.search(r"^Pss:\s+(\d+) kB", Path(f"/proc/{pid}/smaps_rollup").read_text(), re.MULTILINE)
    return int(found[1]) / 1024 if found else 0.0


def processor_seconds_of(work: Callable[[], object]) -> float:
    """Return the processor seconds of one call, measured over several if one is too short for the clock.

    On a busy machine, wall-clock time would favour the shorter side.
    """
    started, calls, spent = time.process_time(), 0, 0.0
    while not spent:
        work()
        calls += 1
        spent = time.process_time() - started
    return spent / calls
