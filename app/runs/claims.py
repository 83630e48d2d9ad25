"""Claims and leases of runs: claimed by one conditional UPDATE, ended in one transaction by the owner of the claim.

The database is the queue. Every non-terminal state has a way out: the sweep's `requeue_lost_runs`.
Functions take the session and leave the commit to the caller.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, TypeVarTuple
from uuid import UUID

from sqlalchemy import (
    ColumnElement,
    Row,
    ScalarSelect,
    Select,
    and_,
    bindparam,
    case,
    func,
    select,
    update,
)
from sqlalchemy.orm import Session

from app.gold.binding import GoldPlace, options_digest
from app.models import (
    Competition,
    CompetitionTask,
    GoldVersion,
    Phase,
    PhaseTask,
    RescoredTask,
    RunStatus,
    ScoringRun,
    SealedFile,
    SealedKey,
    Submission,
)
from app.runs.claimed import NOW, OF_RUN, RUNS, Claiming, claimed_run

#: An announced but unclaimed run is announced again after this time, so that a long queue does not fill the broker with
#: duplicates. A run that one worker cannot do rests as long, so that it does not take the turns of others.
RESEND_SECONDS = 120
#: Pause before the next attempt after a failure on our side.
RETRY_SECONDS = 5

Selected = TypeVarTuple("Selected")


@dataclass(frozen=True, slots=True)
class Claim:
    """The right to score a run and all that scoring needs. `token` proves it; a later claim invalidates it."""

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
    team_id: int = 0
    private_part: dict[str, Any] = field(default_factory=dict)  # as declared; empty: the items are not divided


@dataclass(frozen=True, slots=True)
class SealedGold:
    """A gold version as needed to open it.

    keys: the sealed file key, by id of the worker's key.
    place: what it is the gold of according to the database; opening it checks that it was sealed for that.
    """

    sha256: str
    commitment: str
    keys: Mapping[str, bytes]
    place: GoldPlace


def claim_run(session: Session, run_id: int, *, worker: str, lease_seconds: float, now: datetime) -> Claim | None:
    """Claim a queued run; None if it was claimed by another worker, has ended, or is unknown."""
    return claim_where(session, _CLAIMING, {"wanted": run_id}, worker=worker, lease_seconds=lease_seconds, now=now)


def claim_where(
    session: Session,
    claiming: Claiming,
    parameters: Mapping[str, Any],
    *,
    worker: str,
    lease_seconds: float,
    now: datetime,
) -> Claim | None:
    """Claim the run that this statement, made by `claiming_one`, finds."""
    said = {
        **parameters,
        "new_token": secrets.token_hex(16),
        "new_worker": worker[:200],
        "now": now,
        "new_lease": now + timedelta(seconds=lease_seconds),
    }
    claimed = claimed_run(session, claiming, said)
    return None if claimed is None else _claim(session, claimed, said["new_token"])


def _claim(session: Session, claimed: Row[*tuple[Any, ...]], token: str) -> Claim:
    phase_task, task = claimed.PhaseTask, claimed.CompetitionTask
    options, items_sha256 = phase_task.options_of(task), phase_task.items_sha256
    private_part = phase_task.private_part
    if claimed.rescoring_id is not None and not claimed.is_current:
        rescored = session.get_one(RescoredTask, (claimed.rescoring_id, phase_task.id))
        options, items_sha256, private_part = rescored.options, rescored.items_sha256, rescored.private_part
    return Claim(
        run_id=claimed.id,
        token=token,
        attempt=claimed.attempts,
        submission_id=claimed.submission_id,
        sha256=claimed.sha256,
        phase_task_id=phase_task.id,
        task_type=task.task_type,
        options=options,
        gold=claimed.gold,
        items_sha256=items_sha256,
        sealed_gold=sealed_gold_of(session, claimed.gold_version_id),
        gold_is_public=phase_task.gold_is_public,
        team_id=claimed.team_id,
        private_part=private_part,
    )


def _gold_in_use() -> ScalarSelect[int]:
    """Return the latest published gold version of a run's phase and task, as a subquery for statements about runs."""
    return (
        select(GoldVersion.id)
        .join(Submission, Submission.phase_task_id == GoldVersion.phase_task_id)
        .where(Submission.id == ScoringRun.submission_id, GoldVersion.published_at.is_not(None))
        .order_by(GoldVersion.number.desc())
        .limit(1)
        .correlate(ScoringRun)
        .scalar_subquery()
    )


def claiming_one(which: ColumnElement[int]) -> Claiming:
    """Return the statement that claims the run with this id if it is queued."""
    return (
        update(RUNS)
        .where(RUNS.c.id == which, RUNS.c.status == RunStatus.QUEUED)
        .values(
            status=RunStatus.RUNNING,
            claim_token=bindparam("new_token"),
            worker=bindparam("new_worker"),
            attempts=RUNS.c.attempts + 1,
            started_at=NOW,
            lease_expires_at=bindparam("new_lease"),
            not_before=None,
            gold_version_id=case(
                (RUNS.c.rescoring_id.is_not(None), RUNS.c.gold_version_id),  # of the rescoring set
                else_=func.coalesce(RUNS.c.gold_version_id, _gold_in_use()),
            ),
        )
        .returning(*(RUNS.c[name] for name in OF_RUN))
    )


_CLAIMING = claiming_one(bindparam("wanted"))


def sealed_gold_of(session: Session, gold_version_id: int | None) -> SealedGold | None:
    """Return the gold version as needed to open it; None for plain gold."""
    return None if gold_version_id is None else sealed_gold(session, gold_version_id)


def sealed_gold(session: Session, gold_version_id: int) -> SealedGold:
    """Return the gold version as needed to open it."""
    version, file, phase_task, phase, competition, task = session.execute(
        select(GoldVersion, SealedFile, PhaseTask, Phase, Competition, CompetitionTask)
        .join(SealedFile, SealedFile.id == GoldVersion.sealed_file_id)
        .join(PhaseTask, PhaseTask.id == GoldVersion.phase_task_id)
        .join(Phase, Phase.id == PhaseTask.phase_id)
        .join(Competition, Competition.id == Phase.competition_id)
        .join(CompetitionTask, CompetitionTask.id == PhaseTask.task_id)
        .where(GoldVersion.id == gold_version_id)
    ).one()
    sealed_keys = select(SealedKey.key_id, SealedKey.sealed_key).where(SealedKey.sealed_file_id == file.id)
    keys = {key_id: key for key_id, key in session.execute(sealed_keys.order_by(SealedKey.id))}
    options = options_digest(phase_task.options_of(task))
    place = GoldPlace(competition.name, phase.name, task.name, task.task_type, version.number, options)
    return SealedGold(file.sha256, version.commitment, keys, place)


def renew_lease(session: Session, claim: Claim, *, lease_seconds: float, now: datetime) -> bool:
    """Extend the lease of the run; False if it is no longer ours."""
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
    """Store the progress of the scoring for those who wait; False if the run is no longer ours."""
    return _update_claimed(
        session,
        claim,
        checked_at=checked_at,
        items_done=items_done,
        items_total=items_total,
        seconds_left=seconds_left,
    )


_NO_PROGRESS: dict[str, Any] = {"checked_at": None, "items_done": None, "items_total": None, "seconds_left": None}
#: The values of a run that is back in the queue.
BACK_IN_QUEUE: dict[str, Any] = {
    "status": RunStatus.QUEUED,
    "claim_token": None,
    "lease_expires_at": None,
    "started_at": None,
    "not_before": None,
    **_NO_PROGRESS,
}


#: True for a run that still belongs to the claim passed by `as_parameters`.
IS_CLAIMED = and_(
    RUNS.c.id == bindparam("claimed_run"),
    RUNS.c.status == RunStatus.RUNNING,
    RUNS.c.claim_token == bindparam("claimed_by"),
)


def as_parameters(claim: Claim) -> dict[str, Any]:
    """Return the parameters of `IS_CLAIMED`."""
    return {"claimed_run": claim.run_id, "claimed_by": claim.token}


def _update_claimed(session: Session, claim: Claim, **values: Any) -> bool:
    changed = update(ScoringRun).where(IS_CLAIMED).values(**values).returning(ScoringRun.id)
    return session.scalar(changed, as_parameters(claim)) is not None


def with_task(query: Select[*Selected]) -> Select[*Selected]:
    """Join runs with their tasks."""
    return (
        query.select_from(ScoringRun)
        .join(Submission, Submission.id == ScoringRun.submission_id)
        .join(PhaseTask, PhaseTask.id == Submission.phase_task_id)
        .join(CompetitionTask, CompetitionTask.id == PhaseTask.task_id)
    )
