"""Outlives the supervisor briefly: when that dies, for any reason, ends every process group that it started.

A bare script with the standard library only, so that little can go wrong. It reads lines `+GROUP` and `-GROUP`; the end
of its input means the end of the supervisor. It also holds the data directory's lock until everything has ended.
"""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Iterable

GRACE_SECONDS = 5.0


def watch(lines: Iterable[str]) -> None:
    """Track the groups; when the input ends, end the remaining ones."""
    groups: set[int] = set()
    for line in lines:
        group = int(line[1:])
        if line.startswith("+"):
            groups.add(group)
        else:
            groups.discard(group)
    end_groups(groups, GRACE_SECONDS)


def end_groups(groups: Iterable[int], grace_seconds: float) -> None:
    """Send SIGTERM to all groups, and SIGKILL to those left after the grace period."""
    left = {group for group in groups if signal_group(group, signal.SIGTERM)}
    deadline = time.monotonic() + grace_seconds
    while left and time.monotonic() < deadline:
        time.sleep(0.05)
        left = {group for group in left if signal_group(group, 0)}
    for group in left:
        signal_group(group, signal.SIGKILL)


def signal_group(group: int, number: int) -> bool:
    """Send a signal to a process group; False if it is empty."""
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
