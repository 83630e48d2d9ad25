"""check_file(validation_id): reads a file like a submission, without scoring it."""

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
from evergold.scoring.errors import InvalidPrediction, Problem
from evergold.scoring.excerpts import with_excerpts
from evergold.scoring.task import AnyTask, Options, read_options
from evergold.scoring.tasks import get_task
from workers.claimed import Job, carry_out, worker_name
from workers.confined import confined
from workers.device import ready_for
from workers.gold import gold_of, read_items
from workers.lease import renewing_lease, retry_while_db_down
from workers.overrun import Bound, Ending, in_time
from workers.programs import named_upload
from workers.score import fetch


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
    return carry_out(
        Job(
            kind="check",
            failed="check_failed",
            done="worked",
            names={"validation_id": str(claim.validation_id)},
            attempt=claim.attempt,
            work=partial(_read, engine, claim, settings),
            record=partial(_record, engine, claim),
            put_back=partial(_put_back, engine, claim),
            overrun=partial(_record_overrun, engine, claim),
            fail=partial(_record_failure, engine, claim),
        )
    )


def _read(engine: Engine, claim: CheckClaim, settings: Settings) -> tuple[Problem, ...] | InvalidPrediction:
    """Read the file within the limits of a check; return its warnings or its problems."""
    late = partial(_record_overrun, engine, claim)
    with renewing_lease(engine, claim, settings.lease_seconds), in_time(settings.check_limit_seconds, late):
        fetch(claim)
        with confined():
            return _outcome(claim)


def warnings_of(claim: CheckClaim) -> tuple[Problem, ...]:
    """Return the warnings for a file that can be scored. Raises the errors of reading, mainly InvalidPrediction."""
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
    """Check a file for an organisers' program against the declaration only, without the program and without gold."""
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
    reason = f"{worker_name()} cannot check it: {lacking}"
    with writing(engine) as session:
        return put_check_back(session, claim, reason=reason, now=datetime.now(UTC))


def _record_overrun(engine: Engine, claim: CheckClaim, bound: Bound) -> bool:
    log.warning("check_overran", validation_id=str(claim.validation_id), bound=bound.words)
    with writing(engine) as session:
        return record_check_overrun(session, claim, bound.problem("check"), datetime.now(UTC))


def _record_failure(engine: Engine, claim: CheckClaim, error: str, attempts: int) -> bool:
    with writing(engine) as session:
        return record_check_failure(session, claim, error=error, attempts=attempts, now=datetime.now(UTC))
