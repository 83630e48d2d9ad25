"""The figures of reports as files to download, by task type."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Annotated, Any
from uuid import UUID

from fastapi import APIRouter, Query, Request, Response

from app.db import reading
from app.errors import NotFound
from app.figures import Figure
from app.reports import find_report
from app.routes.identity import VisitorHere
from app.routes.looking import LookingHere
from app.routes.pages import report_probing
from app.routes.pages.drawings import svg_response
from app.routes.pages.login import to_login
from app.routes.serving import ServingHere

router = APIRouter()

#: By task type: from a report's aggregates and the wanted split to the split that is drawn, and its figures.
REPORT_FIGURES: dict[str, Callable[[Mapping[str, Any], str | None], tuple[str, list[Figure]]]] = {
    "idiomaticity-probing": report_probing.figures_of,
}


@router.get("/submissions/{submission_id}/report/figures/{name}.svg")
def read_figure(
    request: Request,
    serving: ServingHere,
    visitor: VisitorHere,
    looking: LookingHere,
    submission_id: UUID,
    name: str,
    split: Annotated[str | None, Query()] = None,
) -> Response:
    if visitor.user is None:
        return to_login(request)
    with reading(serving.engine) as session:
        report = find_report(session, submission_id, looking.user, serving.clock(), seen_as=looking.seen_as)
    if not report.view.has_details:
        raise NotFound("Figures of reports are not shown in this phase: they tell more than its scores may.")
    draw = REPORT_FIGURES.get(report.task_type)
    if draw is None:
        raise NotFound("Reports of this task type have no figures.")
    chosen, figures = draw(report.aggregates, split)
    return svg_response(figures, name, chosen.replace("/", "-"))
