"""A submission's full report: its task type's own page, if there is one, and every score as a plain table.

A task type gets its own page by two things: `templates/reports/TASK-TYPE.html`, included as the main part of the page,
and a function in `OWN_REPORTS` that returns the template's variable `shown` from the report and the query parameters.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Any
from uuid import UUID

from fastapi import Query, Response
from fastapi.responses import RedirectResponse

from app.base import links
from app.base.errors import NotFound
from app.charts.distribution import Figure
from app.competitions.metrics import metrics_of
from app.feedback.reports import NoReport, Report, find_report
from app.web.html.drawings import svg_response
from app.web.html.guards import PageUser
from app.web.html.rendering import render_page
from app.web.html.words import split_title
from app.web.html.workspace import workspace_of_task
from app.web.http.routers import page_router
from app.web.http.visit import PageVisit
from app.web.reports import probing as report_probing
from app.web.reports.mwe import show_mwes
from app.web.reports.probing import show_probing
from app.web.reports.tables import Column, Linked, Row, Table, make_table, score_cell
from evergold.scoring.task import Metric, Score

router = page_router()
#: The view model of `templates/reports/TASK-TYPE.html`, by task type.
OWN_REPORTS: dict[str, Callable[[Report, Mapping[str, str]], Any]] = {
    "idiomaticity-probing": show_probing,
    "mwe-identification": show_mwes,
}
#: The view of all scores, which every report has.
ALL_SCORES = "scores"


@router.get("/submissions/{submission_id}/report")
def read_report(visit: PageVisit, user: PageUser, submission_id: UUID) -> Response:
    viewer = visit.viewer
    try:
        report = find_report(visit.session, submission_id, viewer)
    except NoReport:  # the submission page explains why
        query = f"?as={viewer.seen_as}" if viewer.seen_as else ""
        return RedirectResponse(f"{links.submission(submission_id)}{query}", 303)
    workspace = workspace_of_task(visit.session, report.submission.phase_task, viewer, "runs")
    parameters = visit.request.query_params
    own = OWN_REPORTS.get(report.task_type) if report.view.has_details else None
    is_plain = own is None or parameters.get("view") == ALL_SCORES
    return render_page(
        visit,
        "reports/page.html",
        report=report,
        workspace=workspace,
        submission=report.submission,
        phase=report.submission.phase_task.phase,
        task=report.submission.phase_task.task,
        has_own=own is not None,
        own_template=None if is_plain else f"reports/{report.task_type}.html",
        shown=None if own is None or is_plain else own(report, parameters),
        table=all_scores(report, parameters.get("sort", "")) if is_plain else None,
        seen_as=viewer.seen_as,
        signatures=signatures(report.scores) if is_plain else {},
    )


def all_scores(report: Report, sort: str) -> Table:
    """Return a table of all scores of a report, with links that sort by column."""

    def linked(wanted: str) -> str:
        return f"{links.report(report.submission.id, view=ALL_SCORES, sort=wanted)}#{ALL_SCORES}"

    return scores_table(
        metrics_of(report.submission.phase_task.task), report.scores, report.view.precision, sort, linked
    )


def scores_table(
    metrics: Mapping[str, Metric], scores: Sequence[Score], precision: int | None, sort: str = "", linked: Linked = str
) -> Table:
    """Return a table with a row per split and a column per metric."""
    by_split: dict[str, dict[str, Score]] = {}
    for score in scores:
        by_split.setdefault(score.split, {})[score.metric] = score
    columns = [
        Column(name, metric.title, metric.description, metric.percent)
        if (metric := metrics.get(name))
        else Column(name, name)
        for name in dict.fromkeys(score.metric for score in scores)
    ]
    rows = [
        Row(
            split_title(split),
            tuple(
                score_cell(found.get(column.key), metrics.get(column.key), precision=precision) for column in columns
            ),
        )
        for split, found in by_split.items()
    ]
    return make_table(
        ALL_SCORES,
        "All scores of this submission. An undefined score has a reason instead of a value.",
        Column("split", "Split", "A named part of the items"),
        columns,
        rows,
        sort=sort,
        linked=linked,
    )


def signatures(scores: tuple[Score, ...]) -> dict[str, list[str]]:
    """Return the metrics of each distinct signature (without metric and split); usually there are few."""
    found: dict[str, dict[str, None]] = {}
    for score in scores:
        signature = score.signature.replace(f"|{score.metric}|{score.split}", "", 1)
        found.setdefault(signature, {})[score.metric] = None
    return {signature: list(metrics) for signature, metrics in found.items()}


#: Functions by task type that return the drawn split and its figures, from a report's aggregates and the requested
#: split.
REPORT_FIGURES: dict[str, Callable[[Mapping[str, Any], str | None], tuple[str, list[Figure]]]] = {
    "idiomaticity-probing": report_probing.figures_of,
}


@router.get("/submissions/{submission_id}/report/figures/{name}.svg")
def read_figure(
    visit: PageVisit,
    user: PageUser,
    submission_id: UUID,
    name: str,
    split: Annotated[str | None, Query()] = None,
) -> Response:
    report = find_report(visit.session, submission_id, visit.viewer)
    if not report.view.has_details:
        raise NotFound(
            "Figures of reports are not shown in this phase: they would reveal more than the scores it shows."
        )
    draw = REPORT_FIGURES.get(report.task_type)
    if draw is None:
        raise NotFound("Reports of this task type have no figures.")
    chosen, figures = draw(report.aggregates, split)
    return svg_response(figures, name, chosen.replace("/", "-"))
