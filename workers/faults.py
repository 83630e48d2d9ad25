"""What is said of an error that rose while gold was open: to organisers its kind and place, to the log the way there.

Its text may quote gold, and both organisers' pages and logs are read, collected and sent around by others than workers.
`evergold gold check`, on the worker, says in full what is wrong with gold.
"""

from __future__ import annotations

import os
import traceback
from contextlib import suppress
from typing import Any

from sqlalchemy.exc import SQLAlchemyError

from app.base.errors import StorageAway, StorageDamaged, StorageFull
from app.base.logs import log
from evergold.scoring.errors import InvalidFile, InvalidOptions, Problem, UnknownTask, shorten
from workers.gold_errors import GoldNotFound, SealBroken

#: Their text is ours and about names, settings and the machine.
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


def survived(event: str, error: Exception, **names: object) -> None:
    """Log what a thread goes on after: the kind of any error, the text of the database's. Raises nothing, also where
    there is no memory to log with.
    """
    with suppress(Exception):
        text = {"text": str(error)} if isinstance(error, SQLAlchemyError) else {}
        log.warning(event, error=type(error).__name__, **text, **names)


def named(error: Exception) -> str:
    """The kind of error and where it rose."""
    frames = traceback.extract_tb(error.__traceback__)
    where = f" at {os.path.basename(frames[-1].filename)}:{frames[-1].lineno}" if frames else ""
    return f"{type(error).__name__}{where}; the worker's log has the details"


def without_gold(problem: Problem) -> Problem:
    """What is wrong in which line of gold, not what stands there: its sentence may quote a label."""
    return Problem(problem.code, problem.code.replace("-", " "), problem.file and shorten(problem.file), problem.line)


def logged(error: Exception) -> dict[str, Any]:
    """For a line of the log: the kind of the error and of its causes, each with its way through the code; the text only
    of kinds that say nothing of gold. Of a file that is wrong, what is wrong in which line, not what stands there."""
    found: dict[str, Any] = {"error": type(error).__name__, "exception": _way(error)}
    if isinstance(error, _SAY_NO_GOLD):
        found["text"] = str(error)
    if isinstance(error, InvalidFile):
        found["problems"] = [f"{problem.code} in line {problem.line or '?'}" for problem in error.problems]
    return found


def _way(error: BaseException) -> str:
    """As Python shows it, causes first, without a word of what the errors say."""
    before = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
    way = "".join(traceback.format_tb(error.__traceback__))
    return f"{_way(before) if before else ''}{way}{type(error).__name__}\n"
