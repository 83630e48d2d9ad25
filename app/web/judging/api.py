"""The API of human judgement: organisers start rounds, import and export marks, publish; results become public."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import Path, Query, Request, Response
from sqlalchemy.orm import Session

from app.base import api_links
from app.base.db import reading, writing
from app.competitions.find import find_competition, organised
from app.competitions.visibility import Viewer
from app.judging.annotators import appoint, dismiss
from app.judging.marks_csv import csv_pieces
from app.judging.organising import WantedRound, organised_round, start_judging
from app.judging.results import progress_of
from app.judging.rounds import (
    DEFAULT_NAME,
    RoundForm,
    discard_round,
    find_round,
    list_rounds,
    publish_round,
    withdraw_round,
)
from app.judging.summary import results_for
from app.judging.views import ImportOut, JudgingProgress, RoundList, RoundResults, describe_round
from app.models import Right, User
from app.web.http.context import Server, ServerHere
from app.web.http.csv_answers import TAKES_BOM, CsvStream
from app.web.http.errors import error_responses
from app.web.http.identity import ApiOrganiser
from app.web.http.openapi import upload_body
from app.web.http.paths import CompetitionName, TaskNamesHere
from app.web.http.routers import api_router
from app.web.http.visit import ApiOrganiserVisit, PlainApiVisit
from app.web.judging.receiving import receive_marks
from app.web.judging.schemas import RoundRequest
from app.web.submissions.receiving import UploadRequest

router = api_router("organising")

RoundName = Annotated[str, Path(examples=["human"])]
Language = Annotated[str, Path(examples=["en"])]
Username = Annotated[str, Path(examples=["anna"], description="a user name or an e-mail address")]
_CSV = (
    "submission,language,item,annotator,removed,mwe_sense,rest_sense,naturalness,decided_at\r\n"
    "5f2d5a4e-3c0b-4a55-9a63-0e1f2d3c4b5a,en,en-1,anna,yes,3,2,3,2026-01-10T12:00:00+00:00\r\n"
)
_CSV_RESPONSE: dict[int | str, dict[str, Any]] = {
    200: {"description": "The marks.", "content": {"text/csv": {"schema": {"type": "string"}, "example": _CSV}}}
}


@router.get(
    "/competitions/{competition}/judging",
    operation_id="list_judging_rounds",
    summary="Rounds of human judgement, for organisers",
    responses=error_responses(401, 403, 404),
)
def read_rounds(visit: ApiOrganiserVisit, competition: CompetitionName) -> RoundList:
    found = organised(visit.session, visit.user, competition, Right.SUBMISSIONS)
    return RoundList(rounds=[describe_round(found, judging) for judging in list_rounds(visit.session, found)])


@router.post(
    "/competitions/{competition}/phases/{phase}/tasks/{task}/judging",
    operation_id="start_judging_round",
    summary="Start a round of human judgement, for organisers",
    description=(
        "The paraphrases of the chosen submissions are extracted from their files once; annotators then see them in "
        "the browser, each in a different order, without their authors."
    ),
    status_code=201,
    responses=error_responses(401, 403, 404, 409, 413, 422),
)
def start_round(
    response: Response,
    server: ServerHere,
    user: ApiOrganiser,
    names: TaskNamesHere,
    form: RoundRequest,
) -> RoundResults:
    wanted = WantedRound(
        RoundForm(form.name, form.items, form.seed, form.guidelines),
        tuple(form.submissions),
        tuple((one.language, one.username) for one in form.annotators),
    )
    name = start_judging(server.engine, server.settings, names, wanted, user=user, now=server.clock())
    response.headers["Location"] = api_links.judging(names.competition, name)
    return _results_now(server, user, names.competition, name)


@router.post(
    "/competitions/{competition}/phases/{phase}/tasks/{task}/judging/marks",
    operation_id="import_judgements",
    summary="Import marks, for organisers",
    description=(
        "CSV with the columns `submission,item,annotator,mwe_sense,rest_sense,naturalness`, optionally `language` "
        "and `removed`. The file is imported as a whole or, if it has problems, not at all; all problems are listed "
        "by line. Importing the same file again changes nothing; a corrected file updates the marks."
    ),
    responses=error_responses(400, 401, 403, 404, 408, 409, 413, 415, 422, 507),
    openapi_extra=upload_body("marks as CSV", file="marks.csv"),
)
async def import_judgements(
    request: Request,
    user: ApiOrganiser,
    names: TaskNamesHere,
    name: Annotated[
        str, Query(alias="round", description="name of the round; created if it does not exist")
    ] = DEFAULT_NAME,
) -> ImportOut:
    return await receive_marks(UploadRequest(request, names, lambda: user), name)


@router.get(
    "/competitions/{competition}/judging/{round_name}",
    operation_id="get_judging_round",
    summary="A round of human judgement and its results",
    description="Published rounds are visible to everybody who may see the boards; organisers see theirs at any time.",
    responses=error_responses(401, 404),
)
def read_round(visit: PlainApiVisit, competition: CompetitionName, round_name: RoundName) -> RoundResults:
    return _results(visit.session, visit.viewer, competition, round_name)


@router.get(
    "/competitions/{competition}/judging/{round_name}/marks.csv",
    operation_id="export_judgements",
    dependencies=TAKES_BOM,
    summary="All marks of a round as CSV, for organisers",
    description="A row for each submission, item and annotator; the file can be imported again.",
    response_class=Response,
    responses=_CSV_RESPONSE | error_responses(401, 403, 404, 422),
)
def export_judgements(visit: ApiOrganiserVisit, competition: CompetitionName, round_name: RoundName) -> Response:
    found = organised(visit.session, visit.user, competition, Right.SUBMISSIONS)
    judging = find_round(visit.session, found, round_name)
    headers = {
        "Content-Disposition": f'attachment; filename="{found.name}-{round_name}-marks.csv"',
        "Cache-Control": "no-store",
    }
    return CsvStream(csv_pieces(visit.server.engine, judging.id), headers=headers)


@router.put(
    "/competitions/{competition}/judging/{round_name}/publication",
    operation_id="publish_judging_round",
    summary="Publish a round, for organisers",
    description="Boards get a column of human scores, and marks can no longer change. Repeating it changes nothing.",
    responses=error_responses(401, 403, 404, 409, 422),
)
def put_publication(
    server: ServerHere,
    user: ApiOrganiser,
    competition: CompetitionName,
    round_name: RoundName,
    unfinished: Annotated[bool, Query(description="publish even if some paraphrases have no marks")] = False,
) -> RoundResults:
    with writing(server.engine) as session:
        found, judging = organised_round(session, user, competition, round_name)
        publish_round(server.act(session, user), found, judging, unfinished=unfinished)
    return _results_now(server, user, competition, round_name)


@router.delete(
    "/competitions/{competition}/judging/{round_name}/publication",
    operation_id="withdraw_judging_round",
    summary="Hide a published round again, for organisers",
    responses=error_responses(401, 403, 404),
)
def delete_publication(
    server: ServerHere, user: ApiOrganiser, competition: CompetitionName, round_name: RoundName
) -> RoundResults:
    with writing(server.engine) as session:
        found, judging = organised_round(session, user, competition, round_name)
        withdraw_round(server.act(session, user), found, judging)
    return _results_now(server, user, competition, round_name)


@router.delete(
    "/competitions/{competition}/judging/{round_name}",
    operation_id="discard_judging_round",
    summary="Delete a round with all its marks, for organisers",
    description="A published round must be hidden first.",
    status_code=204,
    responses=error_responses(401, 403, 404, 409),
)
def delete_round(server: ServerHere, user: ApiOrganiser, competition: CompetitionName, round_name: RoundName) -> None:
    with writing(server.engine) as session:
        found, judging = organised_round(session, user, competition, round_name)
        discard_round(server.act(session, user), found, judging)


@router.put(
    "/competitions/{competition}/judging/{round_name}/annotators/{language}/{username}",
    operation_id="appoint_annotator",
    summary="Assign an annotator to a language, for organisers",
    responses=error_responses(401, 403, 404, 409, 422),
)
def put_annotator(
    server: ServerHere,
    user: ApiOrganiser,
    competition: CompetitionName,
    round_name: RoundName,
    language: Language,
    username: Username,
) -> JudgingProgress:
    with writing(server.engine) as session:
        found, judging = organised_round(session, user, competition, round_name)
        annotator = appoint(server.act(session, user), found, judging, language=language, username=username)
    with reading(server.engine) as session:
        found = find_competition(session, competition)
        progress = progress_of(session, find_round(session, found, round_name))
    return next(one for one in progress if (one.language, one.annotator) == (language, annotator.name))


@router.delete(
    "/competitions/{competition}/judging/{round_name}/annotators/{language}/{username}",
    operation_id="dismiss_annotator",
    summary="Remove an annotator from a language, for organisers",
    description="Marks of the annotator stay.",
    status_code=204,
    responses=error_responses(401, 403, 404, 409),
)
def delete_annotator(
    server: ServerHere,
    user: ApiOrganiser,
    competition: CompetitionName,
    round_name: RoundName,
    language: Language,
    username: Username,
) -> None:
    with writing(server.engine) as session:
        found, judging = organised_round(session, user, competition, round_name)
        dismiss(server.act(session, user), found, judging, language=language, username=username)


def _results_now(server: Server, user: User, competition: str, round_name: str) -> RoundResults:
    """Return the current results, after a change."""
    with reading(server.engine) as session:
        return _results(session, Viewer(user, server.clock()), competition, round_name)


def _results(session: Session, viewer: Viewer, competition: str, round_name: str) -> RoundResults:
    found = find_competition(session, competition)
    return results_for(session, found, find_round(session, found, round_name), viewer)
