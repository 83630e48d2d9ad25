"""Submissions as clients of Codabench read them: state and scores of an upload, and addresses of its files."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Annotated
from uuid import UUID

from fastapi import Query, Response
from sqlalchemy.orm import Session

from app.base import api_links, links
from app.base.errors import NotFound
from app.base.zip_stream import EARLIEST, ZipStream
from app.competitions.find import find_competition
from app.competitions.visibility import Viewer
from app.feedback.scores import OwnScores, own_scores_of_all
from app.models import Board, Competition, RunStatus, ScoringRun, Submission, User
from app.submissions.find import OwnFilter, current_run, load_submissions, newest_own
from app.web.codabench.describing import column_key, decimal_of, describe_boards, primary_key_of
from app.web.codabench.find import phase_by_id, submissions_by_number, upload_of
from app.web.codabench.lists import PageHere
from app.web.codabench.numbers import SubmissionNumber, number_of
from app.web.codabench.views import LogOut, NamedTask, Paged, ScoreOut, SubmissionDetails, SubmissionOut
from app.web.http.context import public_address
from app.web.http.identity import ApiViewer
from app.web.http.routers import page_router
from app.web.http.schemas import RowId
from app.web.http.visit import ApiUserVisit, UserVisit

router = page_router()

#: Number of uploads on a page, unless a client requests another number.
ON_A_PAGE = 50
#: Number of latest submissions that are loaded for a page; further pages load more, so that no page loads all.
FIRST_READ = 200
#: Status of an upload by the states of its submissions; the first match counts.
STATUSES = {
    RunStatus.RUNNING: "Running",
    RunStatus.QUEUED: "Submitted",
    RunStatus.REJECTED: "Failed",
    RunStatus.FAILED: "Failed",
    RunStatus.SCORED: "Finished",
}
#: Maximum number of messages about a rejected file in a line; its problems.csv has all of them.
MESSAGES = 3


@router.get("/api/submissions/")
def read_submissions(
    visit: ApiUserVisit, viewer: ApiViewer, wanted: PageHere, phase: Annotated[RowId | None, Query()] = None
) -> Paged[SubmissionOut]:
    """List the submissions of the user's teams, newest first, as one entry per upload."""
    session, user = visit.session, visit.user
    competition_name = phase_name = None
    if phase is not None:
        competition, found = phase_by_id(session, phase, user)
        competition_name, phase_name = competition.name, found.name
    filters = OwnFilter(competition=competition_name, phase=phase_name)
    newest = _newest_uploads(session, user, filters, wanted.reach(ON_A_PAGE))
    cut = wanted.cut(len(newest), ON_A_PAGE)
    ids = [one for some in newest[cut.entries] for one in some]
    uploads: dict[tuple[int, tuple[int, int, str]], list[Submission]] = {}
    for one in load_submissions(session, ids):
        uploads.setdefault((number_of(one.id), upload_of(one)), []).append(one)
    return cut.answer(_describe(session, list(uploads.values()), viewer))


@router.get("/api/submissions/{submission_number}/")
def read_submission(visit: ApiUserVisit, viewer: ApiViewer, submission_number: SubmissionNumber) -> SubmissionOut:
    """Return an upload as one submission: the combined status of its submissions, and all their visible scores."""
    found = submissions_by_number(visit.session, submission_number, visit.user)
    return _describe(visit.session, [found], viewer)[0]


@router.get("/api/submissions/{submission_number}/get_details/")
def read_details(visit: ApiUserVisit, viewer: ApiViewer, submission_number: SubmissionNumber) -> SubmissionDetails:
    """Return the addresses of a submission's files; None for those that do not exist or are not shown."""
    found = submissions_by_number(visit.session, submission_number, visit.user)
    described = _describe(visit.session, [found], viewer)[0]
    competition = find_competition(visit.session, found[0].phase_task.phase.competition.name)
    tasks = {one.phase_task.task_id for one in found}
    boards = [board for board in competition.boards if board.task_id in tasks]
    scores = f"/api/submissions/{submission_number}/scores.zip"
    return SubmissionDetails(
        logs=[
            LogOut(name=f"{one.phase_task.task.name}-problems.csv", data_file=_at(visit, api_links.problems(one.id)))
            for one in found
            if current_run(one).problems
        ],
        data_file=None if found[0].file_cleared_at else _at(visit, api_links.submission_file(found[0].id)),
        scoring_result=_at(visit, scores) if described.scores else None,
        leaderboards=describe_boards(visit.session, competition, boards, viewer),
    )


@router.get("/api/submissions/{submission_number}/scores.zip")
def download_scores(visit: ApiUserVisit, viewer: ApiViewer, submission_number: SubmissionNumber) -> Response:
    """Send the visible scores of the submission, as `scores.json` in a zip."""
    found = submissions_by_number(visit.session, submission_number, visit.user)
    scores = _describe(visit.session, [found], viewer)[0].scores
    if not scores:
        raise NotFound("This submission has no scores, or they are not shown.")
    values = {one.column_key: None if one.score is None else float(one.score) for one in scores}
    written = ZipStream()
    content = written.text("scores.json", json.dumps(values, indent=1), EARLIEST) + written.end()
    headers = {
        "Content-Disposition": f'attachment; filename="{submission_number}-scores.zip"',
        "Cache-Control": "private, no-cache",
    }
    return Response(content, headers=headers, media_type="application/zip")


def _newest_uploads(session: Session, user: User, filters: OwnFilter, wanted: int) -> list[list[UUID]]:
    """Return the submission ids of each of the newest uploads: of at least `wanted` uploads, or of all."""
    limit = FIRST_READ
    while True:
        ids = newest_own(session, user, filters, limit=limit)
        by_number: dict[int, list[UUID]] = {}
        for submission_id in ids:
            by_number.setdefault(number_of(submission_id), []).append(submission_id)
        found = list(by_number.values())
        if len(ids) < limit:
            return found
        if len(found) > wanted:
            return found[:-1]  # of the last one there may be more
        limit *= 2


def _describe(session: Session, uploads: Sequence[Sequence[Submission]], viewer: Viewer) -> list[SubmissionOut]:
    own = own_scores_of_all(session, [one for upload in uploads for one in upload], viewer)
    names = {one.phase_task.phase.competition.name for upload in uploads for one in upload}
    competitions = {name: find_competition(session, name) for name in names}
    described = []
    for upload in uploads:
        first, tasks = upload[0], [NamedTask(id=one.phase_task_id, name=one.phase_task.task.title) for one in upload]
        phase = first.phase_task.phase
        competition = competitions[phase.competition.name]
        states = {current_run(one).status for one in upload}
        described.append(
            SubmissionOut(
                id=number_of(first.id),
                status=next(words for state, words in STATUSES.items() if state in states),
                status_details=_details([(one, own[one.id]) for one in upload]),
                phase=phase.id,
                phase_name=phase.title,
                competition=competition.id,
                created_when=min(one.submitted_at for one in upload),
                filename=first.filename,
                owner=first.team.name,
                task=tasks[0],
                tasks=tasks,
                scores=_scores(competition, [(one, own[one.id]) for one in upload]),
                links=[links.submission(one.id) for one in upload],
            )
        )
    return described


def _scores(competition: Competition, upload: Sequence[tuple[Submission, OwnScores]]) -> list[ScoreOut]:
    """Return the scores of all submissions of an upload; the first board's ranking score is the primary one."""
    tasks = {one.phase_task.task_id for one, _ in upload}
    boards: list[Board] = [board for board in competition.boards if board.task_id in tasks]
    primary = primary_key_of(competition, boards[0]) if boards else ""
    keyed = [
        (column_key(competition, one.phase_task.task, score.metric, score.split), score)
        for one, own in upload
        for score in own.scores
    ]
    return [
        ScoreOut(
            index=index,
            column_key=key,
            score=decimal_of(score.value),
            reason=score.reason,
            is_primary=key == primary,
        )
        for index, (key, score) in enumerate(keyed)
    ]


def _details(upload: Sequence[tuple[Submission, OwnScores]]) -> str | None:
    """Return why scores are missing: the problems of the file, or when the scores will be shown; None if they are
    shown.

    If the upload went to several tasks, each line begins with the title of its task.
    """
    words: list[str] = []
    for one, own in upload:
        task = f"{one.phase_task.task.title}: " if len(upload) > 1 else ""
        words += [f"{task}{reason}" for reason in _reasons(current_run(one), own)]
    return "\n".join(dict.fromkeys(words)) or None


def _reasons(run: ScoringRun, own: OwnScores) -> list[str]:
    if run.status == RunStatus.REJECTED:
        return [str(problem["message"]) for problem in run.problems[:MESSAGES]]
    if run.status == RunStatus.FAILED:
        return ["The server could not score this file. This is not your fault and uses no quota."]
    return [own.hidden_words] if own.hidden_words else []


def _at(visit: UserVisit, path: str) -> str:
    return public_address(visit.request, visit.server, path)
