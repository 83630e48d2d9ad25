"""The end of a run: scored, rejected, failed or requeued, in one transaction, by the owner of the claim."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import lru_cache
from typing import Any, NamedTuple, cast

from sqlalchemy import Table, bindparam, exists, insert, select, update
from sqlalchemy.orm import Session
from sqlalchemy.sql.dml import ReturningUpdate

from app.competitions.changed import boards_changed, boards_changed_where, boards_unchanged
from app.gold.recorded import record_sealed, unrecord_sealed
from app.gold.sealing import Sealed
from app.models import PhaseTask, RunStatus, ScoreRow, ScoringRun, Submission, Validation, ValidationStatus
from app.runs.claims import (
    BACK_IN_QUEUE,
    IS_CLAIMED,
    RESEND_SECONDS,
    RETRY_SECONDS,
    RUNS,
    Claim,
    _update_claimed,
    as_parameters,
    delay_next_turn,
)
from app.runs.failures import note_failure, note_program_failure
from app.runs.private_scores import private_document
from app.runs.report import _packed_report
from app.runs.result_mails import WANTS_MAIL, mail_result
from app.runs.stages import PROGRAM_FAILED
from app.runs.validations import CheckClaim, record_check_failure, record_invalid
from app.standings.renew import renew_team
from app.webhooks.events import ANY_WEBHOOK, note_run_ended
from evergold.scoring.errors import Problem
from evergold.scoring.task import Score


def put_back(session: Session, claim: Claim, *, reason: str, now: datetime, with_newer_gold: bool = False) -> bool:
    """Queue a run again for a worker that has what this one lacks; no attempt is counted.

    Returns False if the claim is invalid. with_newer_gold: score it with the gold that is in use then, unless a
    rescoring set names its gold. Workers are notified only after the usual time, since the same worker would otherwise
    claim it again. `reason` is for organisers.
    """
    again = {**BACK_IN_QUEUE, "not_before": now + timedelta(seconds=RESEND_SECONDS)}
    if with_newer_gold and not claim.has_own_gold:
        again["gold_version_id"] = None
    return _update_claimed(session, claim, **again, attempts=ScoringRun.attempts - 1, failure=reason, sent_at=now)


# ---------------------------------------------------------------------------------------------------------- outcomes


@dataclass(frozen=True, slots=True)
class RunResult:
    """The recorded result of a scoring run.

    columns: the (metric, split) pairs that boards may show, which become rows; the report has all scores.
    aggregates, texts: of the task, by name, for the report.
    outcomes: per item, sealed for the workers.
    items: packed by `app.runs.report`; stored only if gold is public when it is recorded.
    private_scores: of the private part; only columns of boards are stored.
    program_log: of the organisers' program, packed; visible to them, see `app.runs.program_logs`.
    """

    scores: Sequence[Score]
    columns: frozenset[tuple[str, str]]
    task_version: int
    warnings: Sequence[Problem] = ()
    aggregates: dict[str, Any] | None = None
    texts: Mapping[str, str] | None = None
    outcomes: Sealed | None = None
    items: bytes | None = None
    private_scores: Sequence[Score] = ()
    program_log: bytes | None = None


def record_scores(session: Session, claim: Claim, result: RunResult, *, now: datetime) -> bool:
    """Record scores, status and new board versions in one transaction; return False, without changes, if the claim is
    invalid.

    Scores of a rescoring set are on no board yet, so they do not change the boards' version. Raises KeysChanged if the
    outcomes are sealed to a key that is no longer in use.
    """
    # First, in the same order as when a set is published, so that the two cannot deadlock.
    is_public = changed = boards_changed_where(session, claim.phase_task_id, _IS_ON_BOARDS, as_parameters(claim))
    if changed is None:
        own = select(PhaseTask.gold_is_public).where(PhaseTask.id == claim.phase_task_id)
        is_public = session.scalar(own.with_for_update(key_share=True))  # must not block uploads
    outcomes_id = record_sealed(session, result.outcomes, now) if result.outcomes is not None else None
    ended = _end(
        session,
        claim,
        now,
        status=RunStatus.SCORED,
        outcomes_id=outcomes_id,
        task_version=result.task_version,
        problems=[problem.as_dict() for problem in result.warnings],
        report=_packed_report(result.scores, result.aggregates, result.texts),
        item_results=result.items if is_public else None,
        private_scores=private_document(result.private_scores, result.columns) or None,
        **({} if result.program_log is None else {"program_log": result.program_log}),
    )
    if ended is None:
        if changed is not None:  # the claim became void while waiting for the lock on the task
            boards_unchanged(session, claim.phase_task_id)
        if outcomes_id is not None:
            unrecord_sealed(session, outcomes_id)
        return False
    rows = [_row(claim.run_id, score) for score in result.scores if (score.metric, score.split) in result.columns]
    if rows:
        session.execute(insert(_SCORES), rows)
    if ended.is_current:  # nobody else changes the run after it was ended above
        if changed is None:
            boards_changed(session, [claim.phase_task_id])
        renew_team(session, claim.phase_task_id, claim.team_id)
    return True


def record_rejection(
    session: Session, claim: Claim, *, problems: Sequence[Problem], omitted: int, now: datetime
) -> bool:
    """Reject the participant's file finally, with all problems listed, without using quota; return False if the claim
    is invalid.
    """
    documents = [problem.as_dict() for problem in problems]
    ended = _end(session, claim, now, status=RunStatus.REJECTED, problems=documents, problems_omitted=omitted)
    return ended is not None


def record_program_failure(
    session: Session, claim: Claim, *, failure: str, program_log: bytes, warnings: Sequence[Problem], now: datetime
) -> bool:
    """Reject a file that the organisers' program could not score: final, without using quota, with a neutral sentence.

    There is no retry, because programs fail the same way each time. A run of a rescoring set fails, since its file was
    scored before. failure, program_log: for the organisers, who get a mail.
    """
    is_current = session.scalar(select(ScoringRun.is_current).where(ScoringRun.id == claim.run_id))
    documents = [problem.as_dict() for problem in (PROGRAM_FAILED, *warnings)]
    values: dict[str, Any] = {"failure": f"the program {failure}", "program_log": program_log}
    values |= {"status": RunStatus.REJECTED, "problems": documents} if is_current else {"status": RunStatus.FAILED}
    ended = _end(session, claim, now, **values)
    if ended is None:
        return False
    (note_program_failure if is_current else note_failure)(session, claim.run_id, now)
    return True


def record_failure(session: Session, claim: Claim, *, error: str, attempts: int, now: datetime) -> bool:
    """Record a failure of the server: requeue the run, or fail it after the last attempt. error: for organisers."""
    if claim.attempt >= attempts:
        failed = _end(session, claim, now, status=RunStatus.FAILED, failure=error)
        if failed is not None:
            note_failure(session, claim.run_id, now)
        return failed is not None
    again = {**BACK_IN_QUEUE, "not_before": now + timedelta(seconds=RETRY_SECONDS)}
    return _update_claimed(session, claim, **again, failure=error, sent_at=None)


_IS_ON_BOARDS = exists().where(IS_CLAIMED, RUNS.c.is_current)
#: Inserted through the table: through the class, rows with and without a value would need two statements.
_SCORES = cast(Table, ScoreRow.__table__)


def _row(run_id: int, score: Score) -> dict[str, Any]:
    """Return the score as a row; unlike `asdict`, which is several times slower, without a deep copy."""
    return {
        "run_id": run_id,
        "metric": score.metric,
        "split": score.split,
        "value": score.value,
        "reason": score.reason,
        "signature": score.signature,
    }


class _Ended(NamedTuple):
    """A run that was ended. wants_mail: the sender wants result mails; has_webhooks: whether there are any."""

    is_current: bool
    wants_mail: bool
    has_webhooks: bool
    started_at: datetime


def _end(session: Session, claim: Claim, now: datetime, **values: Any) -> _Ended | None:
    """End the run and return it; None, without changes, if the claim is invalid."""
    changes = {"finished_at": now, "claim_token": None, "lease_expires_at": None, **values}
    parameters = {f"new_{name}": value for name, value in changes.items()} | as_parameters(claim)
    row = session.connection().execute(_ending(tuple(changes)), parameters).one_or_none()
    if row is None:
        return None
    ended = _Ended(*row)
    if ended.is_current and ended.wants_mail:
        mail_result(session, claim.run_id, now)
    if ended.has_webhooks:
        note_run_ended(session, claim.run_id, now)
    if ended.is_current:
        delay_next_turn(session, claim.team_id, now - ended.started_at, now)
    return ended


@lru_cache(maxsize=16)
def _ending(names: tuple[str, ...]) -> ReturningUpdate[bool, bool, bool, datetime]:
    """Return the statement that ends a run, built once per set of columns because building it takes longer than
    executing it.
    """
    values = {name: bindparam(f"new_{name}", type_=RUNS.c[name].type) for name in names}
    columns = RUNS.c.is_current, WANTS_MAIL, ANY_WEBHOOK, RUNS.c.started_at
    return update(RUNS).where(IS_CLAIMED).values(values).returning(*columns)


_NOBODY_ELSE = "; no other file of this task was ever scored within this bound"


def record_overrun(session: Session, claim: Claim, problem: Problem, now: datetime) -> bool:
    """End a run finally, as rejected or failed; return False, without changes, if the claim is invalid.

    A run of a rescoring set fails, since its file was scored before.
    """
    is_current = session.scalar(select(ScoringRun.is_current).where(ScoringRun.id == claim.run_id))
    if is_current and _held_for_others(session, claim.phase_task_id, claim.sha256):
        return record_rejection(session, claim, problems=[problem], omitted=0, now=now)
    return record_failure(session, claim, error=_error_text(problem), attempts=claim.attempt, now=now)


def record_check_overrun(session: Session, claim: CheckClaim, problem: Problem, now: datetime) -> bool:
    """End a check finally, as invalid or failed; return False, without changes, if the claim is invalid."""
    if _held_for_others(session, claim.phase_task_id, claim.sha256):
        return record_invalid(session, claim, problems=[problem], omitted=0, now=now)
    return record_check_failure(session, claim, error=_error_text(problem), attempts=claim.attempt, now=now)


def _held_for_others(session: Session, phase_task_id: int, sha256: str) -> bool:
    """Return whether another file for this task in this phase was scored or found valid."""
    scored = (
        select(ScoringRun.id)
        .join(Submission, Submission.id == ScoringRun.submission_id)
        .where(
            Submission.phase_task_id == phase_task_id,
            Submission.sha256 != sha256,
            ScoringRun.status == RunStatus.SCORED,
        )
    )
    checked = exists().where(
        Validation.phase_task_id == phase_task_id,
        Validation.sha256 != sha256,
        Validation.status == ValidationStatus.VALID,
    )
    return session.scalar(scored.limit(1)) is not None or bool(session.scalar(select(checked)))


def _error_text(problem: Problem) -> str:
    return f"{problem}{_NOBODY_ELSE}"
