"""Holds by which administrators pause scoring: of the server, a competition or a task, or of a machine's workers.

A hold is a row that each claim checks, so that it survives restarts and loses nothing: a held run stays queued, its
messages may be lost, and the sweep announces it again once the hold is lifted.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from functools import cache

from sqlalchemy import BindParameter, ColumnElement, Select, SQLColumnExpression, String, bindparam, or_, select, update
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from app.base.errors import NotFound
from app.base.text import many_lines, refuse, wrong_text
from app.models import (
    Competition,
    CompetitionTask,
    Phase,
    PhaseTask,
    RunStatus,
    ScoringHold,
    ScoringRun,
    Submission,
    User,
    Validation,
    ValidationStatus,
)
from app.models.administration import TARGET_CHARACTERS
from app.people.audit import actor_name, record
from evergold.moments import moment_words

REASON_CHARACTERS = 300
SERVER = "server"


@dataclass(frozen=True, slots=True)
class Target:
    """The scoring that is held: of the whole server, a competition, one of its tasks, or a machine's workers."""

    competition: Competition | None = None
    task: CompetitionTask | None = None
    host: str | None = None

    @property
    def key(self) -> str:
        """The primary key of its hold."""
        if self.host is not None:
            return f"workers {self.host}"[:TARGET_CHARACTERS]
        if self.task is not None:
            return f"task {self.task.id}"
        return f"competition {self.competition.id}" if self.competition is not None else SERVER

    @property
    def words(self) -> str:
        """The target in words."""
        if self.host is not None:
            return f"workers of {self.host}"
        if self.competition is None:
            return SERVER
        return f"competition {self.competition.name}" + (f", task {self.task.name}" if self.task else "")


def is_held(phase_task_id: SQLColumnExpression[int], host: BindParameter[str] | None = None) -> ColumnElement[bool]:
    """Return the condition for phase tasks whose scoring is held, for all workers or for those of this machine."""
    of_all = [ScoringHold.target == SERVER, *([ScoringHold.host == host] if host is not None else [])]
    of_task = (
        select(PhaseTask.id)
        .join(Phase, Phase.id == PhaseTask.phase_id)
        .join(
            ScoringHold,
            or_(ScoringHold.competition_id == Phase.competition_id, ScoringHold.task_id == PhaseTask.task_id),
        )
    )
    return or_(
        select(ScoringHold.target).where(or_(*of_all)).correlate(None).exists(),
        phase_task_id.in_(of_task.correlate(None)),
    )


#: The machine of the worker that claims; "" if none can be drained.
BY_HOST = bindparam("by_host", "", type_=String())


def is_drained(session: Session, host: str) -> bool:
    """Return whether the workers of this machine take no more work."""
    return session.get(ScoringHold, Target(host=host).key) is not None


def hold_of(session: Session, phase_task: PhaseTask, competition_id: int) -> ScoringHold | None:
    """Return the most specific hold that keeps runs of this task waiting; None if there is none."""
    targets = (f"task {phase_task.task_id}", f"competition {competition_id}", SERVER)
    found = {one.target: one for one in session.scalars(select(ScoringHold).where(ScoringHold.target.in_(targets)))}
    return next((found[target] for target in targets if target in found), None)


def hold_of_run(session: Session, run: ScoringRun) -> ScoringHold | None:
    """Return the most specific hold that keeps this run waiting, in one query; None if there is none."""
    return session.scalar(_hold_statement(), {"submission": run.submission_id})


@cache
def _hold_statement() -> Select[ScoringHold]:
    """Return the statement that selects a hold, built once because every upload needs it."""
    place = (
        select(PhaseTask.task_id, Phase.competition_id)
        .join(Phase, Phase.id == PhaseTask.phase_id)
        .join(Submission, Submission.phase_task_id == PhaseTask.id)
        .where(Submission.id == bindparam("submission", type_=Submission.id.type))
        .subquery()
    )
    here = or_(
        ScoringHold.target == SERVER,
        ScoringHold.competition_id == place.c.competition_id,
        ScoringHold.task_id == place.c.task_id,
    )
    narrowest = (ScoringHold.task_id.is_(None), ScoringHold.competition_id.is_(None))
    return select(ScoringHold).join(place, here).order_by(*narrowest).limit(1)


def paused_words(hold: ScoringHold) -> str:
    """Return the notice for people who wait."""
    return f"Scoring is paused since {moment_words(hold.held_at)}; nothing is lost."


def list_holds(session: Session) -> list[ScoringHold]:
    """List all holds, latest first."""
    return list(session.scalars(select(ScoringHold).order_by(ScoringHold.held_at.desc(), ScoringHold.target)))


def hold(session: Session, target: Target, reason: str, *, actor: User | None, now: datetime) -> ScoringHold:
    """Hold scoring and return the hold, or the earlier one: no run is claimed any more; running ones finish.

    actor: None for the command line. Raises InvalidForm.
    """
    reason = many_lines(reason)
    refuse({"reason": wrong_text(reason, REASON_CHARACTERS)})
    made = ScoringHold(
        target=target.key,
        competition_id=target.competition.id if target.competition is not None and target.task is None else None,
        task_id=target.task.id if target.task is not None else None,
        host=target.host,
        reason=reason,
        held_at=now,
        held_by=actor_name(actor),
    )
    try:
        with session.begin_nested():
            session.add(made)
    except IntegrityError:
        return session.get_one(ScoringHold, target.key)
    _announce_queued(session)
    deed = "worker.drain" if target.host is not None else "scoring.pause"
    record(session, actor, deed, target.words, {"reason": reason}, now=now)
    return made


def lift(session: Session, target: Target, *, actor: User | None, now: datetime) -> None:
    """Lift a hold; the next sweep announces the waiting runs. Raises NotFound."""
    found = session.get(ScoringHold, target.key, with_for_update=True)
    if found is None:
        raise NotFound(f"Nothing is paused for {target.words}.")
    session.delete(found)
    session.flush()
    _announce_queued(session)
    deed = "worker.resume" if target.host is not None else "scoring.resume"
    record(session, actor, deed, target.words, now=now)


def _announce_queued(session: Session) -> None:
    """Let the sweep announce everything that waits, because messages may have reached a drained worker."""
    session.execute(update(ScoringRun).where(ScoringRun.status == RunStatus.QUEUED).values(sent_at=None))
    session.execute(update(Validation).where(Validation.status == ValidationStatus.QUEUED).values(sent_at=None))
