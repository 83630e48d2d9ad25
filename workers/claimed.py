"""Claimed work, a run or a check: done, recorded once, and every error caught; nothing of it stays in the process.

An exception keeps the frames that it passed, and these all that the work had read. So only its kind is kept.
"""

from __future__ import annotations

import os
import socket
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Generic, TypeVar

from app.base.config import get_settings
from app.base.errors import StorageAway
from app.base.logs import log
from evergold.scoring.bertscore.models import BrokenModel, ModelNotFound
from evergold.scoring.errors import InvalidGold, InvalidItems, InvalidOptions, UnknownTask
from evergold.scoring.optional import MissingPackage
from evergold.scoring.running import NoSandbox, ProgramMissing
from workers.device import NoSuchDevice
from workers.faults import logged, named
from workers.gold_errors import GoldRefused
from workers.keys import NoKeyForIt
from workers.lease import ClaimLost, retry_while_db_down
from workers.overrun import Bound, Ending, is_fresh_process, is_out_of_memory, memory_bound

#: Errors that another worker, or a later attempt, may not hit.
LACKING = (
    UnknownTask,
    MissingPackage,
    ModelNotFound,
    BrokenModel,
    NoSuchDevice,
    NoKeyForIt,
    StorageAway,
    NoSandbox,
    ProgramMissing,
    GoldRefused,
)
#: Errors that a retry cannot fix.
HOPELESS = (InvalidGold, InvalidItems, InvalidOptions)

Outcome = TypeVar("Outcome")


def host_name() -> str:
    """Return the name of this machine, as workers report it."""
    return socket.gethostname()[:200]


def worker_name() -> str:
    """Return host and process id, for organisers who investigate a slow run."""
    return f"{socket.gethostname()}:{os.getpid()}"


@dataclass(frozen=True, slots=True)
class Job(Generic[Outcome]):
    """A claim to carry out, and how. Each function that records returns whether the claim was still valid.

    - kind, failed: of its events in the log; names: of the claim there.
    - done: what this process had done before, in the reason for another attempt.
    - work: all of it, within its limits.
    - record: its outcome. put_back: for a worker that lacks nothing. overrun: a limit that it exceeded. fail: after an
      error, with the number of attempts that there are.
    """

    kind: str
    failed: str
    done: str
    names: Mapping[str, int | str]
    attempt: int
    work: Callable[[], Outcome]
    record: Callable[[Outcome], bool]
    put_back: Callable[[Exception], bool]
    overrun: Callable[[Bound], bool]
    fail: Callable[[str, int], bool]


def carry_out(job: Job[Outcome]) -> Ending:
    """Do the work and record what came of it; log and record every error."""
    settings = get_settings()
    is_fresh, ending, recorded = is_fresh_process(), Ending.DONE, False
    try:
        name, recorded = _worked(job, settings.lease_seconds)
    except ClaimLost:
        name = ClaimLost.__name__
    except LACKING as lacking:
        log.warning(f"{job.kind}_put_back", **job.names, reason=str(lacking))
        name, recorded, ending = type(lacking).__name__, job.put_back(lacking), Ending.LEFT
    except Exception as error:
        name = type(error).__name__
        if is_out_of_memory(error):
            ending = Ending.SPENT
        else:
            log.error(job.failed, **job.names, attempt=job.attempt, **logged(error))
            recorded = job.fail(named(error), 1 if isinstance(error, HOPELESS) else settings.attempts)
    if ending is Ending.SPENT:  # only now, when nothing references any more what filled the memory
        log.warning("out_of_memory", **job.names, attempt=job.attempt, fresh_process=is_fresh)
        recorded = retry_while_db_down(partial(_record_out_of_memory, job, is_fresh), settings.lease_seconds)
    log.info(f"{job.kind}_ended", **job.names, outcome=name, recorded=recorded)
    return ending


def _worked(job: Job[Outcome], lease_seconds: float) -> tuple[str, bool]:
    """Work, and record the outcome; return its kind, and whether it was recorded."""
    outcome = job.work()
    return type(outcome).__name__, retry_while_db_down(partial(job.record, outcome), lease_seconds)


def _record_out_of_memory(job: Job[Outcome], is_fresh: bool) -> bool:
    """Record that memory ran out. Final only in a fresh process or a retry: others may still hold other tasks' gold."""
    if is_fresh or job.attempt > 1:
        return job.overrun(memory_bound())
    reason = f"out of memory in a process that had {job.done} before ({memory_bound().words}); a fresh one tries again"
    return job.fail(reason, job.attempt + 1)
