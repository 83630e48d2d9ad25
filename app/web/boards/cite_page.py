"""The page that says how to cite a competition, and each of its boards as it was frozen."""

from __future__ import annotations

from dataclasses import dataclass

from fastapi import APIRouter, Request, Response

from app.base import links
from app.base.db import reading
from app.boards.citations import cite_competition
from app.boards.snapshots import last_snapshot
from app.competitions.find import boards_of, find_competition
from app.models import Board, Phase, Snapshot
from app.web.html.rendering import render
from app.web.html.workspace import workspace_of
from app.web.http.context import ServerHere, public_address
from app.web.http.viewer import ViewerHere

router = APIRouter()


@dataclass(frozen=True, slots=True)
class FrozenBoard:
    """A board that was frozen, and so never changes."""

    phase: Phase
    board: Board
    snapshot: Snapshot


@router.get("/competitions/{competition}/cite")
def read_cite(request: Request, server: ServerHere, viewer: ViewerHere, competition: str) -> Response:
    now = server.clock()
    with reading(server.engine) as session:
        found = find_competition(session, competition)
        workspace = workspace_of(session, found, viewer, now, "cite")
        frozen = [
            FrozenBoard(phase, board, snapshot)
            for phase in found.phases
            for board in boards_of(found, phase)
            if (snapshot := last_snapshot(session, phase, board, viewer.user, now, seen_as=viewer.seen_as))
        ]
    address = public_address(request, server, links.competition(found.name))
    return render(
        request,
        "boards/cite.html",
        competition=found,
        workspace=workspace,
        bibtex=cite_competition(found, address, now),
        address=address,
        frozen=frozen,
        seen_as=viewer.seen_as,
        now=now,
    )
