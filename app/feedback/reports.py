"""A scored run's full report: every score, the task's aggregates and text reports, read from one row.

The viewer gets scores in the decimals and slices that the phase shows. Aggregates and texts, whose counts reveal all
decimals of all slices, are shown only if nothing is withheld.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any
from uuid import UUID

from sqlalchemy.orm import Session

from app.base.errors import NotFound
from app.base.text import spreadsheet_safe
from app.competitions.visibility import View, Viewer, own_scores_words, rounded, view_of
from app.models import ScoringRun, Submission
from app.runs.report import read_report
from app.submissions.find import current_run, get_submission_with_report
from evergold.scoring.task import Score


class NoReport(NotFound):
    """The submission exists, but has no scores."""

    code = "no_report"


class ScoresHidden(NoReport):
    """The submission was scored, but its team may not see the scores yet, or never."""

    code = "scores_hidden"


@dataclass(frozen=True, slots=True)
class Report:
    """A report as its viewer may see it.

    scores: the visible ones, in the task's order.
    aggregates, texts: from `Task.report` and `Task.text_reports`, empty if `view` has no details.
    """

    submission: Submission
    run: ScoringRun
    scores: tuple[Score, ...]
    aggregates: Mapping[str, Any]
    texts: Mapping[str, str]
    view: View

    @property
    def task_type(self) -> str:
        """The name of the template in `templates/reports/`, and of the functions for it."""
        return self.submission.phase_task.task.task_type


def find_report(
    session: Session,
    submission_id: UUID,
    viewer: Viewer,
) -> Report:
    """Return the full report of a submission.

    Raises NotFound if the viewer may not see the submission, NoReport if it was not scored (yet), and ScoresHidden if
    no scores are shown (yet).
    """
    submission = get_submission_with_report(session, submission_id, viewer.user)
    run = current_run(submission)
    if run.report is None:
        raise NoReport(f"This submission has no report: it is {run.status}, and only scored submissions have one.")
    view = view_of(session, submission.phase_task, viewer)
    if not view.own_scores:
        raise ScoresHidden(own_scores_words(view))
    document = read_report(run.report)
    return Report(
        submission=submission,
        run=run,
        scores=scores_shown([Score(**score) for score in document["scores"]], view),
        aggregates=document["aggregates"] if view.has_details else {},
        texts=document["texts"] if view.has_details else {},
        view=view,
    )


def scores_shown(scores: Iterable[Score], view: View) -> tuple[Score, ...]:
    """Return the scores of the viewer's own submission that this view shows, rounded to its decimals."""
    if not view.own_scores:
        return ()
    shown = [score for score in scores if view.shows(score.metric, score.split)]
    if view.precision is None:
        return tuple(shown)
    return tuple(replace(score, value=rounded(score.value, view.precision)) for score in shown)


def find_text(report: Report, name: str) -> str:
    """Return one of the text reports. Raises NotFound with the list of those that exist."""
    if not report.view.has_details:
        raise NotFound(
            "Text reports are not shown in this phase: their counts would reveal more than the scores it shows."
        )
    if name not in report.texts:
        known = ", ".join(f"'{one}'" for one in report.texts) or "none"
        raise NotFound(f"This report has no text '{name}'; it has {known}.")
    return report.texts[name]


CSV_COLUMNS = ("metric", "split", "value", "reason", "signature")


def report_csv(report: Report) -> str:
    """Return a CSV with a line per score, with the shown decimals; an undefined score has a reason as its value."""
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow(CSV_COLUMNS)
    for score in report.scores:
        texts = (spreadsheet_safe(part) for part in (score.reason or "", score.signature))
        writer.writerow([score.metric, spreadsheet_safe(score.split), score.value, *texts])
    return text.getvalue()
