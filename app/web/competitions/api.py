"""The API of competitions: their phases, tasks, boards, dates and downloads."""

from __future__ import annotations

from app.base.db import reading
from app.base.errors import NotFound
from app.competitions import limits
from app.competitions.find import boards_of, find_competition, find_phase_task, listed_competitions
from app.competitions.visibility import view_of
from app.submissions.downloads import file_access, file_viewer
from app.teams.find import find_team
from app.web.competitions.schemas import (
    CompetitionList,
    CompetitionOut,
    PhaseOut,
    PhaseTaskOut,
    competition_out,
    phase_out,
    phase_task_out,
)
from app.web.http.context import ServerHere
from app.web.http.errors import error_responses
from app.web.http.identity import ApiVisitor
from app.web.http.paths import CompetitionName, PhaseName, TaskName
from app.web.http.routers import api_router

router = api_router("competitions")


@router.get("/competitions", operation_id="list_competitions", summary="All competitions", responses=error_responses())
def read_competitions(server: ServerHere) -> CompetitionList:
    now = server.clock()
    with reading(server.engine) as session:
        found = listed_competitions(session)
    return CompetitionList(competitions=[competition_out(one, server.settings, now) for one in found])


@router.get(
    "/competitions/{competition}",
    operation_id="get_competition",
    summary="A competition with its phases, tasks and boards",
    responses=error_responses(404),
)
def read_competition(server: ServerHere, competition: CompetitionName) -> CompetitionOut:
    with reading(server.engine) as session:
        found = find_competition(session, competition)
    return competition_out(found, server.settings, server.clock())


@router.get(
    "/competitions/{competition}/phases/{phase}",
    operation_id="get_phase",
    summary="A phase: its dates, limits, tasks and boards",
    responses=error_responses(404),
)
def read_phase(server: ServerHere, competition: CompetitionName, phase: PhaseName) -> PhaseOut:
    with reading(server.engine) as session:
        found = find_competition(session, competition)
    for one in found.phases:
        if one.name == phase:
            return phase_out(found, one, server.settings, server.clock())
    names = ", ".join(f"'{one.name}'" for one in found.phases)
    raise NotFound(f"Competition '{competition}' has no phase '{phase}'; it has {names}.")


@router.get(
    "/competitions/{competition}/phases/{phase}/tasks/{task}",
    operation_id="get_task",
    summary="A task of a phase: limits, downloads, your quota",
    responses=error_responses(401, 404),
)
def read_task(
    server: ServerHere, visitor: ApiVisitor, competition: CompetitionName, phase: PhaseName, task: TaskName
) -> PhaseTaskOut:
    now = server.clock()
    with reading(server.engine) as session:
        phase_task = find_phase_task(session, competition, phase, task)
        found = find_competition(session, competition)
        asked_in = next(one for one in found.phases if one.id == phase_task.phase_id)
        boards = [board for board in boards_of(found, asked_in) if board.task_id == phase_task.task_id]
        used = None
        if visitor.user is not None:
            team = find_team(session, visitor.user, found.id)
            used = limits.quota(session, team, phase_task, now, user=visitor.user)
        view = view_of(session, phase_task, visitor.user, now)
        files = file_access(found, asked_in, phase_task, file_viewer(session, found, visitor.user), now)
    return phase_task_out(phase_task, boards, server.settings, used, view, files, now)
