"""The API of all submissions and of failed runs, for organisers: list, mark, rescore, queue again."""

from __future__ import annotations

from typing import Annotated
from uuid import UUID

from fastapi import Query, Response
from pydantic import Field

from app.base import api_links
from app.base.db import writing
from app.base.errors import NotFound
from app.boards.marks import mark_submissions
from app.competitions.find import organised
from app.models import Right
from app.rescoring.sets import TO_RESCORE, score_anew
from app.rescoring.views import ScoredAnewOut
from app.runs.failures import check_names, failed_runs, queue_again, queue_all_again
from app.runs.views import AllQueuedAgain, FailedRunsOut, QueuedAgain
from app.submissions.organisers_list import SubmissionFilter, chosen_submissions, list_all_submissions
from app.submissions.views import ListedSubmissions
from app.web.http.context import ServerHere
from app.web.http.errors import error_responses
from app.web.http.identity import ApiOrganiser
from app.web.http.paths import CompetitionName
from app.web.http.routers import api_router
from app.web.http.schemas import RowId
from app.web.http.visit import ApiOrganiserVisit
from app.web.submissions.schemas import ChosenMark, ChosenRescoring

router = api_router("organising")


class ListQuery(SubmissionFilter):
    """The filters and the page of the list."""

    after: UUID | None = Field(None, description="as in `next`")
    limit: int = Field(50, ge=1, le=200)


@router.get(
    "/competitions/{competition}/submissions",
    operation_id="list_all_submissions",
    summary="All submissions to a competition, for organisers",
    description="Newest first; `next`, also given in the `Link` header, leads to older ones.",
    responses=error_responses(401, 403, 404, 422),
)
def read_all_submissions(
    response: Response, visit: ApiOrganiserVisit, competition: CompetitionName, query: Annotated[ListQuery, Query()]
) -> ListedSubmissions:
    found = organised(visit.session, visit.user, competition, Right.SUBMISSIONS)
    listed, cursor = list_all_submissions(visit.session, found, query, after=query.after, limit=query.limit)
    following = None
    if cursor is not None:
        following = api_links.all_submissions(competition, **query.parameters, limit=query.limit, after=cursor)
        response.headers["Link"] = f'<{following}>; rel="next"'
    return ListedSubmissions(submissions=listed, next=following)


@router.put(
    "/competitions/{competition}/submissions/marks",
    operation_id="mark_submissions",
    summary="Mark several submissions, for organisers",
    description=(
        "Marks each as unranked, disqualified or hidden, independently of its team's mark. If one cannot be marked, "
        "none is."
    ),
    responses=error_responses(401, 403, 404, 413, 422),
    status_code=204,
)
def put_marks(server: ServerHere, user: ApiOrganiser, competition: CompetitionName, form: ChosenMark) -> None:
    with writing(server.engine) as session:
        chosen = chosen_submissions(session, organised(session, user, competition, Right.SUBMISSIONS), form.submissions)
        mark_submissions(server.act(session, user), chosen, status=form.status, note=form.note)


@router.post(
    "/competitions/{competition}/submissions/rescoring",
    operation_id="rescore_submissions",
    summary="Rescore several submissions, for organisers",
    description=(
        "Failed submissions are queued again. For scored ones a rescoring set of all submissions to their tasks is "
        "started, since a board is always scored against one gold; nothing changes before it is published. 409 "
        "`rescoring_open` if a set already has one of the tasks."
    ),
    responses=error_responses(401, 403, 404, 409, 413, 422),
    status_code=202,
)
def post_rescoring(
    server: ServerHere, user: ApiOrganiser, competition: CompetitionName, form: ChosenRescoring
) -> ScoredAnewOut:
    with writing(server.engine) as session:
        found = organised(session, user, competition, TO_RESCORE)
        chosen = chosen_submissions(session, found, form.submissions)
        done = score_anew(server.act(session, user), found, chosen, note=form.note)
    return ScoredAnewOut.model_validate(done)


@router.get(
    "/competitions/{competition}/failed-runs",
    operation_id="list_failed_runs",
    summary="Submissions whose scoring failed, for organisers",
    description="The failures are never the teams' fault and use no quota. The latest first.",
    responses=error_responses(401, 403, 404, 422),
)
def read_failed_runs(
    visit: ApiOrganiserVisit, competition: CompetitionName, limit: Annotated[int, Query(ge=1, le=1000)] = 200
) -> FailedRunsOut:
    found = organised(visit.session, visit.user, competition, Right.SUBMISSIONS)
    return FailedRunsOut(competition=found.name, runs=failed_runs(visit.session, [found.id], limit))


@router.post(
    "/competitions/{competition}/failed-runs/queue-again",
    operation_id="queue_failed_runs_again",
    summary="Score all failed submissions again, for organisers",
    description="Those of the competition, or of one of its phases or tasks; at most 1000 at once.",
    status_code=202,
    responses=error_responses(401, 403, 404, 422),
)
def queue_failed_runs_again(
    server: ServerHere,
    user: ApiOrganiser,
    competition: CompetitionName,
    phase: Annotated[str | None, Query(description="only of this phase", examples=["evaluation"])] = None,
    task: Annotated[str | None, Query(description="only of this task", examples=["idiom-detection"])] = None,
) -> AllQueuedAgain:
    with writing(server.engine) as session:
        found = organised(session, user, competition, Right.SUBMISSIONS)
        check_names(found, phase, task)
        again = queue_all_again(server.act(session, user), found.id, phase=phase, task=task)
    return AllQueuedAgain(runs=again)


@router.post(
    "/competitions/{competition}/failed-runs/{run_id}/queue-again",
    operation_id="queue_failed_run_again",
    summary="Score a failed submission again, for organisers",
    description="Use this once the cause is fixed. Workers start within a minute.",
    status_code=202,
    responses=error_responses(401, 403, 404, 422),
)
def queue_failed_run_again(
    server: ServerHere,
    user: ApiOrganiser,
    competition: CompetitionName,
    run_id: RowId,
) -> QueuedAgain:
    with writing(server.engine) as session:
        found = organised(session, user, competition, Right.SUBMISSIONS)
        if not queue_again(server.act(session, user), run_id, competition_id=found.id):
            raise NotFound(f"Competition '{competition}' has no failed run {run_id}.")
    return QueuedAgain(run_id=run_id)
