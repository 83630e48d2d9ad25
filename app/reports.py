"""A scored run's full report: every score, the task's aggregates and text reports, read from one row."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from sqlalchemy.orm import Session

from app.errors import NotFound
from app.models import ScoringRun, Submission, User
from app.queries import current_run, get_submission_with_report
from app.runs import read_report
from scoring.task import Score


class NoReport(NotFound):
    """The submission is there, but was not scored."""

    code = "no_report"


@dataclass(frozen=True, slots=True)
class Report:
    """scores: all, in the task's order; aggregates, texts: as `Task.report` and `Task.text_reports` gave them."""

    submission: Submission
    run: ScoringRun
    scores: tuple[Score, ...]
    aggregates: Mapping[str, Any]
    texts: Mapping[str, str]

    @property
    def task_type(self) -> str:
        """What `templates/reports/` and the functions that fill these are named by."""
        return self.submission.phase_task.task.task_type


def find_report(session: Session, submission_id: UUID, viewer: User | None) -> Report:
    """The report, for whom may see the submission, else NotFound; NoReport where nothing was scored (yet)."""
    submission = get_submission_with_report(session, submission_id, viewer)
    run = current_run(submission)
    if run.report is None:
        raise NoReport(f"This submission has no report: it is {run.status}. Only what was scored has one.")
    document = read_report(run.report)
    return Report(
        submission=submission,
        run=run,
        scores=tuple(Score(**score) for score in document["scores"]),
        aggregates=document["aggregates"],
        texts=document["texts"],
    )


def find_text(report: Report, name: str) -> str:
    """One of the text reports; raises NotFound, saying which there are."""
    if name not in report.texts:
        known = ", ".join(f"'{one}'" for one in report.texts) or "none"
        raise NotFound(f"This report has no text '{name}'; it has {known}.")
    return report.texts[name]
