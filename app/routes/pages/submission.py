"""A submission's page, live until its state is final; and the list of one's own."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any
from uuid import UUID

from anyio.to_thread import run_sync
from fastapi import APIRouter, Query, Request, Response

from app.api.submissions import STATUS_WORDS
from app.board_columns import BoardColumn, board_columns
from app.db import reading
from app.models import TERMINAL, Board, RunStatus, ScoreRow, ScoringRun, Submission, User
from app.queries import boards_of, current_run, find_competition, get_submission, list_submissions
from app.routes.identity import VisitorHere
from app.routes.pages.login import to_login
from app.routes.pages.rendering import render
from app.routes.serving import Serving, ServingHere
from app.routes.submissions import check_visible, wait_for_change
from app.runs import queue_position
from scoring.tasks import TASKS

router = APIRouter()

#: How long the live part of the page waits for news before it asks again.
LIVE_SECONDS = 20.0
PAGE_LENGTH = 30
#: A task with more scores than this (languages by views) shows those of its boards.
SCORES_SHOWN = 60


@dataclass(frozen=True, slots=True)
class Standing:
    """What a scored submission means for a board: the score in its ranking column."""

    board: Board
    column: BoardColumn
    score: ScoreRow


@router.get("/submissions/{submission_id}")
def read_submission(request: Request, serving: ServingHere, visitor: VisitorHere, submission_id: UUID) -> Response:
    if visitor.user is None:
        return to_login(request)
    return render(request, "submission.html", **_shown(serving, visitor.user, submission_id), is_update=False)


@router.get("/submissions/{submission_id}/live")
async def read_live(
    request: Request,
    serving: ServingHere,
    visitor: VisitorHere,
    submission_id: UUID,
    seen: Annotated[RunStatus | None, Query()] = None,
) -> Response:
    """The part of the page that changes, as soon as the state is not `seen` any more."""
    if visitor.user is None:  # logged out meanwhile: the whole page has to go there
        return Response(status_code=204, headers={"HX-Refresh": "true"})
    await run_sync(check_visible, serving, submission_id, visitor.user)
    await wait_for_change(request, serving, submission_id, seconds=LIVE_SECONDS, seen=seen)
    shown = await run_sync(_shown, serving, visitor.user, submission_id)
    return render(request, "submission_live.html", **shown, is_update=True)


@router.get("/submissions")
def read_submissions(
    request: Request, serving: ServingHere, visitor: VisitorHere, after: Annotated[UUID | None, Query()] = None
) -> Response:
    if visitor.user is None:
        return to_login(request)
    with reading(serving.engine) as session:
        found, cursor = list_submissions(session, visitor.user, after=after, limit=PAGE_LENGTH)
    rows = [(submission, current_run(submission)) for submission in found]
    return render(request, "submissions.html", rows=rows, next=cursor, is_first=after is None)


def _shown(serving: Serving, user: User, submission_id: UUID) -> dict[str, Any]:
    """What both the page and its live part show."""
    with reading(serving.engine) as session:
        submission = get_submission(session, submission_id, user)
        run = current_run(submission)
        position = queue_position(session, run)
        competition = find_competition(session, submission.phase_task.phase.competition.name)
    phase = next(phase for phase in competition.phases if phase.id == submission.phase_task.phase_id)
    boards = [board for board in boards_of(competition, phase) if _stands_on(submission, board)]
    return {
        "submission": submission,
        "run": run,
        "status": RunStatus(run.status),
        "message": STATUS_WORDS[RunStatus(run.status)],
        "is_final": run.status in TERMINAL,
        "position": position,
        "phase": phase,
        "competition": competition,
        "task": submission.phase_task.task,
        "standings": _standings(boards, run),
        "scores": _scores(boards, run),
        "errors": [problem for problem in run.problems if problem.get("severity") != "warning"],
        "warnings": [problem for problem in run.problems if problem.get("severity") == "warning"],
        "metrics": TASKS[submission.phase_task.task.task_type].metrics,
    }


def _stands_on(submission: Submission, board: Board) -> bool:
    return board.task_id == submission.phase_task.task_id and board.track in (None, submission.track)


def _scores(boards: list[Board], run: ScoringRun) -> list[ScoreRow]:
    """All of them, or, where these are many, those that stand on boards: the report has them all."""
    if len(run.scores) <= SCORES_SHOWN:
        return run.scores
    on_boards = {(column["metric"], column["split"]) for board in boards for column in board.columns}
    return [score for score in run.scores if (score.metric, score.split) in on_boards]


def _standings(boards: list[Board], run: ScoringRun) -> list[Standing]:
    scores = {(score.metric, score.split): score for score in run.scores}
    found = []
    for board in boards:
        score = scores.get((board.rank_metric, board.rank_split))
        column = next(c for c in board_columns(board) if (c.metric, c.split) == (board.rank_metric, board.rank_split))
        if score is not None:
            found.append(Standing(board, column, score))
    return found
