"""A submission as one viewer sees it: what the API answers, and what webhooks send."""

from __future__ import annotations

from sqlalchemy.orm import Session

from app.competitions.visibility import Viewer
from app.feedback.scores import own_scores_of_all
from app.feedback.standings import standings_known
from app.feedback.views import SubmissionOut, describe_submission
from app.models import Submission
from app.runs.stages import stage_of
from app.submissions.find import current_run


def describe_submission_seen(session: Session, submission: Submission, viewer: Viewer) -> SubmissionOut:
    """Return the submission, from `get_submission`, as the API answers this viewer."""
    stage = stage_of(session, current_run(submission), submission.phase_task.task.task_type, viewer.now)
    own = own_scores_of_all(session, [submission], viewer)
    standings = standings_known(session, submission, own, viewer)
    return describe_submission(submission, stage, own[submission.id], standings)
