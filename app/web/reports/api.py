"""The API of reports: all scores of a submission, for its team, as JSON, CSV, and texts of the task type."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from uuid import UUID

from fastapi import Request, Response
from fastapi.responses import PlainTextResponse

from app.feedback.program_logs import find_program_log
from app.feedback.reports import CSV_COLUMNS, Report, find_report, find_text, report_csv
from app.feedback.views import ReportOut, describe_report
from app.runs.views import ProgramLogOut
from app.web.http.caching import is_known, not_modified, strong_etag
from app.web.http.csv_answers import TAKES_BOM, CsvResponse
from app.web.http.errors import error_responses
from app.web.http.identity import ApiUser
from app.web.http.routers import api_router
from app.web.http.visit import ApiVisit, Visit

router = api_router("submissions")

_NOT_MODIFIED: dict[int | str, dict[str, Any]] = {304: {"description": "Not changed (If-None-Match)."}}
_ERRORS = error_responses(401, 404, 422)
_CSV_EXAMPLE = f"{','.join(CSV_COLUMNS)}\r\nmwe_f1,ga/unseen,0.25,,mwe-identification:2|mwe_f1|ga/unseen|…\r\n"
_TEXT_EXAMPLE = "## Global evaluation\n* MWE-based: P=10/38=0.2632 R=10/40=0.2500 F=0.2564\n"


@router.get(
    "/submissions/{submission_id}/report",
    operation_id="get_report",
    summary="All scores and the task's own report",
    description=(
        "All results of scoring, including scores that no board shows, and the aggregates of the task type. 404 "
        "with the code `no_report` for a submission that is not scored (yet), with the code `scores_hidden` while "
        "its phase hides scores. If decimals or slices are hidden, there are no aggregates and no texts."
    ),
    response_model=ReportOut,
    responses={**_NOT_MODIFIED, **_ERRORS},
)
def read_report(visit: ApiVisit, _: ApiUser, submission_id: UUID) -> Response:
    report = _visible_report(visit, submission_id)
    return _answer(
        visit.request,
        report,
        "json",
        lambda: Response(describe_report(report).model_dump_json(), media_type="application/json"),
    )


@router.get(
    "/submissions/{submission_id}/report.csv",
    operation_id="get_report_csv",
    dependencies=TAKES_BOM,
    summary="All scores as CSV",
    description="Scores have all decimals that the phase shows; an undefined score has a reason instead of a value.",
    response_class=Response,
    responses={
        200: {
            "description": "The scores.",
            "content": {"text/csv": {"schema": {"type": "string"}, "example": _CSV_EXAMPLE}},
        },
        **_NOT_MODIFIED,
        **_ERRORS,
    },
)
def read_report_csv(visit: ApiVisit, _: ApiUser, submission_id: UUID) -> Response:
    report = _visible_report(visit, submission_id)
    named = {"Content-Disposition": f'attachment; filename="report-{submission_id}.csv"'}
    return _answer(visit.request, report, "csv", lambda: CsvResponse(report_csv(report), headers=named))


@router.get(
    "/submissions/{submission_id}/report/{name}.txt",
    operation_id="get_report_text",
    summary="A text report of the task, such as the official evaluator's",
    description="Line by line as the official evaluator prints it; `links.texts` of the report lists them.",
    response_class=PlainTextResponse,
    responses={
        200: {
            "description": "The text.",
            "content": {"text/plain": {"schema": {"type": "string"}, "example": _TEXT_EXAMPLE}},
        },
        **_NOT_MODIFIED,
        **_ERRORS,
    },
)
def read_report_text(visit: ApiVisit, _: ApiUser, submission_id: UUID, name: str) -> Response:
    report = _visible_report(visit, submission_id)
    text = find_text(report, name)
    return _answer(visit.request, report, name, lambda: PlainTextResponse(f"{text}\n"))


@router.get(
    "/submissions/{submission_id}/program-log",
    operation_id="get_program_log",
    summary="The log of the organisers' own program",
    description=(
        "For a submission that the organisers' own program scored or failed to score. Organisers see its exit code, "
        "output, errors and page, teams the parts that the organisers show; otherwise 404 with the code "
        "`no_program_log`."
    ),
    responses=_ERRORS,
)
def read_program_log(visit: ApiVisit, _: ApiUser, submission_id: UUID) -> ProgramLogOut:
    return find_program_log(visit.session, submission_id, visit.viewer)


def _visible_report(visit: Visit, submission_id: UUID) -> Report:
    """Return the report, restricted to what this viewer may see now."""
    return find_report(visit.session, submission_id, visit.viewer)


def _answer(request: Request, report: Report, form: str, made: Callable[[], Response]) -> Response:
    """Return the response, or 304: scores of a run never change, only their visibility."""
    etag = strong_etag(request, report.run.id, report.view.key, form)
    headers = {"ETag": etag, "Cache-Control": "private, no-cache"}
    headers["Vary"] = "Accept-Encoding, Authorization, Cookie"
    if is_known(request, headers["ETag"]):
        return not_modified(headers)
    response = made()
    response.headers.update(headers)
    return response
