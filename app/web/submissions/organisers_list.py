"""The API of all submissions of a competition, for its organisers: list, mark, rescore."""

from __future__ import annotations

from datetime import date
from typing import Annotated
from uuid import UUID

from fastapi import Query, Response

from app.base import api_links
from app.base.db import reading, writing
from app.boards.marks import mark_submissions
from app.competitions.find import organised
from app.models import Right, RunStatus
from app.rescoring.chosen import score_anew
from app.rescoring.sets import TO_RESCORE
from app.submissions.organisers_list import SubmissionFilter, chosen_submissions, list_all_submissions
from app.web.http.context import ServerHere
from app.web.http.errors import error_responses
from app.web.http.identity import ApiOrganiser
from app.web.http.paths import CompetitionName
from app.web.http.routers import api_router
from app.web.submissions.organisers_schemas import (
    ChosenMark,
    ChosenRescoring,
    ListedSubmissions,
    ScoredAnewOut,
    listed_out,
)

router = api_router("organising")
Name = Annotated[str, Query(max_length=200, description="a name; empty: all of them")]
Maybe = Annotated[bool | None, Query(description="absent: whether or not")]


@router.get(
    "/competitions/{competition}/submissions",
    operation_id="list_all_submissions",
    summary="All submissions to a competition, for organisers",
    description="Newest first; `next`, also given in the `Link` header, leads to older ones.",
    responses=error_responses(401, 403, 404, 422),
)
def read_all_submissions(
    response: Response,
    server: ServerHere,
    user: ApiOrganiser,
    competition: CompetitionName,
    team: Name = "",
    phase: Name = "",
    task: Name = "",
    status: Annotated[RunStatus | None, Query(description="only in this state")] = None,
    marked: Maybe = None,
    withdrawn: Maybe = None,
    late: Maybe = None,
    since: Annotated[date | None, Query(description="a day of UTC, included")] = None,
    until: Annotated[date | None, Query(description="a day of UTC, included")] = None,
    after: Annotated[UUID | None, Query(description="as in `next`")] = None,
    limit: Annotated[int, Query(ge=1, le=200)] = 50,
) -> ListedSubmissions:
    wanted = SubmissionFilter(team, phase, task, status, marked, withdrawn, late, since, until)
    with reading(server.engine) as session:
        found = organised(session, user, competition, Right.SUBMISSIONS)
        listed, cursor = list_all_submissions(session, found, wanted, after=after, limit=limit)
    following = None
    if cursor is not None:
        following = api_links.all_submissions(competition, **wanted.parameters, limit=limit, after=cursor)
        response.headers["Link"] = f'<{following}>; rel="next"'
    return ListedSubmissions(submissions=[listed_out(one) for one in listed], next=following)


@router.put(
    "/competitions/{competition}/submissions/marks",
    operation_id="mark_submissions",
    summary="Mark several submissions, for organisers",
    description="Unranked, disqualified or hidden: each alone, whatever its team's mark; all of them or, where one "
    "is wrong, none.",
    responses=error_responses(401, 403, 404, 413, 422),
    status_code=204,
)
def put_marks(server: ServerHere, user: ApiOrganiser, competition: CompetitionName, form: ChosenMark) -> None:
    with writing(server.engine) as session:
        chosen = chosen_submissions(session, organised(session, user, competition, Right.SUBMISSIONS), form.submissions)
        mark_submissions(session, chosen, status=form.status, note=form.note, actor=user, now=server.clock())


@router.post(
    "/competitions/{competition}/submissions/rescoring",
    operation_id="rescore_submissions",
    summary="Rescore several submissions, for organisers",
    description="Failed ones are queued again. For scored ones a rescoring set is started with all that was sent to "
    "their tasks, since a board is always scored against one gold; nothing changes before it is published. 409 "
    "`rescoring_open` where a set has one of the tasks already.",
    responses=error_responses(401, 403, 404, 409, 413, 422),
    status_code=202,
)
def post_rescoring(
    server: ServerHere, user: ApiOrganiser, competition: CompetitionName, form: ChosenRescoring
) -> ScoredAnewOut:
    with writing(server.engine) as session:
        found = organised(session, user, competition, TO_RESCORE)
        chosen = chosen_submissions(session, found, form.submissions)
        done = score_anew(session, found, chosen, note=form.note, user=user, now=server.clock())
    return ScoredAnewOut(queued_again=done.queued_again, rescoring=done.rescoring, tasks=list(done.tasks))
