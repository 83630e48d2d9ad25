"""check_file(validation_id): reads a file as that of a submission is read, and scores nothing."""

from __future__ import annotations

from datetime import UTC, datetime
from functools import partial
from uuid import UUID

import structlog
from sqlalchemy import Engine
from sqlalchemy.orm import Session

from app.base.config import get_settings
from app.base.db import get_engine, writing
from app.base.storage import check_path
from app.runs.validations import (
    CheckClaim,
    claim_validation,
    put_check_back,
    record_check_failure,
    record_invalid,
    record_valid,
    type_to_check,
)
from evergold.scoring.errors import InvalidGold, InvalidItems, InvalidOptions, InvalidPrediction, Problem, UnknownTask
from evergold.scoring.excerpts import with_excerpts
from evergold.scoring.task import read_options
from evergold.scoring.tasks import TASKS, get_task
from workers.celery_app import app
from workers.confined import confined
from workers.device import can_score, ready_for
from workers.faults import logged, named
from workers.gold import gold_of, read_items
from workers.lease import kept_alive, patiently
from workers.score import LACKING, worker_name

log = structlog.get_logger(__name__)

#: What another try would not mend.
_HOPELESS = (InvalidGold, InvalidItems, InvalidOptions, UnknownTask)


@app.task(name="workers.check.check_file")
def check_file(validation_id: str) -> None:
    """Check one file, if it is still waiting; telling a worker twice does no harm."""
    settings = get_settings()
    engine = get_engine(settings.database_address)
    claim = patiently(partial(_claim, engine, UUID(validation_id), settings.lease_seconds), settings.lease_seconds)
    if claim is None:
        return
    outcome: tuple[Problem, ...] | Exception
    try:
        with kept_alive(engine, claim, settings.lease_seconds), confined():
            outcome = _outcome(claim)
        recorded = patiently(partial(_record, engine, claim, outcome), settings.lease_seconds)
    except LACKING as lacking:
        outcome, recorded = lacking, _put_back(engine, claim, lacking)
    except Exception as error:
        log.error("check_failed", validation_id=validation_id, attempt=claim.attempt, **logged(error))
        outcome, recorded = error, _record_failure(engine, claim, error)
    log.info("check_ended", validation_id=validation_id, outcome=type(outcome).__name__, recorded=recorded)


def warnings_of(claim: CheckClaim) -> tuple[Problem, ...]:
    """What was noticed in a file that can be scored; raises what reading raises, InvalidPrediction above all."""
    task = get_task(claim.task_type)
    options = read_options(task, claim.options)
    with ready_for(task, gold_is_sealed=claim.sealed_gold is not None):
        gold = gold_of(task, options, claim).content if claim.items_sha256 is None else None
        items = read_items(task, options, claim, gold)
        prediction = task.read_prediction(check_path(get_settings().storage_dir, claim.validation_id), items, options)
    warnings: tuple[Problem, ...] = prediction.warnings
    return warnings


def _claim(engine: Engine, validation_id: UUID, lease_seconds: float) -> CheckClaim | None:
    with writing(engine) as session:
        if _is_for_others(session, validation_id):
            log.warning("check_left_to_others", validation_id=str(validation_id))
            return None
        now = datetime.now(UTC)
        return claim_validation(session, validation_id, worker=worker_name(), lease_seconds=lease_seconds, now=now)


def _is_for_others(session: Session, validation_id: UUID) -> bool:
    task = TASKS.get(type_to_check(session, validation_id) or "")
    return task is not None and not can_score(task)


def _outcome(claim: CheckClaim) -> tuple[Problem, ...] | InvalidPrediction:
    try:
        return warnings_of(claim)
    except InvalidPrediction as error:
        return with_excerpts(error, check_path(get_settings().storage_dir, claim.validation_id))


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


def _record_failure(engine: Engine, claim: CheckClaim, error: Exception) -> bool:
    attempts = 1 if isinstance(error, _HOPELESS) else get_settings().attempts
    with writing(engine) as session:
        return record_check_failure(session, claim, error=named(error), attempts=attempts, now=datetime.now(UTC))
