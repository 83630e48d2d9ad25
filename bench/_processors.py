"""What processes have used of the machine, as Linux tells it."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

_TICKS = os.sysconf("SC_CLK_TCK")


def family(pid: int) -> list[int]:
    """A process and its children."""
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return [pid, *map(int, children)]


def processor_seconds(pid: int) -> float:
    """What a process has used of processors until now."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / _TICKS


def processor_seconds_of_family(pid: int) -> float:
    """The same with its children, those included that have ended and were waited for."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    total = sum(map(int, fields[11:15])) / _TICKS
    for child in family(pid)[1:]:
        with suppress(FileNotFoundError, ProcessLookupError):  # it ended just now
            total += processor_seconds(child)
    return total


def resident_mib(pid: int) -> float:
    """Memory that a process has, what it shares included."""
    found = re.search(r"VmRSS:\s+(\d+) kB", Path(f"/proc/{pid}/status").read_text())
    return int(found[1]) / 1024 if found else 0.0


def shared_in_parts_mib(pid: int) -> float:
    """The same, but of what several processes share only a part each."""
    found = re.search(r"^Pss:\s+(\d+) kB", Path(f"/proc/{pid}/smaps_rollup").read_text(), re.MULTILINE)
    return int(found[1]) / 1024 if found else 0.0


def processor_seconds_of(work: Callable[[], object]) -> float:
    """Return the seconds of the processor of one call: of several, where one is too short for the clock.

    On a busy machine the clock on the wall would spare the shorter side.
    """
    started, calls, spent = time.process_time(), 0, 0.0
    while not spent:
        work()
        calls += 1
        spent = time.process_time() - started
    return spent / calls
