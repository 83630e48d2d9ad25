"""Mails to senders whose submission was scored, rejected or failed, if they want such mails.

A mail names the submission and links to it; it contains no score, because the phase may hide scores.
"""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import ColumnElement, literal_column, select
from sqlalchemy.orm import Session

from app.base import links
from app.base.addresses import public_address
from app.base.config import get_settings
from app.models import (
    Competition,
    CompetitionTask,
    MailChoice,
    Phase,
    PhaseTask,
    RunStatus,
    ScoringRun,
    Submission,
    User,
)
from app.people.digests import hold_back
from app.people.mail import MailKind, send_mail, unsubscribe_address

_MAIL = """\
Hello {username},

Your submission {filename}to {task}, {phase} of {competition}, {what}

{page}

--
Stop mails about results: {unsubscribe}
"""
_SUBJECTS = {
    RunStatus.SCORED: "Your submission was scored",
    RunStatus.REJECTED: "Your submission was rejected",
    RunStatus.FAILED: "Your submission could not be scored",
}
_WHAT = {
    RunStatus.SCORED: "was scored.",
    RunStatus.REJECTED: "has errors and was not scored. It uses none of your quota. See every error, line by line:",
    RunStatus.FAILED: "could not be scored. This was not your fault and used none of your quota; the organisers "
    "have been notified.",
}


#: An expression for RETURNING clauses of updates of runs: True if the submitter wants result mails. Literal SQL,
#: because SQLAlchemy omits table names in RETURNING on SQLite. The run is selected again, because SQLite uses no index
#: in RETURNING and would otherwise scan all submissions.
WANTS_MAIL: ColumnElement[bool] = literal_column(
    "EXISTS (SELECT 1 FROM mail_choices WHERE mail_choices.results AND mail_choices.user_id = "
    "(SELECT submissions.user_id FROM submissions JOIN runs AS ended ON ended.submission_id = submissions.id "
    "WHERE ended.id = runs.id))"
)


def mail_result(session: Session, run_id: int, now: datetime) -> None:
    """Send the mail in the transaction that ends the run; none for runs of a rescoring set."""
    found = session.execute(
        select(
            MailChoice,
            User,
            Submission.id,
            Submission.filename,
            ScoringRun.status,
            CompetitionTask.title.label("task"),
            Phase.title.label("phase"),
            Competition.title.label("competition"),
            Competition.id.label("competition_id"),
        )
        .join(User, User.id == MailChoice.user_id)
        .join(Submission, Submission.user_id == User.id)
        .join(ScoringRun, ScoringRun.submission_id == Submission.id)
        .join(PhaseTask, PhaseTask.id == Submission.phase_task_id)
        .join(CompetitionTask, CompetitionTask.id == PhaseTask.task_id)
        .join(Phase, Phase.id == PhaseTask.phase_id)
        .join(Competition, Competition.id == Phase.competition_id)
        .where(ScoringRun.id == run_id, ScoringRun.is_current, MailChoice.results)
    ).first()
    if found is None or found.status not in _WHAT:
        return
    settings = get_settings()
    address = unsubscribe_address(found.MailChoice, MailKind.RESULTS, settings)
    page = public_address(settings, links.submission(found.id))
    body = _MAIL.format(
        username=found.User.username,
        filename=f"{found.filename} " if found.filename else "",
        task=found.task,
        phase=found.phase,
        competition=found.competition,
        what=_WHAT[RunStatus(found.status)],
        page=page,
        unsubscribe=address,
    )
    subject = f"[{found.competition}] {_SUBJECTS[RunStatus(found.status)]}"
    about = found.competition_id
    news = subject, " ".join(f"{found.filename} to {found.task}, {found.phase}".split()) + f"\n\n{page}"
    if hold_back(session, found.MailChoice, MailKind.RESULTS, news, competition_id=about, now=now):
        return
    send_mail(session, found.User, subject, body, now=now, competition_id=about, unsubscribe=address)
