"""score_submission(run_id), the one scoring task: claim, read, score, record. The house's one `except Exception`."""

from __future__ import annotations

import os
import socket
import traceback
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import structlog
from sqlalchemy import Engine

from app.config import get_settings
from app.db import get_engine, writing
from app.runs import Claim, claim_run, record_failure, record_rejection, record_scores
from app.storage import stored_path
from scoring.errors import InvalidGold, InvalidItems, InvalidOptions, InvalidPrediction, Problem, UnknownTask
from scoring.task import Score, read_options
from scoring.tasks import get_task
from workers.celery_app import app
from workers.gold import read_gold, read_items
from workers.lease import kept_alive

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Scored:
    """What one scoring gave."""

    scores: list[Score]
    columns: frozenset[tuple[str, str]]
    task_version: int
    warnings: tuple[Problem, ...]
    aggregates: dict[str, Any] | None
    texts: dict[str, str]


@app.task(name="workers.score.score_submission")
def score_submission(run_id: int) -> None:
    """Score one run, if it is still waiting; telling a worker twice about a run does no harm."""
    settings = get_settings()
    engine = get_engine(settings.database_address)
    with writing(engine) as session:
        claim = claim_run(
            session, run_id, worker=worker_name(), lease_seconds=settings.lease_seconds, now=datetime.now(UTC)
        )
    if claim is None:
        return
    outcome: Scored | Exception
    try:
        with kept_alive(engine, claim, settings.lease_seconds):
            outcome = _outcome(claim)
        recorded = _record(engine, claim, outcome)
    except Exception as error:
        log.exception("scoring_failed", run_id=run_id, attempt=claim.attempt)
        outcome, recorded = error, _record_failure(engine, claim, error, settings.attempts)
    log.info("run_ended", run_id=run_id, outcome=type(outcome).__name__, recorded=recorded)


def worker_name() -> str:
    """Host and process, for organisers who look why a run takes long."""
    return f"{socket.gethostname()}:{os.getpid()}"


def score_claim(claim: Claim) -> Scored:
    """Read gold, items and prediction, and score; raises what scoring raises."""
    task = get_task(claim.task_type)
    options = read_options(task, claim.options)
    gold = read_gold(task, options, claim.gold)
    items = read_items(task, options, claim, gold)
    prediction = task.read_prediction(stored_path(get_settings().storage_dir, claim.sha256), items, options)
    return Scored(
        scores=task.score(gold, prediction, options),
        columns=frozenset((column.metric, column.split) for column in task.columns(options)),
        task_version=task.version,
        warnings=prediction.warnings,
        aggregates=task.report(gold, prediction, options) if task.report else None,
        texts={name: write(gold, prediction, options) for name, write in task.text_reports.items()},
    )


def _outcome(claim: Claim) -> Scored | InvalidPrediction:
    try:
        return score_claim(claim)
    except InvalidPrediction as error:
        return error


def _record(engine: Engine, claim: Claim, outcome: Scored | InvalidPrediction) -> bool:
    now = datetime.now(UTC)
    with writing(engine) as session:
        if isinstance(outcome, InvalidPrediction):
            return record_rejection(session, claim, problems=outcome.problems, omitted=outcome.omitted, now=now)
        return record_scores(
            session,
            claim,
            scores=outcome.scores,
            columns=outcome.columns,
            task_version=outcome.task_version,
            warnings=outcome.warnings,
            aggregates=outcome.aggregates,
            texts=outcome.texts,
            now=now,
        )


def _record_failure(engine: Engine, claim: Claim, error: Exception, attempts: int) -> bool:
    hopeless = isinstance(error, (InvalidGold, InvalidItems, InvalidOptions, UnknownTask))
    with writing(engine) as session:
        return record_failure(
            session, claim, error=_named(error), attempts=1 if hopeless else attempts, now=datetime.now(UTC)
        )


def _named(error: Exception) -> str:
    """The kind of error and where it rose. Not its text: that could quote gold, and the web process reads this."""
    frames = traceback.extract_tb(error.__traceback__)
    where = f" at {os.path.basename(frames[-1].filename)}:{frames[-1].lineno}" if frames else ""
    return f"{type(error).__name__}{where}; the worker's log has the details"
