"""check_file(validation_id): reads a file as a submission would be read, without scoring it."""

from __future__ import annotations

from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from uuid import UUID

from sqlalchemy import Engine

from app.base.config import Settings, get_settings
from app.base.db import get_engine, writing
from app.base.logs import bound, log
from app.base.storage import check_name, storage_of
from app.runs.outcomes import record_check_overrun
from app.runs.validations import (
    CheckClaim,
    claim_validation,
    put_check_back,
    record_check_failure,
    record_invalid,
    record_valid,
)
from evergold.scoring.errors import InvalidGold, InvalidItems, InvalidOptions, InvalidPrediction, Problem, UnknownTask
from evergold.scoring.excerpts import with_excerpts
from evergold.scoring.task import AnyTask, Options, read_options
from evergold.scoring.tasks import get_task
from workers.confined import confined
from workers.device import ready_for
from workers.faults import logged, named
from workers.gold import gold_of, read_items
from workers.lease import renewing_lease, retry_while_db_down
from workers.overrun import Bound, Ending, in_time, is_fresh_process, is_out_of_memory, memory_bound
from workers.programs import named_upload
from workers.score import LACKING, fetch, worker_name

#: Errors that a retry cannot fix.
_HOPELESS = (InvalidGold, InvalidItems, InvalidOptions, UnknownTask)


def check_file(validation_id: str) -> Ending:
    """Check one file if it is still pending. Safe to repeat."""
    settings = get_settings()
    engine = get_engine(settings.database_address)
    claim = retry_while_db_down(
        partial(_claim, engine, UUID(validation_id), settings.lease_seconds), settings.lease_seconds
    )
    if claim is None:
        return Ending.LEFT
    with bound(validation_id=validation_id):
        return _check(engine, claim, settings)


def _check(engine: Engine, claim: CheckClaim, settings: Settings) -> Ending:
    is_fresh, ending, recorded = is_fresh_process(), Ending.DONE, False
    names = {"validation_id": str(claim.validation_id), "attempt": claim.attempt}
    late = partial(_record_overrun, engine, claim)
    try:
        with (
            renewing_lease(engine, claim, settings.lease_seconds),
            in_time(settings.check_limit_seconds, late),
        ):
            fetch(claim)
            with confined():
                outcome = _outcome(claim)
        name, recorded = (
            type(outcome).__name__,
            retry_while_db_down(partial(_record, engine, claim, outcome), settings.lease_seconds),
        )
    except LACKING as lacking:
        name, recorded, ending = type(lacking).__name__, _put_back(engine, claim, lacking), Ending.LEFT
    except Exception as error:
        name = type(error).__name__
        if is_out_of_memory(error):
            ending = Ending.SPENT
        else:
            log.error("check_failed", **names, **logged(error))
            recorded = _record_failure(engine, claim, error)
    if ending is Ending.SPENT:  # only now, when nothing references any more what filled the memory
        log.warning("out_of_memory", **names, fresh_process=is_fresh)
        recorded = retry_while_db_down(partial(_record_out_of_memory, engine, claim, is_fresh), settings.lease_seconds)
    log.info("check_ended", validation_id=str(claim.validation_id), outcome=name, recorded=recorded)
    return ending


def warnings_of(claim: CheckClaim) -> tuple[Problem, ...]:
    """Return the warnings for a file that can be scored. Raises what reading raises, mainly InvalidPrediction."""
    task = get_task(claim.task_type)
    options = read_options(task, claim.options)
    if task.run is not None:
        return _for_program(task, options, claim)
    with ready_for(task, gold_is_sealed=claim.sealed_gold is not None):
        gold = gold_of(task, options, claim).content if claim.items_sha256 is None else None
        items = read_items(task, options, claim, gold)
        prediction = task.read_prediction(_file(claim), items, options)
    warnings: tuple[Problem, ...] = prediction.warnings
    return warnings


def _for_program(task: AnyTask, options: Options, claim: CheckClaim) -> tuple[Problem, ...]:
    """Check a file for an organisers' own program: by what is declared, without the program, and without gold."""
    with named_upload(_file(claim), claim.filename) as path:
        prediction = task.read_prediction(path, task.read_items(path, options), options)
    warnings: tuple[Problem, ...] = prediction.warnings
    return warnings


def _file(claim: CheckClaim) -> Path:
    return storage_of(get_settings()).path(check_name(claim.validation_id), claim.sha256)


def _claim(engine: Engine, validation_id: UUID, lease_seconds: float) -> CheckClaim | None:
    with writing(engine) as session:
        now = datetime.now(UTC)
        return claim_validation(session, validation_id, worker=worker_name(), lease_seconds=lease_seconds, now=now)


def _outcome(claim: CheckClaim) -> tuple[Problem, ...] | InvalidPrediction:
    try:
        return warnings_of(claim)
    except InvalidPrediction as error:
        explained = with_excerpts(error, _file(claim))
    return InvalidPrediction(explained.problems, explained.omitted)


def _record(engine: Engine, claim: CheckClaim, outcome: tuple[Problem, ...] | InvalidPrediction) -> bool:
    now = datetime.now(UTC)
    with writing(engine) as session:
        if isinstance(outcome, InvalidPrediction):
            return record_invalid(session, claim, problems=outcome.problems, omitted=outcome.omitted, now=now)
        return record_valid(session, claim, warnings=outcome, now=now)


def _put_back(engine: Engine, claim: CheckClaim, lacking: Exception) -> bool:
    log.warning("check_put_back", validation_id=str(claim.validation_id), reason=str(lacking))
    reason = f"{worker_name()} cannot check it: {lacking}"
    with writing(engine) as session:
        return put_check_back(session, claim, reason=reason, now=datetime.now(UTC))


def _record_overrun(engine: Engine, claim: CheckClaim, bound: Bound) -> bool:
    log.warning("check_overran", validation_id=str(claim.validation_id), bound=bound.words)
    with writing(engine) as session:
        return record_check_overrun(session, claim, bound.problem("check"), datetime.now(UTC))


def _record_out_of_memory(engine: Engine, claim: CheckClaim, is_fresh: bool) -> bool:
    """Record that memory ran out. As for runs, only a fresh process or a second attempt is final."""
    if is_fresh or claim.attempt > 1:
        return _record_overrun(engine, claim, memory_bound())
    reason = f"out of memory in a process that had worked before ({memory_bound().words}); a fresh one tries again"
    with writing(engine) as session:
        return record_check_failure(session, claim, error=reason, attempts=claim.attempt + 1, now=datetime.now(UTC))


def _record_failure(engine: Engine, claim: CheckClaim, error: Exception) -> bool:
    attempts = 1 if isinstance(error, _HOPELESS) else get_settings().attempts
    with writing(engine) as session:
        return record_check_failure(session, claim, error=named(error), attempts=attempts, now=datetime.now(UTC))
