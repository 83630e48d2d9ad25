"""Handling of runs that exceed a limit: they are stopped at the memory limit, ended at the time limit, and the process
exits.

A process whose memory was full may have it too fragmented for the next run, which therefore starts in a fresh process.
A thread watches the time and ends the process from within, without any co-operation of a hanging run.
"""

from __future__ import annotations

import os
import resource
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from enum import Enum
from typing import Any

from app.base.config import MEBIBYTE, get_settings
from app.base.logs import log_and_continue
from app.base.text import readable_size
from evergold.scoring.errors import InvalidOptions, Problem
from evergold.scoring.task import AnyTask, read_options
from workers.confined import RunLimits
from workers.settings import settings_of

#: Interval between checks of the clock during a run.
LOOK_SECONDS = 0.5

_begun = 0


class Ending(Enum):
    """The way in which a job ended for its worker: DONE, successful or not; LEFT to others; SPENT: this process must
    exit.
    """

    DONE = "done"
    LEFT = "left"
    SPENT = "spent"


@dataclass(frozen=True, slots=True)
class Bound:
    """A limit that a run exceeded. words: as in `takes more than 8 GiB of memory`."""

    code: str
    words: str

    def problem(self, doing: str) -> Problem:
        """Return the problem to show to the team. doing: `score` or `check`."""
        return Problem(self.code, f"this file takes more than {self.words} to {doing}, the limit for every file")


def is_fresh_process() -> bool:
    """Return True for the first run of this process; call it exactly once per run."""
    global _begun
    _begun += 1
    return _begun == 1


def is_out_of_memory(error: BaseException) -> bool:
    """Return True for MemoryError, which Python and numpy raise, and for torch's RuntimeError, recognised by its
    message.
    """
    return isinstance(error, MemoryError) or (isinstance(error, RuntimeError) and "can't allocate memory" in str(error))


def memory_bound() -> Bound:
    """Return the memory limit of runs."""
    return Bound("too-much-memory", f"{readable_size(settings_of(RunLimits).memory_mebibytes * MEBIBYTE)} of memory")


#: Seconds added to the limit of an organisers' own program, which the sandbox ends first, so that no worker process has
#: to end.
AROUND_PROGRAMS = 120


def scoring_seconds(task: AnyTask | None, options: Mapping[str, Any]) -> tuple[float, float]:
    """Return the time limits of a run of this task in seconds: until its first progress report, and in total.

    Built-in types that need torch report before they encode: until then they have the limit of other types.
    """
    settings = get_settings()
    if task is not None and task.seconds_by is not None:
        with suppress(InvalidOptions):  # told by scoring itself
            seconds = settings.run_limit_seconds + (task.seconds_of(read_options(task, options)) or 0)
            return seconds + AROUND_PROGRAMS, seconds + AROUND_PROGRAMS
    if task is None or not task.needs_gpu:
        return settings.run_limit_seconds, settings.run_limit_seconds
    is_ours = not task.distribution
    return settings.run_limit_seconds if is_ours else settings.encoding_limit_seconds, settings.encoding_limit_seconds


@dataclass
class Deadline:
    """The number of seconds after which a block is ended."""

    seconds: float

    def extend(self, seconds: float) -> None:
        """Allow the block this much time in total, unless it has more."""
        self.seconds = max(self.seconds, seconds)


@contextmanager
def in_time(seconds: float, end: Callable[[Bound], object]) -> Iterator[Deadline]:
    """End this process if the block exceeds this time, or the processor time of a run.

    end: records the overrun, from another thread. The block is not unwound: the process exits.
    """
    stop, deadline, began = threading.Event(), Deadline(seconds), time.monotonic()
    cpu_seconds = settings_of(RunLimits).cpu_seconds
    late_at = time.process_time() + (cpu_seconds or float("inf"))

    def watch() -> None:
        while not stop.wait(LOOK_SECONDS):
            if time.monotonic() >= began + deadline.seconds:
                _end_process(Bound("too-slow", readable_time(deadline.seconds)), end)
            if time.process_time() >= late_at:
                _end_process(Bound("too-slow", f"{readable_time(cpu_seconds)} of processor time"), end)

    thread = threading.Thread(target=watch, name="time", daemon=True)
    thread.start()
    try:
        yield deadline
    finally:
        stop.set()
        thread.join()


def readable_time(seconds: float) -> str:
    """Return a time as `2 s`, `10 min`, `1 h`, `1 h 30 min`."""
    minutes, rest = divmod(round(seconds), 60)
    if rest or not minutes:
        return f"{round(seconds)} s"
    hours, minutes = divmod(minutes, 60)
    return " ".join([*([f"{hours} h"] if hours else []), *([f"{minutes} min"] if minutes else [])])


def _end_process(bound: Bound, end: Callable[[Bound], object]) -> None:
    """Record the overrun and exit in any case; if it cannot be recorded, the sweep treats the run as lost."""
    with suppress(ValueError, OSError):  # the block may also have filled the memory
        hard = resource.getrlimit(resource.RLIMIT_DATA)[1]
        resource.setrlimit(resource.RLIMIT_DATA, (hard, hard))
    try:
        end(bound)
        sys.stdout.flush()
        sys.stderr.flush()
    except Exception as error:
        log_and_continue("overrun_not_recorded", error)
    finally:
        os._exit(0)
