"""A run's end: scored, rejected, failed or given back, in one transaction, by whoever holds the claim."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import insert, select, update
from sqlalchemy.orm import Session

from app.competitions.changed import boards_changed
from app.gold.sealing import Sealed
from app.gold.versions import record_sealed
from app.models import PhaseTask, RunStatus, ScoreRow, ScoringRun, Submission
from app.runs.claims import BACK_IN_QUEUE, RESEND_SECONDS, RETRY_SECONDS, Claim, _update_claimed
from app.runs.failures import note_failure
from app.runs.report import _packed_report
from app.runs.result_mails import mail_result
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
    now: datetime,
) -> bool:
    """Scores, status and the boards' new version in one transaction; False, and no change, if the claim is void.

    columns: the (metric, split) pairs that boards may show: these become rows; the report holds all scores, with the
    aggregates and the text reports, by name, of the task; outcomes: per item, sealed for the workers; items: as
    `app.runs.item_results` packs them, kept only if gold is public at this moment. The scores of a rescoring set are
    on no
    board yet: they leave the boards' version alone.
    """
    # First, as whoever publishes a set has it, so that the two never wait for each other.
    own = select(PhaseTask.gold_is_public).where(PhaseTask.id == claim.phase_task_id)
    is_public = session.scalar(own.with_for_update(key_share=True))  # uploads need not wait
    ended = _end(
        session,
        claim,
        now,
        status=RunStatus.SCORED,
        task_version=task_version,
        problems=[problem.as_dict() for problem in warnings],
        report=_packed_report(scores, aggregates, texts),
        item_results=items if is_public else None,
    )
    if not ended:
        return False
    if outcomes is not None:
        file = record_sealed(session, outcomes, now)
        session.execute(update(ScoringRun).where(ScoringRun.id == claim.run_id).values(outcomes_id=file.id))
    rows = [{"run_id": claim.run_id, **asdict(score)} for score in scores if (score.metric, score.split) in columns]
    if rows:
        session.execute(insert(ScoreRow), rows)
    # Nobody else changes the run since it was ended above.
    team_id = session.scalar(
        select(Submission.team_id)
        .join(ScoringRun, ScoringRun.submission_id == Submission.id)
        .where(ScoringRun.id == claim.run_id, ScoringRun.is_current)
    )
    if team_id is not None:
        boards_changed(session, [claim.phase_task_id])
        renew_team(session, claim.phase_task_id, team_id)
    return True


def record_rejection(
    session: Session, claim: Claim, *, problems: Sequence[Problem], omitted: int, now: datetime
) -> bool:
    """The participant's file is wrong: final, told in full, costs no quota."""
    told = [problem.as_dict() for problem in problems]
    return _end(session, claim, now, status=RunStatus.REJECTED, problems=told, problems_omitted=omitted)


def record_failure(session: Session, claim: Claim, *, error: str, attempts: int, now: datetime) -> bool:
    """Our fault: back to the queue, or `failed` after the last attempt; `error` is for organisers only."""
    if claim.attempt >= attempts:
        failed = _end(session, claim, now, status=RunStatus.FAILED, failure=error)
        if failed:
            note_failure(session, claim.run_id, now)
        return failed
    again = {**BACK_IN_QUEUE, "not_before": now + timedelta(seconds=RETRY_SECONDS)}
    return _update_claimed(session, claim, **again, failure=error, sent_at=None)


def _end(session: Session, claim: Claim, now: datetime, **values: Any) -> bool:
    ended = _update_claimed(session, claim, finished_at=now, claim_token=None, lease_expires_at=None, **values)
    if ended:
        mail_result(session, claim.run_id, now)
    return ended
