"""The status of a competition: draft, private or published; paused or archived; scheduled for deletion.

The status is not part of the declaration: restoring an earlier revision neither publishes nor hides anything. Deletion
is delayed by some days, and possible only if no team has submitted.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import cast

from sqlalchemy import Table, select
from sqlalchemy.orm import Session

from app.base.dependents import delete_with_dependents
from app.base.errors import EvergoldError
from app.base.logs import continuing
from app.base.text import one_line, refuse
from app.competitions.confirmation import check_confirmed
from app.competitions.readiness import missing_points
from app.models import Competition, Halt, Phase, PhaseTask, Stage, Submission, Team, TeamKind, User
from app.people.audit import record
from evergold.scoring.characters import can_be_name

REASON_CHARACTERS = 300
#: How long a deletion can still be cancelled.
WAITING = timedelta(days=7)


class ImpossibleStage(EvergoldError):
    """The requested status is incompatible with the current status or content of the competition."""

    status = 409
    code = "impossible_stage"


class NotReady(ImpossibleStage):
    """A draft lacks something that teams need (details: missing, a list of {name, title, words, step})."""

    code = "not_ready"


@dataclass(frozen=True, slots=True)
class Life:
    """Visibility and halt of a competition. reason: a public line, which a pause needs."""

    stage: Stage
    halt: Halt = Halt.NONE
    reason: str = ""


def life_of(competition: Competition) -> Life:
    """Return the current status."""
    return Life(Stage(competition.stage), Halt(competition.halt), competition.halt_reason)


def change_life(
    session: Session, competition: Competition, wanted: Life, *, actor: User | str | None, now: datetime
) -> bool:
    """Change the status; return False if nothing changes. Raises InvalidForm, ImpossibleStage, NotReady, NotConfirmed.

    actor: as for `app.people.audit.record`; only the operator of the server can publish a draft that lacks something.
    """
    reason = one_line(wanted.reason) if wanted.halt is not Halt.NONE else ""
    refuse({"reason": _reason_fault(wanted.halt, reason)})
    session.refresh(competition, with_for_update=True)
    before, after = life_of(competition), Life(wanted.stage, wanted.halt, reason)
    if before == after:
        return False
    if competition.delete_at is not None:
        raise ImpossibleStage("This competition is scheduled for deletion. Cancel the deletion first.")
    if before.stage is not after.stage:
        _check_stage(session, competition, after.stage)
    if before.stage is Stage.DRAFT and after.stage is Stage.PUBLISHED and isinstance(actor, User):
        _check_ready(session, competition, now)
    _put(competition, after)
    details = {"before": _words(before), "after": _words(after)}
    record(session, actor, "competition.life", f"competition {competition.name}", details, now=now)
    return True


def submitting_teams(session: Session, competition: Competition) -> bool:
    """Return True if a team has ever submitted anything; baselines belong to the organisers and do not count."""
    query = (
        select(Submission.id)
        .join(Team, Team.id == Submission.team_id)
        .where(Team.competition_id == competition.id, Team.kind == TeamKind.TEAM)
    )
    return session.scalar(query.limit(1)) is not None


def plan_deletion(session: Session, competition: Competition, *, actor: User | str | None, now: datetime) -> datetime:
    """Schedule the deletion and return its time; until then only organisers see the competition.

    Raises ImpossibleStage if a team has submitted.
    """
    session.refresh(competition, with_for_update=True)
    if submitting_teams(session, competition):
        raise ImpossibleStage("Teams have submitted, and their results must stay. Archive the competition instead.")
    if competition.delete_at is None:
        competition.delete_at = now + WAITING
        _put(competition, Life(Stage.DRAFT, Halt.ARCHIVED, "This competition is scheduled for deletion."))
        details = {"at": competition.delete_at.isoformat()}
        record(session, actor, "competition.delete", f"competition {competition.name}", details, now=now)
    return competition.delete_at


def keep_competition(session: Session, competition: Competition, *, actor: User | str | None, now: datetime) -> bool:
    """Cancel the deletion and make the competition a draft; return False if no deletion was scheduled."""
    session.refresh(competition, with_for_update=True)
    if competition.delete_at is None:
        return False
    competition.delete_at = None
    _put(competition, Life(Stage.DRAFT))
    record(session, actor, "competition.keep", f"competition {competition.name}", now=now)
    return True


def _put(competition: Competition, life: Life) -> None:
    competition.stage, competition.halt, competition.halt_reason = life.stage, life.halt, life.reason
    competition.life_version += 1


def _check_stage(session: Session, competition: Competition, stage: Stage) -> None:
    if stage is Stage.DRAFT and submitting_teams(session, competition):
        raise ImpossibleStage(
            "Teams have submitted and must still see their results: make the competition private instead of a draft."
        )
    asks = select(PhaseTask.id).join(Phase, Phase.id == PhaseTask.phase_id)
    if stage is not Stage.DRAFT and session.scalar(asks.where(Phase.competition_id == competition.id)) is None:
        raise ImpossibleStage("Nobody can take part yet: the competition has no phase with a task.")
    if stage is not Stage.DRAFT:
        check_confirmed(session, competition)


def _check_ready(session: Session, competition: Competition, now: datetime) -> None:
    if missing := missing_points(session, competition, now):
        named = ", ".join(point.title.lower() for point in missing)
        details = [
            {"name": point.name, "title": point.title, "words": point.words, "step": point.step} for point in missing
        ]
        raise NotReady(f"The competition cannot be published yet. Missing: {named}.", missing=details)


def _reason_fault(halt: Halt, reason: str) -> str:
    if halt is Halt.PAUSED and not reason:
        return "Give a reason: it is shown to everybody who wants to upload."
    if len(reason) > REASON_CHARACTERS or reason and not can_be_name(reason):
        return f"One line of at most {REASON_CHARACTERS} characters."
    return ""


def _words(life: Life) -> str:
    return ", ".join(_parts(life))


def _parts(life: Life) -> Iterator[str]:
    yield life.stage
    if life.halt is not Halt.NONE:
        yield f"{life.halt} ({life.reason})" if life.reason else life.halt


#: Actor name in the audit log.
SWEEP = "the sweep"


def delete_due(session: Session, now: datetime) -> list[str]:
    """Delete the competitions that are due and return their names.

    Competitions that have received submissions in the meantime are archived instead.
    """
    due = select(Competition).where(Competition.delete_at <= now).order_by(Competition.id).with_for_update()
    deleted = []
    for competition in session.scalars(due).all():
        name = competition.name
        with continuing("competition_not_deleted", competition=name), session.begin_nested():
            if _delete_or_keep(session, competition, now):
                deleted.append(name)
    return deleted


def _delete_or_keep(session: Session, competition: Competition, now: datetime) -> bool:
    subject = f"competition {competition.name}"
    if submitting_teams(session, competition):
        competition.delete_at, competition.halt = None, Halt.ARCHIVED
        record(session, SWEEP, "competition.keep", subject, {"reason": "teams have submitted"}, now=now)
        return False
    session.expunge(competition)
    delete_rows(session, competition.id)
    record(session, SWEEP, "competition.deleted", subject, now=now)
    return True


def delete_rows(session: Session, competition_id: int) -> None:
    """Delete every row that refers to the competition, directly or through others, and the competition itself."""
    table = cast(Table, Competition.__table__)
    delete_with_dependents(session, table, table.c.id == competition_id)
