"""A run's end: scored, rejected, failed or given back, in one transaction, by whoever holds the claim."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from functools import lru_cache
from typing import Any, NamedTuple, cast

from sqlalchemy import Table, bindparam, exists, insert, select, update
from sqlalchemy.orm import Session
from sqlalchemy.sql.dml import ReturningUpdate

from app.competitions.changed import boards_changed, boards_changed_where, boards_unchanged
from app.gold.recorded import record_sealed, unrecord_sealed
from app.gold.sealing import Sealed
from app.models import PhaseTask, RunStatus, ScoreRow, ScoringRun
from app.runs.claimed import RUNS
from app.runs.claims import (
    BACK_IN_QUEUE,
    IS_CLAIMED,
    RESEND_SECONDS,
    RETRY_SECONDS,
    Claim,
    _update_claimed,
    as_parameters,
)
from app.runs.failures import note_failure
from app.runs.private_scores import private_document
from app.runs.report import _packed_report
from app.runs.result_mails import WANTS_MAIL, mail_result
from app.runs.turns import delay_next_turn
from app.standings.renew import renew_team
from evergold.scoring.errors import Problem
from evergold.scoring.task import Score


def put_back(session: Session, claim: Claim, *, reason: str, now: datetime) -> bool:
    """To the queue again, for a worker that has what this one lacks; it costs no attempt. `reason` is for organisers.

    Workers are told again after the usual time, not at once: the same one would only put it back again.
    """
    again = {**BACK_IN_QUEUE, "not_before": now + timedelta(seconds=RESEND_SECONDS)}
    return _update_claimed(session, claim, **again, attempts=ScoringRun.attempts - 1, failure=reason, sent_at=now)


# ---------------------------------------------------------------------------------------------------------- outcomes


def record_scores(
    session: Session,
    claim: Claim,
    *,
    scores: Sequence[Score],
    columns: frozenset[tuple[str, str]],
    task_version: int,
    warnings: Sequence[Problem] = (),
    aggregates: dict[str, Any] | None = None,
    texts: Mapping[str, str] | None = None,
    outcomes: Sealed | None = None,
    items: bytes | None = None,
    private_scores: Sequence[Score] = (),
    now: datetime,
) -> bool:
    """Scores, status and the boards' new version in one transaction; False, and no change, if the claim is void.

    columns: the (metric, split) pairs that boards may show: these become rows; the report holds all scores, with the
    aggregates and the text reports, by name, of the task; outcomes: per item, sealed for the workers; items: as
    `app.runs.item_results` packs them, kept only if gold is public at this moment; private_scores: of the private part
    of the items, of which only what boards may show is kept. The scores of a rescoring set are on no board yet: they
    leave the boards' version alone. Raises KeysChanged where the outcomes are sealed to a key that is in use no more.
    """
    # First, as whoever publishes a set has it, so that the two never wait for each other.
    is_public = changed = boards_changed_where(session, claim.phase_task_id, _IS_ON_BOARDS, as_parameters(claim))
    if changed is None:
        own = select(PhaseTask.gold_is_public).where(PhaseTask.id == claim.phase_task_id)
        is_public = session.scalar(own.with_for_update(key_share=True))  # uploads need not wait
    outcomes_id = record_sealed(session, outcomes, now) if outcomes is not None else None
    ended = _end(
        session,
        claim,
        now,
        status=RunStatus.SCORED,
        outcomes_id=outcomes_id,
        task_version=task_version,
        problems=[problem.as_dict() for problem in warnings],
        report=_packed_report(scores, aggregates, texts),
        item_results=items if is_public else None,
        private_scores=private_document(private_scores, columns) or None,
    )
    if ended is None:
        if changed is not None:  # the claim became void while we waited for the task
            boards_unchanged(session, claim.phase_task_id)
        if outcomes_id is not None:
            unrecord_sealed(session, outcomes_id)
        return False
    rows = [_row(claim.run_id, score) for score in scores if (score.metric, score.split) in columns]
    if rows:
        session.execute(insert(_SCORES), rows)
    if ended.is_current:  # nobody else changes the run since it was ended above
        if changed is None:
            boards_changed(session, [claim.phase_task_id])
        renew_team(session, claim.phase_task_id, claim.team_id)
    return True


def record_rejection(
    session: Session, claim: Claim, *, problems: Sequence[Problem], omitted: int, now: datetime
) -> bool:
    """The participant's file is wrong: final, told in full, costs no quota."""
    told = [problem.as_dict() for problem in problems]
    ended = _end(session, claim, now, status=RunStatus.REJECTED, problems=told, problems_omitted=omitted)
    return ended is not None


def record_failure(session: Session, claim: Claim, *, error: str, attempts: int, now: datetime) -> bool:
    """Our fault: back to the queue, or `failed` after the last attempt; `error` is for organisers only."""
    if claim.attempt >= attempts:
        failed = _end(session, claim, now, status=RunStatus.FAILED, failure=error)
        if failed is not None:
            note_failure(session, claim.run_id, now)
        return failed is not None
    again = {**BACK_IN_QUEUE, "not_before": now + timedelta(seconds=RETRY_SECONDS)}
    return _update_claimed(session, claim, **again, failure=error, sent_at=None)


_IS_ON_BOARDS = exists().where(IS_CLAIMED, RUNS.c.is_current)
#: Written as a table: of a class, rows that have a value and rows that have none would be two statements.
_SCORES = cast(Table, ScoreRow.__table__)


def _row(run_id: int, score: Score) -> dict[str, Any]:
    """By name, not by `asdict`, which copies deep and takes a few times as long."""
    return {
        "run_id": run_id,
        "metric": score.metric,
        "split": score.split,
        "value": score.value,
        "reason": score.reason,
        "signature": score.signature,
    }


class _Ended(NamedTuple):
    """A run that was ended. wants_mail: whoever sent it."""

    is_current: bool
    wants_mail: bool
    started_at: datetime


def _end(session: Session, claim: Claim, now: datetime, **values: Any) -> _Ended | None:
    """None, and no change, if the claim is void."""
    said = {"finished_at": now, "claim_token": None, "lease_expires_at": None, **values}
    parameters = {f"new_{name}": value for name, value in said.items()} | as_parameters(claim)
    row = session.connection().execute(_ending(tuple(said)), parameters).one_or_none()
    if row is None:
        return None
    ended = _Ended(*row)
    if ended.is_current and ended.wants_mail:
        mail_result(session, claim.run_id, now)
    if ended.is_current:
        delay_next_turn(session, claim.team_id, now - ended.started_at, now)
    return ended


@lru_cache(maxsize=16)
def _ending(names: tuple[str, ...]) -> ReturningUpdate[bool, bool, datetime]:
    """Written once for each kind of end: what it is made of takes longer to put together than to send."""
    values = {name: bindparam(f"new_{name}", type_=RUNS.c[name].type) for name in names}
    return update(RUNS).where(IS_CLAIMED).values(values).returning(RUNS.c.is_current, WANTS_MAIL, RUNS.c.started_at)
