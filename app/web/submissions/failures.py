"""The API of failed runs: organisers see what went wrong on the server, and queue runs again."""

from __future__ import annotations

from typing import Annotated

from fastapi import Path, Query

from app.base.db import reading, writing
from app.base.errors import NotFound
from app.competitions.find import organised
from app.models import Right
from app.runs.failures import check_names, failed_runs, queue_again, queue_all_again
from app.web.http.context import ServerHere
from app.web.http.errors import error_responses
from app.web.http.identity import ApiOrganiser
from app.web.http.paths import CompetitionName
from app.web.http.routers import api_router
from app.web.submissions.failure_schemas import AllQueuedAgain, FailedRunsOut, QueuedAgain, failed_runs_out

router = api_router("organising")

LARGEST_ID = 2**31 - 1


@router.get(
    "/competitions/{competition}/failed-runs",
    operation_id="list_failed_runs",
    summary="Submissions whose scoring failed, for organisers",
    description="Never the teams' fault: these cost no quota. The latest first.",
    responses=error_responses(401, 403, 404, 422),
)
def read_failed_runs(
    server: ServerHere,
    user: ApiOrganiser,
    competition: CompetitionName,
    limit: Annotated[int, Query(ge=1, le=1000)] = 200,
) -> FailedRunsOut:
    with reading(server.engine) as session:
        found = organised(session, user, competition, Right.SUBMISSIONS)
        return failed_runs_out(found.name, failed_runs(session, [found.id], limit))


@router.post(
    "/competitions/{competition}/failed-runs/queue-again",
    operation_id="queue_failed_runs_again",
    summary="Score all failed submissions after all, for organisers",
    description="Of the competition, or of one phase or task of it; at most 1000 at once.",
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
        again = queue_all_again(session, found.id, phase=phase, task=task, actor=user, now=server.clock())
    return AllQueuedAgain(runs=again)


@router.post(
    "/competitions/{competition}/failed-runs/{run_id}/queue-again",
    operation_id="queue_failed_run_again",
    summary="Score a failed submission after all, for organisers",
    description="For when the cause is fixed. Workers start within a minute.",
    status_code=202,
    responses=error_responses(401, 403, 404, 422),
)
def queue_failed_run_again(
    server: ServerHere,
    user: ApiOrganiser,
    competition: CompetitionName,
    run_id: Annotated[int, Path(ge=1, le=LARGEST_ID)],
) -> QueuedAgain:
    with writing(server.engine) as session:
        found = organised(session, user, competition, Right.SUBMISSIONS)
        if not queue_again(session, run_id, competition_id=found.id, actor=user, now=server.clock()):
            raise NotFound(f"Competition '{competition}' has no failed run {run_id}.")
    return QueuedAgain(run_id=run_id)
