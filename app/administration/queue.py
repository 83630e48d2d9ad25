"""The queue of the whole server: pending work with reasons, running work, pausing, draining, and queueing again."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, TypeVarTuple

from sqlalchemy import ColumnElement, Row, Select, and_, func, select
from sqlalchemy.orm import Session

from app.administration.access import check_administrator
from app.administration.operations_views import HoldOut, LiveWorkerOut, QueueOut, RunningOut, WaitingWorkOut
from app.base.config import Settings
from app.base.errors import InvalidForm, NotFound
from app.competitions.find import find_competition
from app.models import (
    Competition,
    CompetitionTask,
    Phase,
    PhaseTask,
    RunStatus,
    ScoringHold,
    ScoringRun,
    Submission,
    Team,
    Validation,
    ValidationStatus,
    Worker,
)
from app.operations.health import broker_answers
from app.people.act import Act
from app.runs.failures import AT_ONCE, failed_runs, queue_again
from app.runs.holds import SERVER, Target, hold, lift, list_holds
from app.runs.workers import live_workers, unserved_task_types

Columns = TypeVarTuple("Columns")


@dataclass(frozen=True, slots=True)
class _Facts:
    """The state of the server that determines why a run is waiting."""

    holds: Mapping[str, ScoringHold]
    unserved: Collection[str]
    workers: list[Worker]
    has_broker: bool

    @property
    def takers(self) -> list[Worker]:
        """The workers that are not drained."""
        drained = {one.host for one in self.holds.values()}
        return [worker for worker in self.workers if worker.host not in drained]


def queue_now(session: Session, settings: Settings, now: datetime) -> QueueOut:
    """Return pending and running work, the workers, and the holds."""
    holds = list_holds(session)
    workers = live_workers(session, now)
    unserved, has_broker = unserved_task_types(session, now), broker_answers(settings)
    facts = _Facts({one.target: one for one in holds}, unserved, workers, has_broker)
    return QueueOut(
        waiting=[*_waiting_runs(session, facts, now), *_waiting_checks(session, facts, now)],
        running=_running(session),
        workers=[_worker(one, facts) for one in workers],
        holds=[HoldOut.of(one, _place_of(session, one)) for one in holds],
        failed=len(failed_runs(session, limit=AT_ONCE)),
    )


def target_at(session: Session, place: str, host: str = "") -> Target:
    """Return the target: the whole server, `COMPETITION`, `COMPETITION/TASK`, or the workers of a machine.

    Raises NotFound, InvalidForm.
    """
    if host.strip():
        if place.strip():
            raise InvalidForm(
                "Name a place or a machine, not both.", fields={"host": "Leave this empty if you name a place."}
            )
        return Target(host=host.strip()[:200])
    name, _, task = place.strip().partition("/")
    if not name:
        return Target()
    competition = find_competition(session, name)
    if not task:
        return Target(competition)
    found = next((one for one in competition.tasks if one.name == task), None)
    if found is None:
        known = ", ".join(one.name for one in competition.tasks)
        raise NotFound(f"Competition '{name}' has no task '{task}'; it has {known}.")
    return Target(competition, found)


def hold_scoring(act: Act, target: Target, reason: str) -> HoldOut:
    """Pause scoring of the target, or drain the machine; return the hold. Raises Forbidden, InvalidForm."""
    check_administrator(act.user)
    made = hold(act.session, target, reason, actor=act.user, now=act.now)
    return HoldOut.of(made, _place_of(act.session, made))


def resume_scoring(act: Act, target: Target) -> None:
    """Resume scoring of the target. Raises Forbidden, NotFound."""
    check_administrator(act.user)
    lift(act.session, target, actor=act.user, now=act.now)


def run_again(act: Act, run_ids: Collection[int]) -> int:
    """Queue failed runs again, or all of them (up to a thousand) if none is named; return their number. Raises
    Forbidden.
    """
    check_administrator(act.user)
    wanted = run_ids or [one.run_id for one in failed_runs(act.session, limit=AT_ONCE)]
    return sum(queue_again(act, run_id) for run_id in wanted)


def _place_of(session: Session, one: ScoringHold) -> str:
    if one.task_id is not None:
        task = session.get_one(CompetitionTask, one.task_id)
        return f"{session.get_one(Competition, task.competition_id).name}/{task.name}"
    return session.get_one(Competition, one.competition_id).name if one.competition_id is not None else ""


def _worker(one: Worker, facts: _Facts) -> LiveWorkerOut:
    return LiveWorkerOut(
        name=one.name,
        host=one.host,
        queues=list(one.queues),
        processes=one.processes,
        is_drained=Target(host=one.host).key in facts.holds,
        self_check=one.self_check,
        started_at=one.started_at,
        seen_at=one.seen_at,
    )


def _placed(query: Select[*Columns], phase_task_id: ColumnElement[int]) -> Select[*Columns]:
    return (
        query.join(PhaseTask, PhaseTask.id == phase_task_id)
        .join(Phase, Phase.id == PhaseTask.phase_id)
        .join(CompetitionTask, CompetitionTask.id == PhaseTask.task_id)
        .join(Competition, Competition.id == Phase.competition_id)
    )


_PLACE = (
    Competition.name.label("competition"),
    Competition.id.label("competition_id"),
    Phase.name.label("phase"),
    CompetitionTask.name.label("task"),
    CompetitionTask.id.label("task_id"),
    CompetitionTask.task_type,
    PhaseTask.gold,
)


def _waiting_runs(session: Session, facts: _Facts, now: datetime) -> Iterator[WaitingWorkOut]:
    rests = and_(ScoringRun.not_before.is_not(None), ScoringRun.not_before > now)
    parts = (*_PLACE, ScoringRun.is_current, ScoringRun.failure, rests.label("rests"))
    counted = (func.count().label("number"), func.min(ScoringRun.queued_at).label("oldest"))
    query = select(*parts, *counted).select_from(ScoringRun).join(Submission, Submission.id == ScoringRun.submission_id)
    query = _placed(query, Submission.phase_task_id.expression).where(ScoringRun.status == RunStatus.QUEUED)
    for row in session.execute(query.group_by(*parts).order_by(func.min(ScoringRun.queued_at))):
        kind = "submission" if row.is_current else "rescoring"
        yield _waiting(row, kind, _reason(row, facts, row.failure if row.rests or row.failure else None))


def _waiting_checks(session: Session, facts: _Facts, now: datetime) -> Iterator[WaitingWorkOut]:
    counted = (func.count().label("number"), func.min(Validation.asked_at).label("oldest"))
    query = _placed(select(*_PLACE, *counted).select_from(Validation), Validation.phase_task_id.expression)
    query = query.where(Validation.status == ValidationStatus.QUEUED).group_by(*_PLACE)
    for row in session.execute(query.order_by(func.min(Validation.asked_at))):
        yield _waiting(row, "validation", _reason(row, facts, None))


def _waiting(row: Row[*tuple[Any, ...]], kind: str, reason: tuple[str, str]) -> WaitingWorkOut:
    return WaitingWorkOut(
        competition=row.competition,
        phase=row.phase,
        task=row.task,
        kind=kind,
        count=row.number,
        oldest_at=row.oldest,
        waits_for=reason[0],
        why=reason[1],
    )


def _reason(row: Row[*tuple[Any, ...]], facts: _Facts, failure: str | None) -> tuple[str, str]:
    """Return why work is waiting, as a word and a sentence: the first obstacle that alone would suffice."""
    targets = (f"task {row.task_id}", f"competition {row.competition_id}", SERVER)
    held = next((facts.holds[target] for target in targets if target in facts.holds), None)
    if held is not None:
        return "paused", f"Paused by {held.held_by}: {held.reason}"
    if row.gold is None:
        return "gold", "Its gold has not been uploaded yet."
    if not facts.workers:
        return "worker", "No worker is running."
    if not facts.takers:
        return "worker", "Every machine with workers is drained."
    if row.task_type in facts.unserved:
        return "worker", "No worker can take this task: it needs a worker with torch that has passed the self-check."
    if failure:
        return "retry", f"It failed and will be tried again: {failure}"
    if not facts.has_broker:
        return "broker", "The message broker does not answer, so workers are not notified of new work."
    return "turn", "It waits for its turn."


def _running(session: Session) -> list[RunningOut]:
    query = select(ScoringRun, Submission.id, Team.name, *_PLACE[:1], *_PLACE[2:4]).select_from(ScoringRun)
    query = query.join(Submission, Submission.id == ScoringRun.submission_id).join(Team, Team.id == Submission.team_id)
    query = _placed(query, Submission.phase_task_id.expression).where(ScoringRun.status == RunStatus.RUNNING)
    return [
        RunningOut(
            run_id=run.id,
            submission_id=str(submission_id),
            competition=competition,
            phase=phase,
            task=task,
            team=team,
            worker=run.worker or "",
            started_at=run.started_at or run.queued_at,
            attempts=run.attempts,
        )
        for run, submission_id, team, competition, phase, task in session.execute(
            query.order_by(ScoringRun.started_at, ScoringRun.id)
        )
    ]
