"""Live workers, their capabilities, and the reason why a run waits for a missing one.

Workers register themselves regularly; silent ones count as gone after a while, and the sweep deletes them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import lru_cache

from sqlalchemy import ColumnElement, Select, and_, bindparam, delete, func, or_, select
from sqlalchemy.orm import Session

from app.base.db import UtcDateTime
from app.base.queue import GPU_QUEUE
from app.models import Phase, PhaseTask, RunStatus, ScoringRun, SelfCheck, Submission, Team, Worker
from app.runs.claims import in_queue
from app.runs.holds import hold_of, hold_of_run, paused_words
from evergold.moments import moment_words
from evergold.scoring.tasks import TASKS, gpu_types, needs_gpu

#: Interval between registrations of a worker …
BEAT_SECONDS = 10.0
#: … and the silence after which it counts as gone.
SILENT_SECONDS = 45.0


#: Beginning of a worker's message that gold cannot be opened for an organisers' program.
NOT_FOR_PROGRAM = "this gold was not sealed for this program"


@dataclass(frozen=True, slots=True)
class Waiting:
    """A run that no live worker can take. reasons: sentences for organisers, never for participants.

    lacks: what it waits for, as part of a sentence; kind: the same for programs.
    """

    since: datetime
    reasons: tuple[str, ...]
    lacks: str = "a worker with torch"
    kind: str = GPU_QUEUE

    @property
    def words(self) -> str:
        """The notice, such as `Your file has arrived and has been waiting for a worker with torch since 2026-01-10
        12:03 UTC.`
        """
        return f"Your file has arrived and has been waiting for {self.lacks} since {_minute(self.since)}."


# ---------------------------------------------------------------------------------------------------------- presence


def announce_worker(session: Session, worker: Worker, now: datetime) -> None:
    """Register this worker, or update its properties."""
    worker.seen_at = now
    session.merge(worker)


def retire_worker(session: Session, name: str) -> None:
    """Deregister a worker that is ending."""
    session.execute(delete(Worker).where(Worker.name == name))


def forget_silent_workers(session: Session, now: datetime) -> int:
    """Delete workers that have been silent for too long; return their number."""
    silent = Worker.seen_at <= heard_since(now)
    return len(session.scalars(delete(Worker).where(silent).returning(Worker.name)).all())


def live_workers(session: Session, now: datetime) -> list[Worker]:
    """List the live workers, sorted by name."""
    is_live = Worker.seen_at > heard_since(now)
    return list(session.scalars(select(Worker).where(is_live).order_by(Worker.name)))


def heard_since(now: datetime) -> datetime:
    """Return the time since which a live worker must have registered."""
    return now - timedelta(seconds=SILENT_SECONDS)


# ----------------------------------------------------------------------------------------------------------- waiting


def unserved_task_types(session: Session, now: datetime) -> frozenset[str]:
    """Return the task types for whose queue there is no live worker."""
    if _listening(live_workers(session, now)):
        return frozenset()
    return frozenset(gpu_types())


def queue_position(session: Session, run: ScoringRun, task_type: str) -> int | None:
    """Return the position of a run in its queue, 1 for the next; None if it is not queued.

    Teams take turns, see `app.runs.claims`: before the third file of a team, at most three of any other team are
    scored.
    """
    if run.status != RunStatus.QUEUED:
        return None
    statement = _line_statement(needs_gpu(task_type), tuple(gpu_types()))
    teams = session.connection().execute(statement, {"queued_at": run.queued_at, "run": run.id}).all()
    place = next((number for number, (_, _, is_own) in enumerate(teams) if is_own), 0)
    own_before = next((earlier for _, earlier, is_own in teams if is_own), 0)
    others = [waiting for waiting, _, is_own in teams if not is_own]
    rounds = [own_before + (number < place) for number in range(len(others))]
    return 1 + own_before + sum(map(min, others, rounds))


@lru_cache(maxsize=4)
def _line_statement(needs_gpu: bool, gpu_types: tuple[str, ...]) -> Select[int, int, int]:
    """Return the statement that counts the queue before a run, built once because every upload needs it."""
    queued_at, run_id = bindparam("queued_at", type_=UtcDateTime()), bindparam("run", type_=ScoringRun.id.type)
    before: ColumnElement[bool] = or_(
        ScoringRun.queued_at < queued_at, and_(ScoringRun.queued_at == queued_at, ScoringRun.id < run_id)
    )
    return (
        select(func.count(), func.count().filter(before), func.count().filter(ScoringRun.id == run_id))
        .select_from(ScoringRun)
        .join(Submission, Submission.id == ScoringRun.submission_id)
        .join(Team, Team.id == Submission.team_id)
        .where(
            ScoringRun.status == RunStatus.QUEUED,
            ScoringRun.is_current,
            in_queue(Submission.phase_task_id, needs_gpu=needs_gpu),
        )
        .group_by(Team.id, Team.last_turn_at)
        .order_by(Team.last_turn_at.asc().nulls_first(), func.min(ScoringRun.queued_at), func.min(ScoringRun.id))
    )


def waiting_for_worker(session: Session, run: ScoringRun, task_type: str, now: datetime) -> Waiting | None:
    """Return why this run waits for a missing worker; None if it only waits for its turn."""
    if run.status != RunStatus.QUEUED:
        return None
    paused = hold_of_run(session, run)
    if paused is not None:
        return Waiting(paused.held_at, (f"Paused: {paused.reason}",), "scoring to be resumed", "paused")
    if runs_program(task_type):
        return _waiting_for_sandbox(run)
    if not needs_gpu(task_type):
        return None
    workers = live_workers(session, now)
    if not _listening(workers):
        return Waiting(run.queued_at, tuple(_reasons(workers)))
    if run.failure and not run.attempts:  # it was requeued, see `app.runs.outcomes.put_back`
        return Waiting(run.queued_at, (run.failure,))
    return None


#: The reason why boards of such a task type have no intervals, on pages and in JSON.
NO_INTERVALS = "No intervals: this score comes from the organisers' own program."


def runs_program(task_type: str) -> bool:
    """Return whether scores of this task type come from an organisers' program."""
    task = TASKS.get(task_type)
    return task is not None and task.run is not None


def _waiting_for_sandbox(run: ScoringRun) -> Waiting | None:
    if not run.failure or run.attempts:  # it was not requeued
        return None
    if NOT_FOR_PROGRAM in run.failure:
        return Waiting(run.queued_at, (run.failure,), "gold sealed for this program", "gold")
    return Waiting(run.queued_at, (run.failure,), "a worker with a sandbox", "sandbox")


def waiting_notice(session: Session, phase_task: PhaseTask, task_type: str, now: datetime) -> str:
    """Return a public notice that submissions to a task in a phase wait for a worker; "" if none does."""
    paused = hold_of(session, phase_task, session.get_one(Phase, phase_task.phase_id).competition_id)
    if paused is not None:
        return paused_words(paused)
    if not needs_gpu(task_type) or _listening(live_workers(session, now)):
        return ""
    since = session.scalar(waiting_since().where(Submission.phase_task_id == phase_task.id))
    return f"Scoring for this task is delayed since {_minute(since)}; nothing is lost." if since else ""


def waiting_since() -> Select[datetime]:
    """Return a query for the time since which the longest-waiting run has been queued; the caller adds conditions on
    submissions.
    """
    return (
        select(ScoringRun.queued_at)
        .join(Submission, Submission.id == ScoringRun.submission_id)
        .where(ScoringRun.status == RunStatus.QUEUED, ScoringRun.is_current)
        .order_by(ScoringRun.queued_at)
        .limit(1)
    )


def _minute(moment: datetime) -> str:
    return moment_words(moment.replace(second=0))


def _listening(workers: Sequence[Worker]) -> list[Worker]:
    return [worker for worker in workers if GPU_QUEUE in worker.queues]


def _reasons(workers: Sequence[Worker]) -> list[str]:
    """Return sentences on why none of these workers takes runs that need torch."""
    if not workers:
        return ["No worker is running."]
    able = [worker for worker in workers if worker.self_check]
    if not able:
        return ["No worker that listens to the queue 'gpu' is running: `evergold worker --queues gpu` starts one."]
    return [sentence for worker in able for sentence in _standing(worker)]


def _standing(worker: Worker) -> list[str]:
    if worker.self_check == SelfCheck.REFUSED:
        return [f"Worker {worker.name} refused its self-check: {words}" for words in worker.self_check_words]
    return [f"Worker {worker.name} is checking itself."]
