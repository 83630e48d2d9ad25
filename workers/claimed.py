"""Claimed work, a run or a check: it is done, recorded once, every error is caught, and nothing stays in memory.

An exception references the frames that it passed, and these everything that was read. So only its kind is stored.
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
    """Return host name and process id, for organisers who investigate a slow run."""
    return f"{socket.gethostname()}:{os.getpid()}"


@dataclass(frozen=True, slots=True)
class Job(Generic[Outcome]):
    """A claim with the functions that process it. Functions that record return whether the claim was still valid.

    - kind, failed: names of its events in the log; names: log fields of the claim.
    - done: what this process had done before, for the reason of another attempt.
    - work: does all of it, within its limits.
    - record: stores its outcome. put_back: leaves it to a worker with what this one lacks. overrun: records an exceeded
      limit. fail: records an error, with the number of attempts allowed.
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
    """Do the work and record its outcome; log and record every error. Return how it ended."""
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
    """Do the work and record its outcome; return the kind of the outcome, and whether it was recorded."""
    outcome = job.work()
    return type(outcome).__name__, retry_while_db_down(partial(job.record, outcome), lease_seconds)


def _record_out_of_memory(job: Job[Outcome], is_fresh: bool) -> bool:
    """Record that memory ran out. Final only in a fresh process or a retry: others may still hold other gold."""
    if is_fresh or job.attempt > 1:
        return job.overrun(memory_bound())
    reason = f"out of memory in a process that had {job.done} before ({memory_bound().words}); a fresh one tries again"
    return job.fail(reason, job.attempt + 1)
