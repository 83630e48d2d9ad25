"""What a run does that meets a bound: out of memory it stops, out of time it is ended; either way its process ends.

A process whose memory was full may hold, in pieces, what the next run needs; so whatever comes next starts in a fresh
one. Time is watched by a thread, which ends the process from within: nothing of a run that hangs has to co-operate.
"""

from __future__ import annotations

import os
import resource
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from enum import Enum

from app.base.config import MEBIBYTE, get_settings
from app.base.text import readable_size
from evergold.scoring.errors import Problem
from evergold.scoring.task import AnyTask
from workers.confined import RunLimits
from workers.faults import survived
from workers.settings import settings_of

#: How often the clock is looked at while a run lasts.
LOOK_SECONDS = 0.5

_begun = 0


class Ending(Enum):
    """How a piece of work leaves its worker: DONE, well or not; LEFT to others; SPENT: this process ends."""

    DONE = "done"
    LEFT = "left"
    SPENT = "spent"


@dataclass(frozen=True, slots=True)
class Bound:
    """What a run met. words: as in `takes more than 8 GiB of memory`."""

    code: str
    words: str

    def problem(self, doing: str) -> Problem:
        """For the sender. doing: `score` or `check`."""
        return Problem(self.code, f"this file takes more than {self.words} to {doing}, the bound for every file")


def is_fresh_process() -> bool:
    """Whether this process has nothing of earlier runs in its memory; to be asked once by every run."""
    global _begun
    _begun += 1
    return _begun == 1


def is_out_of_memory(error: BaseException) -> bool:
    """Python's and numpy's own error, or torch's, which says it in words."""
    return isinstance(error, MemoryError) or (isinstance(error, RuntimeError) and "can't allocate memory" in str(error))


def memory_bound() -> Bound:
    """The one that a run out of memory met."""
    return Bound("too-much-memory", f"{readable_size(settings_of(RunLimits).memory_mebibytes * MEBIBYTE)} of memory")


def scoring_seconds(task: AnyTask | None) -> tuple[int, int]:
    """How long a run of this type of task may take: until it reports progress for the first time, and in all.

    Ours that need torch report before they encode: what they do without it has no more time than in other types.
    """
    settings = get_settings()
    if task is None or not task.needs_gpu:
        return settings.run_limit_seconds, settings.run_limit_seconds
    is_ours = not task.distribution
    return settings.run_limit_seconds if is_ours else settings.encoding_limit_seconds, settings.encoding_limit_seconds


@dataclass
class Deadline:
    """How many seconds after its beginning a block is ended."""

    seconds: float

    def extend(self, seconds: float) -> None:
        """Give the block so much time in all, unless it has more."""
        self.seconds = max(self.seconds, seconds)


@contextmanager
def in_time(seconds: float, end: Callable[[Bound], object]) -> Iterator[Deadline]:
    """End this process if the block takes longer than this, or more processor time than a run may.

    end: records it, in a thread. The block may be anywhere when the process ends, and is left by nothing but that.
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
    """`2 s`, `10 min`, `1 h`, `1 h 30 min`."""
    minutes, rest = divmod(round(seconds), 60)
    if rest or not minutes:
        return f"{round(seconds)} s"
    hours, minutes = divmod(minutes, 60)
    return " ".join([*([f"{hours} h"] if hours else []), *([f"{minutes} min"] if minutes else [])])


def _end_process(bound: Bound, end: Callable[[Bound], object]) -> None:
    """Whatever happens: what could not be recorded has lost its worker, and is looked after by the sweep."""
    with suppress(ValueError, OSError):  # the block may have filled the memory as well
        hard = resource.getrlimit(resource.RLIMIT_DATA)[1]
        resource.setrlimit(resource.RLIMIT_DATA, (hard, hard))
    try:
        end(bound)
        sys.stdout.flush()
        sys.stderr.flush()
    except Exception as error:
        survived("overrun_not_recorded", error)
    finally:
        os._exit(0)
