"""The smaller tabs of a competition: its data, and short addresses that redirect to other tabs."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import islice

from fastapi import Response
from fastapi.responses import RedirectResponse
from sqlalchemy.orm import Session

from app.base import links
from app.base.errors import NotFound
from app.base.storage import Storage, storage_of
from app.competitions.current import current_phase
from app.competitions.find import find_competition
from app.competitions.starter_kits import items_of_starter_kit, lacks_baseline
from app.competitions.views import citation_of
from app.competitions.visibility import Viewer
from app.models import Audience, Competition, CompetitionTask, Phase
from app.submissions.downloads import FileAccess, file_access, file_viewer
from app.submissions.file_rows import Look, look_if_free
from app.web.html.rendering import render_page
from app.web.html.workspace import Place, board_of_tab, place_of_late_upload, place_of_upload, workspace_of
from app.web.http.routers import page_router
from app.web.http.visit import PageVisit, PlainPageVisit, PublicVisit, Visit
from evergold.scoring.task import AnyTask
from evergold.scoring.tasks import TASKS

router = page_router()

#: Maximum number and size of files whose first rows the page shows, so that it loads quickly; each file has its own
#: page.
MOST_LOOKS = 16
LOOK_BYTES = 4 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class TaskData:
    """A task with its format, and its files by phase, for phases with files.

    starter_kits: names of the phases with a starter kit; without_baseline: phases without one because there is nothing
    to predict.
    """

    task: CompetitionTask
    task_type: AnyTask
    files: list[tuple[Phase, list[FileAccess]]]
    starter_kits: set[str] = field(default_factory=set)
    without_baseline: set[str] = field(default_factory=set)


@router.get("/competitions/{competition}/data")
def read_data(visit: PageVisit, competition: str) -> Response:
    session, viewer = visit.session, visit.viewer
    found = find_competition(session, competition)
    workspace = workspace_of(session, found, viewer, "data")
    tasks = _tasks(session, found, viewer, first=workspace.phase)
    session.close()  # the helper may take some time
    return render_page(
        visit,
        "competitions/data.html",
        competition=found,
        workspace=workspace,
        tasks=tasks,
        looks=_looks(storage_of(visit.server.settings), tasks, workspace.phase),
        licence=citation_of(found).licence,
        seen_as=viewer.seen_as,
    )


def _looks(storage: Storage, tasks: list[TaskData], phase: Phase | None) -> dict[int, Look]:
    """Return previews, by file id, of the phase's public files, up to a number and a size."""
    listed = (
        access.file
        for task in tasks
        for held_in, files in task.files
        if held_in is phase
        for access in files
        if access.is_open and access.audience is Audience.EVERYONE and access.file.size_bytes <= LOOK_BYTES
    )
    looks = ((file.id, look_if_free(storage, file)) for file in islice(listed, MOST_LOOKS))
    return {key: look for key, look in looks if look is not None}


def _tasks(session: Session, competition: Competition, viewer: Viewer, first: Phase | None) -> list[TaskData]:
    """Return the tasks with their files; those of the phase `first` come first."""
    asking = file_viewer(session, competition, viewer.user, seen_as=viewer.seen_as)
    found = {task.id: TaskData(task, TASKS[task.task_type], []) for task in competition.tasks}
    for phase in sorted(competition.phases, key=lambda phase: phase is not first):
        for phase_task in phase.phase_tasks:
            if files := file_access(competition, phase, phase_task, asking, viewer.now):
                found[phase_task.task_id].files.append((phase, files))
                if items_of_starter_kit(phase_task, found[phase_task.task_id].task):
                    found[phase_task.task_id].starter_kits.add(phase.name)
                elif lacks_baseline(phase_task, found[phase_task.task_id].task):
                    found[phase_task.task_id].without_baseline.add(phase.name)
    return list(found.values())


@router.get("/competitions/{competition}/leaderboard")
def go_to_leaderboard(visit: PublicVisit, competition: str) -> Response:
    """Redirect to the first board of the most relevant phase now."""
    return RedirectResponse(links.board(*_board(visit, competition)), 303)


@router.get("/competitions/{competition}/pictures")
def go_to_pictures(visit: PublicVisit, competition: str) -> Response:
    return RedirectResponse(f"{links.pictures(*_board(visit, competition))}#pictures", 303)


@router.get("/competitions/{competition}/submit")
def go_to_upload(visit: PlainPageVisit, competition: str) -> Response:
    found = find_competition(visit.session, competition)
    now = visit.now
    where = place_of_upload(found, Place(), now)
    if where is None and visit.viewer.user is not None:
        where = place_of_late_upload(visit.session, found, Place(), visit.viewer.user, now)
    if where is None:
        raise NotFound("You cannot submit now: no phase is open.")
    return RedirectResponse(links.submit(competition, where[0].name, where[1].name), 303)


def _board(visit: Visit, competition: str) -> tuple[str, str, str]:
    found = find_competition(visit.session, competition)
    current = current_phase(found, visit.now)
    board = board_of_tab(found, Place(current.phase)) if current else None
    if current is None or board is None:
        raise NotFound("This competition has no leaderboard yet.")
    return competition, current.phase.name, board.name
