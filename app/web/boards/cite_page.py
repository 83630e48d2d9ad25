"""The page that shows how to cite a competition, and each of its frozen boards."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from functools import partial

from fastapi import Request, Response
from sqlalchemy.orm import Session

from app.base import links
from app.base.db import reading
from app.boards.citations import cite_competition, cite_paper, paper_of, plain_citation
from app.boards.snapshots import list_official
from app.boards.successors import Official
from app.competitions.find import boards_of, find_competition
from app.competitions.visibility import views_of
from app.models import Board, BoardShown, Competition, Phase
from app.web.html.rendering import render
from app.web.html.sharing import share_competition
from app.web.html.workspace import workspace_of
from app.web.http.context import ServerHere, public_address
from app.web.http.routers import page_router
from app.web.http.viewer import ViewerHere

router = page_router()


@dataclass(frozen=True, slots=True)
class FrozenBoard:
    """A board with all its official versions, the latest first."""

    phase: Phase
    board: Board
    versions: list[Official]


@router.get("/competitions/{competition}/cite")
def read_cite(request: Request, server: ServerHere, viewer: ViewerHere, competition: str) -> Response:
    now = server.clock()
    with reading(server.engine) as session:
        found = find_competition(session, competition)
        workspace = workspace_of(session, found, viewer, now, "cite")
        public_boards = _public_boards(session, found, now)
        frozen = [
            FrozenBoard(phase, board, versions[::-1])
            for phase in found.phases
            for board in boards_of(found, phase)
            if (versions := list_official(session, phase, board, viewer.user, now, seen_as=viewer.seen_as))
        ]
    address = public_address(request, server, links.competition(found.name))
    return render(
        request,
        "boards/cite.html",
        competition=found,
        workspace=workspace,
        sharing=share_competition(server, found, links.tab(found.name, "cite")),
        bibtex=cite_competition(found, address, now),
        plain=plain_citation(found, address, now),
        paper=paper_of(found),
        paper_bibtex=cite_paper(found),
        licence=found.citation.get("licence") or "",
        embeddable=_embeddable(found, public_boards, partial(public_address, request, server)),
        address=address,
        frozen=frozen,
        seen_as=viewer.seen_as,
        now=now,
    )


def _public_boards(session: Session, competition: Competition, now: datetime) -> list[tuple[Phase, Board]]:
    """Return the boards that everybody may see."""
    found = []
    for phase in competition.phases:
        views = views_of(session, phase.phase_tasks, None, now)
        public = {one.task_id for one in phase.phase_tasks if views[one.id].board is BoardShown.PUBLIC}
        found += [(phase, board) for board in boards_of(competition, phase) if board.task_id in public]
    return found


def _embeddable(
    competition: Competition, boards: list[tuple[Phase, Board]], address: Callable[[str], str]
) -> list[tuple[str, str]]:
    """Return each board's title and the HTML that embeds it in another site."""
    return [
        (
            f"{board.title}, {phase.title}",
            f'<iframe src="{address(links.embedded(competition.name, phase.name, board.name))}" '
            f'title="{board.title.replace(chr(34), "")}" width="100%" height="640" loading="lazy"></iframe>',
        )
        for phase, board in boards
    ]
