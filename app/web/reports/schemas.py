"""The full report of a scored submission as JSON and as CSV."""

from __future__ import annotations

import csv
import io
from typing import Any
from uuid import UUID

from pydantic import Field

from app.base import api_links, links
from app.base.answers import ApiModel, example
from app.base.text import spreadsheet_safe
from app.feedback.reports import Report
from app.web.competitions.visibility_schemas import EXAMPLE_VISIBILITY, VisibilityOut, visibility_out
from app.web.submissions.schemas import ScoreOut

_SUBMISSION = "0b9f2c58-7c0e-4b0e-9d5c-0d7f3a2b9c11"
CSV_COLUMNS = ("metric", "split", "value", "reason", "signature")


class ReportLinks(ApiModel):
    """Other forms of the report."""

    csv: str = Field(description="the scores as a table")
    texts: dict[str, str] = Field(description="text reports by name, such as the official evaluator's")
    page: str = Field(description="for people")


class ReportOut(ApiModel):
    """All that scoring gave: more scores than boards show, and the task type's aggregates."""

    model_config = example(
        {
            "submission": _SUBMISSION,
            "competition": "parseme-1-2",
            "phase": "evaluation",
            "task": "mwe-identification",
            "task_type": "mwe-identification",
            "task_version": 1,
            "scores": [
                {
                    "metric": "mwe_f1",
                    "split": "ga/unseen",
                    "value": 0.25,
                    "reason": None,
                    "signature": "mwe-identification:2|mwe_f1|ga/unseen|matching:exact|lemmas:gold|seen_in:train+dev",
                }
            ],
            "aggregates": {"languages": {"ga": {"all": {"mwe": [10, 40, 38]}}}},
            "visibility": EXAMPLE_VISIBILITY,
            "links": {
                "csv": f"/api/v1/submissions/{_SUBMISSION}/report.csv",
                "texts": {"parseme": f"/api/v1/submissions/{_SUBMISSION}/report/parseme.txt"},
                "page": f"/submissions/{_SUBMISSION}/report",
            },
        }
    )

    submission: UUID
    competition: str
    phase: str
    task: str
    task_type: str
    task_version: int | None
    scores: list[ScoreOut]
    aggregates: dict[str, Any] = Field(description="counts and tables as the task type has them; empty for some")
    visibility: VisibilityOut
    links: ReportLinks


def describe_report(report: Report) -> ReportOut:
    """Return the report as far as its viewer may see it."""
    submission = report.submission
    phase = submission.phase_task.phase
    return ReportOut(
        submission=submission.id,
        competition=phase.competition.name,
        phase=phase.name,
        task=submission.phase_task.task.name,
        task_type=report.task_type,
        task_version=report.run.task_version,
        scores=[ScoreOut.model_validate(score, from_attributes=True) for score in report.scores],
        aggregates=dict(report.aggregates),
        visibility=visibility_out(report.view),
        links=ReportLinks(
            csv=f"{api_links.report(submission.id)}.csv",
            texts={name: api_links.report_text(submission.id, name) for name in report.texts},
            page=links.report(submission.id),
        ),
    )


def report_csv(report: Report) -> str:
    """Return a line per score, with the decimals shown; an undefined score has a reason instead of a value."""
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow(CSV_COLUMNS)
    for score in report.scores:
        texts = (spreadsheet_safe(part) for part in (score.reason or "", score.signature))
        writer.writerow([score.metric, spreadsheet_safe(score.split), score.value, *texts])
    return text.getvalue()
