"""Logs of organisers' programs, by submission: for organisers, and for teams if they may see them."""

from __future__ import annotations

from uuid import UUID

from sqlalchemy.orm import Session

from app.competitions.visibility import View, Viewer, view_of
from app.feedback.reports import NoReport
from app.models import Right, Submission, User
from app.people.rights import may_organise
from app.runs.program_logs import program_log_of
from app.runs.views import ProgramLogOut
from app.runs.workers import runs_program
from app.submissions.find import current_run, get_submission


class NoProgramLog(NoReport):
    """The submission exists, but has no program log that this viewer may read."""

    code = "no_program_log"


def find_program_log(session: Session, submission_id: UUID, viewer: Viewer) -> ProgramLogOut:
    """Return the log of the organisers' program. Raises NotFound if the viewer may not see the submission, NoProgramLog
    if there is none.
    """
    submission = get_submission(session, submission_id, viewer.user)
    view = view_of(session, submission.phase_task, viewer)
    found = log_for(session, submission, viewer.user, view)
    if found is None:
        raise NoProgramLog("There is no log of the organisers' program here that you may read.")
    return found


def log_for(session: Session, submission: Submission, user: User | None, view: View) -> ProgramLogOut | None:
    """Return the part of the log that this viewer may read; None if nothing, as for teams whose scores are hidden."""
    if not runs_program(submission.phase_task.task.task_type):
        return None
    organises = view.is_organiser and may_organise(
        session, user, submission.phase_task.phase.competition, Right.SUBMISSIONS
    )
    if not organises and not view.own_scores:
        return None
    return program_log_of(session, current_run(submission).id, is_organiser=organises)
