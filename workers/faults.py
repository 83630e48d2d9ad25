"""Safe descriptions of errors raised while gold was open: kind and place for organisers, traceback for the log.

The message of such an error may quote gold, while pages and logs are read and collected outside the workers. `evergold
gold check`, on the worker, shows the full messages.
"""

from __future__ import annotations

import os
import traceback
from typing import Any

from app.base.errors import StorageAway, StorageDamaged, StorageFull
from evergold.scoring.errors import InvalidFile, InvalidOptions, Problem, UnknownTask, shorten
from workers.gold_errors import GoldNotFound, SealBroken

#: Errors whose messages are ours and mention only names, settings and the machine.
_SAY_NO_GOLD = (
    GoldNotFound,
    SealBroken,
    InvalidOptions,
    UnknownTask,
    StorageFull,
    StorageAway,
    StorageDamaged,
    OSError,
)


def named(error: Exception) -> str:
    """Return the kind of the error and where it was raised, as a sentence for organisers."""
    frames = traceback.extract_tb(error.__traceback__)
    where = f" at {os.path.basename(frames[-1].filename)}:{frames[-1].lineno}" if frames else ""
    return f"{type(error).__name__}{where}; the worker's log has the details"


def without_gold(problem: Problem) -> Problem:
    """Return the problem with only code, file and line, because its message may quote a label."""
    return Problem(problem.code, problem.code.replace("-", " "), problem.file and shorten(problem.file), problem.line)


def logged(error: Exception) -> dict[str, Any]:
    """Return the log fields of an error: its kind and traceback with those of its causes.

    The message is included only for kinds that never mention gold. Problems of a file are reduced to code and line.
    """
    found: dict[str, Any] = {"error": type(error).__name__, "exception": _way(error)}
    if isinstance(error, _SAY_NO_GOLD):
        found["text"] = str(error)
    if isinstance(error, InvalidFile):
        found["problems"] = [f"{problem.code} in line {problem.line or '?'}" for problem in error.problems]
    return found


def _way(error: BaseException) -> str:
    """Return the traceback as Python formats it, causes first, but without any messages."""
    before = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
    way = "".join(traceback.format_tb(error.__traceback__))
    return f"{_way(before) if before else ''}{way}{type(error).__name__}\n"
