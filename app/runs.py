"""A run's life: claimed by one conditional UPDATE, kept by a lease, ended in one transaction by whoever holds it.

The database is the queue. Every state that is not terminal has a way out: `requeue_lost_runs`, by the sweep.
Functions take the session and leave the commit to the caller.
"""

from __future__ import annotations

import json
import secrets
import zlib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from typing import Any, TypeVarTuple
from uuid import UUID

from sqlalchemy import ColumnElement, ScalarSelect, Select, and_, case, func, insert, or_, select, update
from sqlalchemy.orm import Session, joinedload

from app.failures import note_failure
from app.gold import record_sealed
from app.models import (
    CompetitionTask,
    GoldVersion,
    PhaseTask,
    RescoredTask,
    RunStatus,
    ScoreRow,
    ScoringRun,
    SealedFile,
    Submission,
)
from app.result_mails import tell_result
from app.sealing import Sealed
from scoring.errors import Problem
from scoring.task import Score

Selected = TypeVarTuple("Selected")

#: A queued run that nobody claimed within this time is announced to the workers again (the message may be lost) …
UNCLAIMED_SECONDS = 10
#: … and then once in this time, so that a long queue does not fill the broker with echoes.
RESEND_SECONDS = 120
#: One sweep announces no more than this; the next goes on.
ANNOUNCED_AT_ONCE = 1_000


@dataclass(frozen=True, slots=True)
class Claim:
    """The right to score a run, and all that scoring needs. `token` proves it: a later claim makes it void."""

    run_id: int
    token: str
    attempt: int
    submission_id: UUID
    sha256: str
    phase_task_id: int
    task_type: str
    options: dict[str, Any]
    gold: str
    items_sha256: str | None
    sealed_gold: SealedGold | None = None  # None: plain gold, by its name
    gold_is_public: bool = False


@dataclass(frozen=True, slots=True)
class SealedGold:
    """A gold version for whoever can open it. keys: the file's key, sealed, by id of the worker's key."""

    sha256: str
    commitment: str
    keys: Mapping[str, bytes]


def claim_run(session: Session, run_id: int, *, worker: str, lease_seconds: float, now: datetime) -> Claim | None:
    """The claim on a queued run, or None when there is nothing to do: claimed by another, finished, or unknown."""
    token = secrets.token_hex(16)
    attempt = session.scalar(
        update(ScoringRun)
        .where(ScoringRun.id == run_id, ScoringRun.status == RunStatus.QUEUED)
        .values(
            status=RunStatus.RUNNING,
            claim_token=token,
            worker=worker[:200],
            attempts=ScoringRun.attempts + 1,
            started_at=now,
            lease_expires_at=now + timedelta(seconds=lease_seconds),
            gold_version_id=case(
                (ScoringRun.rescoring_id.is_not(None), ScoringRun.gold_version_id),  # as its set says
                else_=func.coalesce(ScoringRun.gold_version_id, _gold_in_use()),
            ),
        )
        .returning(ScoringRun.attempts)
    )
    if attempt is None:
        return None
    run, submission, phase_task, task = session.execute(
        select(ScoringRun, Submission, PhaseTask, CompetitionTask)
        .join(Submission, Submission.id == ScoringRun.submission_id)
        .join(PhaseTask, PhaseTask.id == Submission.phase_task_id)
        .join(CompetitionTask, CompetitionTask.id == PhaseTask.task_id)
        .where(ScoringRun.id == run_id)
    ).one()
    options, items_sha256 = phase_task.options_of(task), phase_task.items_sha256
    if run.rescoring_id is not None and not run.is_current:
        rescored = session.get_one(RescoredTask, (run.rescoring_id, phase_task.id))
        options, items_sha256 = rescored.options, rescored.items_sha256
    return Claim(
        run_id=run_id,
        token=token,
        attempt=attempt,
        submission_id=submission.id,
        sha256=submission.sha256,
        phase_task_id=phase_task.id,
        task_type=task.task_type,
        options=options,
        gold=run.gold,
        items_sha256=items_sha256,
        sealed_gold=sealed_gold_of(session, run.gold_version_id),
        gold_is_public=phase_task.gold_is_public,
    )


def _gold_in_use() -> ScalarSelect[int]:
    """The newest published gold version of a run's phase and task, inside a statement about runs."""
    return (
        select(GoldVersion.id)
        .join(Submission, Submission.phase_task_id == GoldVersion.phase_task_id)
        .where(Submission.id == ScoringRun.submission_id, GoldVersion.published_at.is_not(None))
        .order_by(GoldVersion.number.desc())
        .limit(1)
        .correlate(ScoringRun)
        .scalar_subquery()
    )


def sealed_gold_of(session: Session, gold_version_id: int | None) -> SealedGold | None:
    """A gold version for whoever can open it; None for plain gold."""
    if gold_version_id is None:
        return None
    version = session.get_one(
        GoldVersion, gold_version_id, options=[joinedload(GoldVersion.sealed_file).selectinload(SealedFile.keys)]
    )
    file = version.sealed_file
    return SealedGold(file.sha256, version.commitment, {key.key_id: key.sealed_key for key in file.keys})


def task_type_of(session: Session, run_id: int) -> str | None:
    """The type of the task that a run is for; None: there is no such run."""
    return session.scalar(with_task(select(CompetitionTask.task_type)).where(ScoringRun.id == run_id))


def renew_lease(session: Session, claim: Claim, *, lease_seconds: float, now: datetime) -> bool:
    """Say that the run is alive; False when it is no longer ours."""
    return _update_claimed(session, claim, lease_expires_at=now + timedelta(seconds=lease_seconds))


def note_progress(
    session: Session,
    claim: Claim,
    *,
    checked_at: datetime | None,
    items_done: int | None,
    items_total: int | None,
    seconds_left: int | None,
) -> bool:
    """How far the scoring is, for those who wait; False when the run is no longer ours."""
    return _update_claimed(
        session,
        claim,
        checked_at=checked_at,
        items_done=items_done,
        items_total=items_total,
        seconds_left=seconds_left,
    )


def put_back(session: Session, claim: Claim, *, reason: str, now: datetime) -> bool:
    """To the queue again, for a worker that has what this one lacks; it costs no attempt. `reason` is for organisers.

    Workers are told again after the usual time, not at once: the same one would only put it back again.
    """
    return _update_claimed(
        session, claim, **BACK_IN_QUEUE, attempts=ScoringRun.attempts - 1, failure=reason, sent_at=now
    )


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
    `app.item_results` packs them, kept only if gold is public at this moment. The scores of a rescoring set are on no
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
    is_current = select(ScoringRun.is_current).where(ScoringRun.id == claim.run_id).scalar_subquery()
    session.execute(
        update(PhaseTask)
        .where(PhaseTask.id == claim.phase_task_id, is_current)
        .values(board_version=PhaseTask.board_version + 1)
        .execution_options(synchronize_session=False)
    )
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
    return _update_claimed(session, claim, **BACK_IN_QUEUE, failure=error, sent_at=None)


_NO_PROGRESS: dict[str, Any] = {"checked_at": None, "items_done": None, "items_total": None, "seconds_left": None}

#: What a run that waits again is like.
BACK_IN_QUEUE: dict[str, Any] = {
    "status": RunStatus.QUEUED,
    "claim_token": None,
    "lease_expires_at": None,
    "started_at": None,
    **_NO_PROGRESS,
}


def _end(session: Session, claim: Claim, now: datetime, **values: Any) -> bool:
    ended = _update_claimed(session, claim, finished_at=now, claim_token=None, lease_expires_at=None, **values)
    if ended:
        tell_result(session, claim.run_id, now)
    return ended


def _update_claimed(session: Session, claim: Claim, **values: Any) -> bool:
    mine = and_(
        ScoringRun.id == claim.run_id,
        ScoringRun.status == RunStatus.RUNNING,
        ScoringRun.claim_token == claim.token,
    )
    return session.scalar(update(ScoringRun).where(mine).values(**values).returning(ScoringRun.id)) is not None


# ------------------------------------------------------------------------------------------------------------- sweep


def requeue_lost_runs(
    session: Session,
    *,
    attempts: int,
    now: datetime,
    unheard: Collection[str] = (),
    forgotten: Collection[str] = (),
) -> list[tuple[int, str]]:
    """Repair what crashes left behind; (run id, task type) of the queued runs that workers should be told about now.

    A run whose lease ran out goes back to the queue, or to `failed` when it had its last attempt; a queued run that
    nobody claimed is announced again. unheard: task types for which no worker listens; their runs wait in silence.
    forgotten: task types of which the broker holds no message: what it was told is lost, and told again soon. Runs of
    rescoring sets are repaired, too, but announced by `app.rescoring.queue`.
    """
    expired = and_(ScoringRun.status == RunStatus.RUNNING, ScoringRun.lease_expires_at <= now)
    failed = session.scalars(
        update(ScoringRun)
        .where(expired, ScoringRun.attempts >= attempts)
        .values(
            status=RunStatus.FAILED,
            finished_at=now,
            claim_token=None,
            lease_expires_at=None,
            failure=f"its worker was lost {attempts} times",
        )
        .returning(ScoringRun.id)
    ).all()
    for run_id in failed:
        note_failure(session, run_id, now)
        tell_result(session, run_id, now)
    session.execute(update(ScoringRun).where(expired).values(**BACK_IN_QUEUE, sent_at=None))
    return unclaimed(session, now, unheard, forgotten, among=ScoringRun.is_current.expression, limit=ANNOUNCED_AT_ONCE)


def unclaimed(
    session: Session,
    now: datetime,
    unheard: Collection[str],
    forgotten: Collection[str],
    *,
    among: ColumnElement[bool],
    limit: int,
) -> list[tuple[int, str]]:
    """The queued ones of these runs that workers should be told about, as `requeue_lost_runs` gives them."""
    overdue = and_(
        ScoringRun.status == RunStatus.QUEUED,
        # The message of a run that was claimed before is used up: it needs another at once.
        or_(ScoringRun.attempts > 0, ScoringRun.queued_at <= now - timedelta(seconds=UNCLAIMED_SECONDS)),
        or_(
            ScoringRun.sent_at.is_(None),
            ScoringRun.sent_at <= now - timedelta(seconds=RESEND_SECONDS),
            and_(
                ScoringRun.sent_at <= now - timedelta(seconds=UNCLAIMED_SECONDS),
                CompetitionTask.task_type.in_(forgotten),
            ),
        ),
    )
    waiting = session.execute(
        with_task(select(ScoringRun.id, CompetitionTask.task_type))
        .where(overdue, among, CompetitionTask.task_type.not_in(unheard))
        .order_by(ScoringRun.queued_at, ScoringRun.id)
        .limit(limit)
    ).all()
    return [(run_id, task_type) for run_id, task_type in waiting]


def mark_sent(session: Session, run_ids: Sequence[int], now: datetime) -> None:
    """Remember that workers were told about these runs; not before they were."""
    session.execute(update(ScoringRun).where(ScoringRun.id.in_(run_ids)).values(sent_at=now))


def with_task(query: Select[*Selected]) -> Select[*Selected]:
    """Of runs, each with the task that it is for."""
    return (
        query.select_from(ScoringRun)
        .join(Submission, Submission.id == ScoringRun.submission_id)
        .join(PhaseTask, PhaseTask.id == Submission.phase_task_id)
        .join(CompetitionTask, CompetitionTask.id == PhaseTask.task_id)
    )


# ------------------------------------------------------------------------------------------------------------ report


def read_report(packed: bytes) -> dict[str, Any]:
    """{"scores": [...], "aggregates": {...}, "texts": {name: ...}} of a scored run."""
    document: dict[str, Any] = json.loads(zlib.decompress(packed))
    return document


def scores_of_report(packed: bytes) -> list[Score]:
    """All scores of a run, in the task's order; more than the rows that boards show."""
    return [Score(**score) for score in read_report(packed)["scores"]]


def _packed_report(
    scores: Sequence[Score], aggregates: dict[str, Any] | None, texts: Mapping[str, str] | None
) -> bytes:
    document = {
        "scores": [asdict(score) for score in scores],
        "aggregates": aggregates or {},
        "texts": dict(texts or {}),
    }
    return zlib.compress(json.dumps(document, ensure_ascii=False, allow_nan=False).encode())
