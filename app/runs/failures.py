"""Permanently failed runs, which are the server's fault and never a team's: mails to organisers and a second chance.

Code that ends a run as failed calls `note_failure` in the same transaction: it writes an audit entry and, unless there
was one recently, mails the organisers.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TypeVarTuple

from sqlalchemy import ColumnElement, Row, Select, case, exists, func, or_, select, update
from sqlalchemy.orm import Session

from app.base import api_links
from app.base.errors import NotFound
from app.base.logs import log
from app.models import (
    Competition,
    CompetitionTask,
    OutgoingMail,
    Phase,
    PhaseTask,
    Rescoring,
    RescoringState,
    Right,
    RunStatus,
    ScoringRun,
    Submission,
    Team,
)
from app.people import audit
from app.people.act import Act
from app.people.mail import send_mail
from app.people.rights import organisers_of
from app.runs.views import FailedRunOut

#: The actor in audit entries of the server itself.
ACTOR = "scoring"
#: Minimum interval between mails, since runs often fail together, for the same reason.
MAIL_EVERY = timedelta(hours=6)
#: Number of runs that one request queues again; further ones need another request.
AT_ONCE = 1_000
_RESCORING_MAIL = """\
Rescoring a submission failed permanently on our side:

  task        {place}
  team        {team}
  submission  {submission}
  attempts    {attempts}
  what        {failure}
  set         {rescoring}

The team was not notified, and its score does not change. The set cannot be published until all of it is scored.
Once the cause is fixed, `evergold runs --failed --queue-again` scores such runs. The next mail comes in {hours} hours
at the earliest.
"""
_MAIL = """\
Scoring a submission failed permanently on our side:

  task        {place}
  team        {team}
  submission  {submission}
  attempts    {attempts}
  what        {failure}

The team was notified that it was not their fault; it uses none of their quota. There may be more such runs:
`evergold runs --failed` lists them. Once the cause is fixed, `evergold runs --failed --queue-again` scores them. The
next mail comes in {hours} hours at the earliest.
"""
_PROGRAM_MAIL = """\
Your own scoring program could not score a file:

  task        {place}
  team        {team}
  submission  {submission}
  what        {failure}

What it wrote is on the page of the submission, which only organisers can read. The team was only notified that the
program could not score the file; it uses none of their quota, and is not tried again. Once the program is corrected,
upload it and its gold again, and rescore with the rejected submissions. The next mail comes in {hours} hours at the
earliest.
"""

Columns = TypeVarTuple("Columns")


class FailedRun(FailedRunOut):
    """A failed run of any competition; responses about one competition omit its name."""

    competition: str

    @property
    def place(self) -> str:
        """The place of the run: `competition/phase/task`."""
        return f"{self.competition}/{self.phase}/{self.task}"


@dataclass(frozen=True, slots=True)
class RunCounts:
    """The numbers of current runs of a task in a phase, by status."""

    place: str
    states: Mapping[str, int]

    def of(self, status: str) -> int:
        return self.states.get(status, 0)


def note_failure(session: Session, run_id: int, now: datetime) -> None:
    """Record that this run has just failed permanently."""
    failed = _failed(session.execute(_of_failed_runs().where(ScoringRun.id == run_id)).one())
    details = {
        "submission": str(failed.submission_id),
        "place": failed.place,
        "team": failed.team,
        "attempts": failed.attempts,
        "failure": failed.failure,
    }
    audit.record(session, ACTOR, "run.fail", f"run {run_id}", details, now=now)
    text = _MAIL if failed.rescoring is None else _RESCORING_MAIL
    hours = MAIL_EVERY // timedelta(hours=1)
    body = text.format(**details, hours=hours, rescoring=failed.rescoring)
    _mail_organisers(session, failed.competition, body, now)
    log.error("run_failed", run_id=run_id, **details)


def note_program_failure(session: Session, run_id: int, now: datetime) -> None:
    """Record that the organisers' program has just failed on the file of this run."""
    row = session.execute(_of_runs().where(ScoringRun.id == run_id)).one()
    failed = _failed(row)
    details = {"submission": str(failed.submission_id), "place": failed.place, "team": failed.team}
    named = {**details, "failure": failed.failure}
    audit.record(session, ACTOR, "run.program_fail", f"run {run_id}", named, now=now)
    body = _PROGRAM_MAIL.format(**named, hours=MAIL_EVERY // timedelta(hours=1))
    _mail_organisers(session, failed.competition, body, now, what="Your program failed")
    log.warning("program_failed", run_id=run_id, **named)


def _mail_organisers(
    session: Session, competition: str, body: str, now: datetime, what: str = "Scoring failed"
) -> None:
    """Mail the organisers of the competition, or the administrators if it has none."""
    subject = f"{what} in '{competition}'"
    lately = select(OutgoingMail.id).where(OutgoingMail.subject == subject, OutgoingMail.created_at > now - MAIL_EVERY)
    if session.scalar(lately.limit(1)) is not None:
        return
    about = session.scalar(select(Competition.id).where(Competition.name == competition))
    for organiser in organisers_of(session, competition, Right.SUBMISSIONS):
        send_mail(session, organiser, subject, body, now=now, competition_id=about)


def failed_runs(
    session: Session,
    competition_ids: Collection[int] | None = None,
    limit: int = 200,
    *,
    phase: str | None = None,
    task: str | None = None,
    runs: Collection[int] | None = None,
) -> list[FailedRun]:
    """List failed current runs and failed runs of open rescoring sets, latest first.

    competition_ids: None for all competitions. phase, task, runs: restrict the list if given.
    """
    query = _of_failed_runs().where(_matters())
    if competition_ids is not None:
        query = query.where(Phase.competition_id.in_(competition_ids))
    for column, wanted in ((Phase.name, phase), (CompetitionTask.name, task)):
        if wanted is not None:
            query = query.where(column == wanted)
    if runs:
        query = query.where(ScoringRun.id.in_(runs))
    latest_first = query.order_by(ScoringRun.finished_at.desc(), ScoringRun.id.desc())
    return [_failed(row) for row in session.execute(latest_first.limit(limit))]


def run_counts(session: Session, competition_ids: Collection[int] | None = None) -> list[RunCounts]:
    """Return the numbers of runs of every task in a phase that has any, sorted by name."""
    query = (
        _placed(select(Competition.name, Phase.name, CompetitionTask.name, ScoringRun.status, func.count()))
        .where(ScoringRun.is_current)
        .group_by(Competition.name, Phase.name, CompetitionTask.name, ScoringRun.status)
    )
    if competition_ids is not None:
        query = query.where(Phase.competition_id.in_(competition_ids))
    counted: dict[str, dict[str, int]] = {}
    for competition, phase, task, status, number in session.execute(query):
        counted.setdefault(f"{competition}/{phase}/{task}", {})[str(status)] = number
    return [RunCounts(place, states) for place, states in sorted(counted.items())]


def check_names(competition: Competition, phase: str | None, task: str | None) -> None:
    """Raise NotFound for a phase or task that the competition lacks, instead of listing no failures."""
    phases, tasks = [one.name for one in competition.phases], [one.name for one in competition.tasks]
    for what, wanted, known in (("phase", phase, phases), ("task", task, tasks)):
        if wanted is not None and wanted not in known:
            raise NotFound(f"Competition '{competition.name}' has no {what} '{wanted}'; it has {', '.join(known)}.")


def queue_again(act: Act, run_id: int, *, competition_id: int | None = None) -> bool:
    """Queue a failed run again, with all its attempts, after its cause was fixed; return False if it is not a failed
    run.

    It counts against the team's quota again unless it is rejected. competition_id: None for any.
    """
    here = _placed(select(ScoringRun.id)).where(ScoringRun.id == run_id)
    if competition_id is not None:
        here = here.where(Phase.competition_id == competition_id)
    gold_in_use = (
        select(PhaseTask.gold)
        .join(Submission, Submission.phase_task_id == PhaseTask.id)
        .where(Submission.id == ScoringRun.submission_id)
        .correlate(ScoringRun)
        .scalar_subquery()
    )
    again = act.session.scalar(
        update(ScoringRun)
        .where(ScoringRun.id.in_(here), ScoringRun.status == RunStatus.FAILED, _matters())
        .values(
            status=RunStatus.QUEUED,
            attempts=0,
            queued_at=act.now,
            sent_at=None,
            not_before=None,
            started_at=None,
            finished_at=None,
            worker=None,
            failure=None,
            # Use the current gold, which may be what was fixed. Runs of a set keep the set's.
            gold_version_id=case((ScoringRun.is_current, None), else_=ScoringRun.gold_version_id),
            gold=case((ScoringRun.is_current, func.coalesce(gold_in_use, ScoringRun.gold)), else_=ScoringRun.gold),
        )
        .returning(ScoringRun.id)
    )
    if again is None:
        return False
    act.record("run.queue_again", f"run {run_id}")
    return True


def queue_all_again(act: Act, competition_id: int, *, phase: str | None = None, task: str | None = None) -> list[int]:
    """Queue again all failed runs of a competition, or of one phase or task of it; return their ids."""
    found = failed_runs(act.session, [competition_id], AT_ONCE, phase=phase, task=task)
    again = (run.run_id for run in found)
    return [run_id for run_id in again if queue_again(act, run_id)]


def _matters() -> ColumnElement[bool]:
    """Return the condition for runs on which a submission or an open rescoring set depends."""
    waits = exists().where(Rescoring.id == ScoringRun.rescoring_id, Rescoring.state == RescoringState.OPEN)
    return or_(ScoringRun.is_current, waits)


def _of_failed_runs() -> Select[ScoringRun, Submission, str, str, str, str]:
    return _of_runs().where(ScoringRun.status == RunStatus.FAILED)


def _of_runs() -> Select[ScoringRun, Submission, str, str, str, str]:
    return (
        _placed(select(ScoringRun, Submission, Competition.name, Phase.name, CompetitionTask.name, Team.name))
        .join(Team, Team.id == Submission.team_id)
        .execution_options(populate_existing=True)
    )


def _placed(query: Select[*Columns]) -> Select[*Columns]:
    """Return the query with runs joined to all their parents."""
    return (
        query.select_from(ScoringRun)
        .join(Submission, Submission.id == ScoringRun.submission_id)
        .join(PhaseTask, PhaseTask.id == Submission.phase_task_id)
        .join(Phase, Phase.id == PhaseTask.phase_id)
        .join(CompetitionTask, CompetitionTask.id == PhaseTask.task_id)
        .join(Competition, Competition.id == Phase.competition_id)
    )


def _failed(row: Row[ScoringRun, Submission, str, str, str, str]) -> FailedRun:
    run, submission, competition, phase, task, team = row
    return FailedRun(
        run_id=run.id,
        submission_id=submission.id,
        competition=competition,
        phase=phase,
        task=task,
        team=team,
        filename=submission.filename,
        submitted_at=submission.submitted_at,
        failed_at=run.finished_at or submission.submitted_at,
        attempts=run.attempts,
        worker=run.worker,
        failure=run.failure or "",
        submission=api_links.submission(submission.id),
        rescoring=None if run.is_current else run.rescoring_id,
    )
