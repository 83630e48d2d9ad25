"""The sitemap for search engines: all public pages, without boards that are not public."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from xml.sax.saxutils import escape

from fastapi import Request, Response
from sqlalchemy.orm import Session

from app.base import links
from app.base.db import reading
from app.competitions.find import boards_of, listed_competitions
from app.competitions.visibility import views_of
from app.models import BoardShown, Competition
from app.web.competitions.home import card_of
from app.web.http.context import ServerHere, public_address
from app.web.http.routers import page_router

router = page_router()

_HEAD = '<?xml version="1.0" encoding="UTF-8"?>\n<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">\n'


@router.get("/sitemap.xml")
def read_sitemap(request: Request, server: ServerHere) -> Response:
    now = server.clock()
    with reading(server.engine) as session:
        shown = [one for one in listed_competitions(session) if card_of(one, now) is not None]
        paths = ["/", "/guide", *(path for one in shown for path in _paths(session, one, now))]
    lines = [f"<url><loc>{escape(public_address(request, server, path))}</loc></url>\n" for path in paths]
    return Response(f"{_HEAD}{''.join(lines)}</urlset>\n", media_type="application/xml")


def _paths(session: Session, competition: Competition, now: datetime) -> Iterator[str]:
    """Yield the pages of a competition, and its public boards."""
    name = competition.name
    yield links.competition(name)
    yield from (links.tab(name, tab) for tab in ("data", "cite"))
    yield links.announcements(name)
    for phase in competition.phases:
        views = views_of(session, phase.phase_tasks, None, now)
        by_task = {asked.task_id: views[asked.id] for asked in phase.phase_tasks}
        for board in boards_of(competition, phase):
            if by_task[board.task_id].board is BoardShown.PUBLIC:
                yield links.board(name, phase.name, board.name)
