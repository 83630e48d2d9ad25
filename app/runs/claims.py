"""Claiming of runs: one worker at a time, under a lease, in fair turns of teams and competitions.

A claim ends with an outcome, a failure, or by the sweep when its lease has expired.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import lru_cache
from typing import Any, TypeAlias, TypeVarTuple, cast
from uuid import UUID

from sqlalchemy import (
    BindParameter,
    ColumnElement,
    FromClause,
    Row,
    ScalarSelect,
    Select,
    SQLColumnExpression,
    Table,
    and_,
    bindparam,
    case,
    func,
    or_,
    select,
    update,
)
from sqlalchemy.orm import Session, aliased
from sqlalchemy.sql.dml import ReturningUpdate

from app.base.db import UtcDateTime
from app.gold.binding import GoldPlace, options_digest, program_digest
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
    Team,
    Validation,
    ValidationStatus,
)
from app.runs.holds import BY_HOST, is_held
from evergold.scoring.tasks import gpu_types

Claiming: TypeAlias = ReturningUpdate[*tuple[Any, ...]]

#: Statements are built once and reused for every run: building one takes longer than sending it.
RUNS, _TEAMS = cast(Table, ScoringRun.__table__), cast(Table, Team.__table__)
NOW = bindparam("now", type_=UtcDateTime())
#: The columns of a run that a claim needs; others grow large.
OF_RUN = ("id", "attempts", "is_current", "rescoring_id", "gold", "gold_version_id", "submission_id")


def claimed_run(session: Session, claiming: Claiming, values: Mapping[str, Any]) -> Row[*tuple[Any, ...]] | None:
    """Execute `claiming` and return the claimed run, with the columns of OF_RUN; None if it claimed none."""
    if session.get_bind().dialect.name == "postgresql":
        return session.execute(_at_once(claiming), values).one_or_none()
    run = session.connection().execute(claiming, values).one_or_none()
    if run is None:
        return None
    if run.is_current:
        session.connection().execute(_TAKING_TURN, {"submission": run.submission_id, "now": values["now"]})
    return session.execute(_CLAIMED, {"run": run.id}).one()


def _claim_columns(run: FromClause) -> Select[*tuple[Any, ...]]:
    """Return a query for a run with its submission and task."""
    return (
        select(*(run.c[name] for name in OF_RUN), Submission.sha256, Submission.filename, Submission.team_id)
        .add_columns(PhaseTask, CompetitionTask)
        .join_from(run, Submission, Submission.id == run.c.submission_id)
        .join(PhaseTask, PhaseTask.id == Submission.phase_task_id)
        .join(CompetitionTask, CompetitionTask.id == PhaseTask.task_id)
    )


@lru_cache(maxsize=8)
def _at_once(claiming: Claiming) -> Select[*tuple[Any, ...]]:
    claimed = claiming.cte("claimed")
    team = select(Submission.team_id).join(claimed, claimed.c.submission_id == Submission.id)
    taking = update(_TEAMS).where(_TEAMS.c.id.in_(team.where(claimed.c.is_current))).values(last_turn_at=NOW)
    return _claim_columns(claimed).add_cte(taking.cte("turn"))


_CLAIMED = _claim_columns(RUNS).where(RUNS.c.id == bindparam("run"))
_TEAM = select(Submission.team_id).where(Submission.id == bindparam("submission", type_=RUNS.c.submission_id.type))
_TAKING_TURN = update(_TEAMS).where(_TEAMS.c.id == _TEAM.scalar_subquery()).values(last_turn_at=NOW)


#: An announced but unclaimed run is announced again after this time, so that a long queue does not fill the broker with
#: duplicates. A run that one worker cannot do rests as long, so that it does not take the turns of others.
RESEND_SECONDS = 120
#: Pause before the next attempt after a failure on our side.
RETRY_SECONDS = 5

Selected = TypeVarTuple("Selected")


@dataclass(frozen=True, slots=True)
class Claim:
    """The right to score a run, with everything that scoring needs. token: proves it; a later claim invalidates it."""

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
    filename: str = ""  # as the team sent it
    has_own_gold: bool = False  # of a rescoring set, which names its gold


@dataclass(frozen=True, slots=True)
class SealedGold:
    """A gold version, with everything needed to open it.

    keys: the sealed file key, by id of the worker's key.
    filename: of the gold as uploaded.
    place: its place according to the database; opening it checks that it was sealed for that place.
    """

    sha256: str
    commitment: str
    keys: Mapping[str, bytes]
    place: GoldPlace
    filename: str = ""


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
    """Claim the run that this statement of `claiming_one` finds, and return the claim; None if it finds none."""
    values = {
        **parameters,
        "new_token": secrets.token_hex(16),
        "new_worker": worker[:200],
        "now": now,
        "new_lease": now + timedelta(seconds=lease_seconds),
    }
    claimed = claimed_run(session, claiming, values)
    return None if claimed is None else _claim(session, claimed, values["new_token"])


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
        sealed_gold=sealed_gold_of(session, claimed.gold_version_id, options),
        filename=claimed.filename,
        has_own_gold=claimed.rescoring_id is not None,
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


def sealed_gold_of(
    session: Session, gold_version_id: int | None, options: Mapping[str, Any] | None = None
) -> SealedGold | None:
    """Return the gold version with everything needed to open it; None for plain gold. options: as for `sealed_gold`."""
    return None if gold_version_id is None else sealed_gold(session, gold_version_id, options)


def sealed_gold(session: Session, gold_version_id: int, options: Mapping[str, Any] | None = None) -> SealedGold:
    """Return the gold version with everything needed to open it.

    options: with which it is opened, since they name the program that opens it; None: the current ones.
    """
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
    present = phase_task.options_of(task)
    digests = options_digest(present), program_digest(task.task_type, present if options is None else options)
    place = GoldPlace(competition.name, phase.name, task.name, task.task_type, version.number, *digests)
    return SealedGold(file.sha256, version.commitment, keys, place, version.filename)


def renew_lease(session: Session, claim: Claim, *, lease_seconds: float, now: datetime) -> bool:
    """Extend the lease of the run; return False if the claim is no longer valid."""
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
    """Store the progress of the scoring for waiting clients; return False if the claim is no longer valid."""
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
    """Return the query with runs joined to their tasks."""
    return (
        query.select_from(ScoringRun)
        .join(Submission, Submission.id == ScoringRun.submission_id)
        .join(PhaseTask, PhaseTask.id == Submission.phase_task_id)
        .join(CompetitionTask, CompetitionTask.id == PhaseTask.task_id)
    )


#: A run of this duration delays the next turn of its team …
LONG_RUN = timedelta(seconds=10)
#: … by its duration times this factor, as long as others wait, but never by more than this.
DELAY_TIMES = 10
LONGEST_DELAY = timedelta(hours=1)


def next_turn(session: Session, *, needs_gpu: bool, now: datetime, host: str = "") -> int | UUID | None:
    """Return the id of the next run, or file to validate, in this queue; None if it is empty.

    host: of the worker, which may be drained; see `app.runs.holds`.
    """
    parameters = {"now": now, "by_host": host}
    return (
        _next_upload(session, needs_gpu, parameters)
        or _next_check(session, needs_gpu, parameters)
        or _next_rescoring(session, needs_gpu, parameters)
    )


def claim_next_upload(
    session: Session, *, needs_gpu: bool, worker: str, lease_seconds: float, now: datetime, host: str = ""
) -> Claim | None:
    """Claim the next upload in one statement; return None if there is none or another worker was faster.

    host: as for `next_turn`.
    """
    claiming, parameters = _claiming(needs_gpu, tuple(gpu_types())), {"by_host": host}
    return claim_where(session, claiming, parameters, worker=worker, lease_seconds=lease_seconds, now=now)


def delay_next_turn(session: Session, team_id: int, took: timedelta, now: datetime) -> None:
    """Put a team whose run took long behind others in the queue, until its next turn."""
    if took >= LONG_RUN:
        until = now + min(took * DELAY_TIMES, LONGEST_DELAY)
        session.execute(update(Team).where(Team.id == team_id).values(last_turn_at=until))


@lru_cache(maxsize=4)
def _claiming(needs_gpu: bool, gpu_types: tuple[str, ...]) -> Claiming:
    return claiming_one(_upload_statement(needs_gpu, gpu_types).scalar_subquery())


def in_queue(phase_task_id: SQLColumnExpression[int], *, needs_gpu: bool) -> ColumnElement[bool]:
    """Return the condition for phase tasks that belong to the queue of encoding workers, or to the other queue."""
    names = gpu_types()
    of_gpu = (
        select(PhaseTask.id)
        .join(CompetitionTask, CompetitionTask.id == PhaseTask.task_id)
        .where(CompetitionTask.task_type.in_(names))
    )
    return phase_task_id.in_(of_gpu) if needs_gpu else phase_task_id.not_in(of_gpu)


def _next_upload(session: Session, needs_gpu: bool, parameters: Mapping[str, Any]) -> int | None:
    return session.scalar(_upload_statement(needs_gpu, tuple(gpu_types())), parameters)


@lru_cache(maxsize=4)
def _upload_statement(needs_gpu: bool, gpu_types: tuple[str, ...]) -> Select[int]:
    """Return the statement that selects the next run, built once because every turn starts with it."""
    return (
        select(ScoringRun.id)
        .join(Submission, Submission.id == ScoringRun.submission_id)
        .join(Team, Team.id == Submission.team_id)
        .where(
            _waits(bindparam("now", type_=UtcDateTime())),
            ScoringRun.is_current,
            in_queue(Submission.phase_task_id, needs_gpu=needs_gpu),
            ~is_held(Submission.phase_task_id, BY_HOST),
        )
        .order_by(Team.last_turn_at.asc().nulls_first(), ScoringRun.queued_at, ScoringRun.id)
        .limit(1)
    )


def _next_check(session: Session, needs_gpu: bool, parameters: Mapping[str, Any]) -> UUID | None:
    """Return the next check, of the user whose last check began longest ago; None if there is none.

    The query is fast because checks are deleted after a day.
    """
    earlier = aliased(Validation)
    last_turn = (
        select(func.max(earlier.started_at)).where(earlier.user_id == Validation.user_id).correlate(Validation)
    ).scalar_subquery()
    return session.scalar(
        select(Validation.id)
        .where(
            Validation.status == ValidationStatus.QUEUED,
            or_(Validation.not_before.is_(None), Validation.not_before <= NOW),
            in_queue(Validation.phase_task_id, needs_gpu=needs_gpu),
            ~is_held(Validation.phase_task_id, BY_HOST),
        )
        .order_by(last_turn.asc().nulls_first(), Validation.asked_at, Validation.id)
        .limit(1),
        parameters,
    )


def _next_rescoring(session: Session, needs_gpu: bool, parameters: Mapping[str, Any]) -> int | None:
    return session.scalar(
        select(ScoringRun.id)
        .join(Submission, Submission.id == ScoringRun.submission_id)
        .where(
            _waits(NOW),
            ~ScoringRun.is_current,
            in_queue(Submission.phase_task_id, needs_gpu=needs_gpu),
            ~is_held(Submission.phase_task_id, BY_HOST),
        )
        .order_by(ScoringRun.queued_at, ScoringRun.id)
        .limit(1),
        parameters,
    )


def _waits(now: datetime | BindParameter[datetime]) -> ColumnElement[bool]:
    rests = or_(ScoringRun.not_before.is_(None), ScoringRun.not_before <= now)
    return (ScoringRun.status == RunStatus.QUEUED) & rests
