"""Routes by which clients of Codabench read competitions, phases, tasks, boards and files."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated
from uuid import UUID

from fastapi import Query, Request, Response
from fastapi.responses import RedirectResponse, StreamingResponse
from sqlalchemy import select
from starlette.responses import FileResponse

from app.base import api_links, links
from app.base.db import reading
from app.base.errors import NotFound
from app.base.storage import local_file, storage_of
from app.base.text import attachment, folded
from app.base.zip_stream import EARLIEST, ZipStream
from app.competitions.find import boards_of, listed_competitions
from app.models import Competition
from app.web.codabench.describing import (
    boards_in,
    describe_board,
    describe_competition,
    describe_phase,
    describe_task,
    list_competition,
)
from app.web.codabench.find import board_by_id, competition_by_id, file_by_key, phase_by_id, task_by_id
from app.web.codabench.lists import PageHere
from app.web.codabench.views import CompetitionOut, LeaderboardOut, ListedCompetition, Paged, PhaseOut, TaskOut
from app.web.http.context import Server, ServerHere
from app.web.http.files import NOT_MODIFIED, note_download, open_task_file, stored_file_response
from app.web.http.identity import ApiVisitor
from app.web.http.routers import page_router
from app.web.http.schemas import RowId
from app.web.http.visit import ApiVisit, PlainPageVisit

router = page_router()

OptionalId = Annotated[RowId | None, Query()]
ZIP = ".zip"
#: Page size of tasks, larger than in Codabench, whose list has only the user's own tasks.
TASKS_ON_A_PAGE = 100


@router.get("/api/competitions/")
def read_competitions(visit: ApiVisit, search: Annotated[str, Query(max_length=200)] = "") -> list[ListedCompetition]:
    """List competitions. search: words of the title, the name or the summary; case is ignored."""
    words = folded(search).split()
    found = [
        one
        for one in listed_competitions(visit.session)
        if all(word in folded(f"{one.title} {one.name} {one.summary}") for word in words)
    ]
    return [list_competition(one) for one in sorted(found, key=lambda one: one.id)]


@router.get("/api/competitions/{competition_id}/")
def read_competition(visit: ApiVisit, competition_id: RowId) -> CompetitionOut:
    found = competition_by_id(visit.session, competition_id, visit.viewer.user)
    return describe_competition(visit.session, found, visit.viewer)


@router.get("/competitions/{competition_id:int}/")
def find_page(visit: PlainPageVisit, competition_id: RowId) -> Response:
    """Redirect from the address that clients print, with the competition's number, to its page, with its name."""
    named = visit.session.scalar(select(Competition.name).where(Competition.name == str(competition_id)))
    name = named or competition_by_id(visit.session, competition_id, visit.viewer.user).name
    return RedirectResponse(links.competition(name), 303)


@router.get("/api/competitions/{competition_id}/results.csv")
def read_results(visit: ApiVisit, competition_id: RowId, phase: RowId) -> Response:
    """Redirect to the CSV of the phase's first board."""
    competition, found = phase_by_id(visit.session, phase, visit.viewer.user)
    boards = boards_of(competition, found)
    if competition.id != competition_id or not boards:
        raise NotFound("There is no leaderboard of this phase in this competition.")
    return RedirectResponse(f"{api_links.board(competition.name, found.name, boards[0].name)}.csv", 307)


@router.get("/api/phases/")
def read_phases(visit: ApiVisit, competition: RowId) -> list[PhaseOut]:
    found = competition_by_id(visit.session, competition, visit.viewer.user)
    return [describe_phase(visit.session, found, phase, visit.viewer) for phase in found.phases]


@router.get("/api/phases/{phase_id}/")
def read_phase(visit: ApiVisit, phase_id: RowId) -> PhaseOut:
    competition, phase = phase_by_id(visit.session, phase_id, visit.viewer.user)
    return describe_phase(visit.session, competition, phase, visit.viewer)


@router.get("/api/phases/{phase_id}/get_leaderboard/")
def read_first_leaderboard(visit: ApiVisit, phase_id: RowId) -> LeaderboardOut:
    competition, phase = phase_by_id(visit.session, phase_id, visit.viewer.user)
    found = boards_in(visit.session, competition, phase, visit.viewer)
    if not found:
        raise NotFound("This phase has no leaderboard.")
    return found[0]


@router.get("/api/tasks/")
def read_tasks(visit: ApiVisit, wanted: PageHere, competition: OptionalId = None) -> Paged[TaskOut]:
    """List the tasks of all phases of a competition, or of all listed competitions."""
    session, viewer = visit.session, visit.viewer
    if competition is not None:
        found = [competition_by_id(session, competition, viewer.user)]
    else:
        found = listed_competitions(session)
    tasks = [(one, phase, phase_task) for one in found for phase in one.phases for phase_task in phase.phase_tasks]
    cut = wanted.cut(len(tasks), TASKS_ON_A_PAGE)
    return cut.answer([describe_task(session, *one, viewer) for one in tasks[cut.entries]])


@router.get("/api/tasks/{task_id}/")
def read_task(visit: ApiVisit, task_id: RowId) -> TaskOut:
    place = task_by_id(visit.session, task_id, visit.viewer.user)
    return describe_task(visit.session, *place, visit.viewer)


@router.get("/api/leaderboards/")
def read_leaderboards(visit: ApiVisit, phase: RowId) -> list[LeaderboardOut]:
    competition, found = phase_by_id(visit.session, phase, visit.viewer.user)
    return boards_in(visit.session, competition, found, visit.viewer)


@router.get("/api/leaderboards/{board_id}/")
def read_leaderboard(visit: ApiVisit, board_id: RowId, phase: OptionalId = None) -> LeaderboardOut:
    """Return a leaderboard with its rows. phase: default: the most relevant one now."""
    place = board_by_id(visit.session, board_id, visit.viewer, phase)
    return describe_board(visit.session, place, visit.viewer)


@router.get("/datasets/download/{key}/")
@router.get("/api/datasets/{key}/download/")
def download_file(request: Request, server: ServerHere, visitor: ApiVisitor, key: UUID) -> Response:
    """Send a public file, zipped unless it is a zip: clients of Codabench expect every download to be one."""
    with reading(server.engine) as session:
        names, name = file_by_key(session, key, visitor.user)
    opened = open_task_file(server, visitor.user, names, name)
    file = opened.access.file
    response = stored_file_response(request, file.sha256, file.name, is_public=opened.is_public)
    if isinstance(response, FileResponse | RedirectResponse) and not file.name.lower().endswith(ZIP):
        headers = {
            "Content-Disposition": attachment(f"{file.name}{ZIP}"),
            "Cache-Control": "public, no-cache" if opened.is_public else "private, no-cache",
        }
        pieces = _zipped(server, file.sha256, file.name)
        response = StreamingResponse(pieces, headers=headers, media_type="application/zip")
    if response.status_code != NOT_MODIFIED:
        note_download(server, opened, visitor.user)
    return response


def _zipped(server: Server, sha256: str, name: str) -> Iterator[bytes]:
    written = ZipStream()
    yield from written.file(name, local_file(storage_of(server.settings), sha256), EARLIEST)
    yield written.end()
