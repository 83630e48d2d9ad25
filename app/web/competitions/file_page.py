"""A file of a task: its columns, first rows and counts, and a search of its rows."""

from __future__ import annotations

from typing import Annotated

from fastapi import Query, Response

from app.base import links
from app.base.storage import storage_of
from app.competitions.find import find_competition, find_phase_task
from app.competitions.views import citation_of
from app.models import Audience
from app.submissions.downloads import check_may_have, file_access, file_named, file_viewer
from app.submissions.file_rows import MOST_MATCHES, look_into
from app.web.html.guards import LogInFirst
from app.web.html.rendering import render_page
from app.web.html.workspace import Place, workspace_of
from app.web.http.paths import TaskNamesHere
from app.web.http.routers import page_router
from app.web.http.visit import PageVisit

router = page_router()

WORDS_CHARACTERS = 120


@router.get("/competitions/{competition}/phases/{phase}/tasks/{task}/files/{name}")
def read_file(
    visit: PageVisit, names: TaskNamesHere, name: str, q: Annotated[str, Query(max_length=1000)] = ""
) -> Response:
    session, viewer = visit.session, visit.viewer
    found = find_competition(session, names.competition)
    phase_task = find_phase_task(session, *names)
    asking = file_viewer(session, found, viewer.user, seen_as=viewer.seen_as)
    access = file_named(file_access(found, phase_task.phase, phase_task, asking, viewer.now), names, name)
    if access.is_there and access.needs_login:
        raise LogInFirst(links.file(*names, name))
    check_may_have(access, found)
    phase = next(one for one in found.phases if one.id == phase_task.phase_id)
    workspace = workspace_of(session, found, viewer, "data", Place(phase, phase_task.task))
    session.close()  # the helper may take some time
    words = " ".join(q.split())[:WORDS_CHARACTERS]
    is_shown = access.audience is Audience.EVERYONE
    look = look_into(storage_of(visit.server.settings), access.file, words) if is_shown else None
    return render_page(
        visit,
        "competitions/file.html",
        competition=found,
        workspace=workspace,
        phase=phase,
        task=phase_task.task,
        file=access.file,
        look=look,
        words_asked=words,
        most_matches=MOST_MATCHES,
        licence=citation_of(found).licence,
        seen_as=viewer.seen_as,
    )
