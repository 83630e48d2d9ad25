"""The page of a board's pictures: a table for each, which a script draws when it is asked to."""

from __future__ import annotations

from urllib.parse import urlencode

from fastapi import APIRouter, Request, Response

from app.base import links
from app.base.db import reading
from app.boards.pictures.gallery import pictures_of
from app.boards.pictures.languages import MOST_TEAMS
from app.boards.pictures.seen import look_at
from app.competitions.find import find_board, find_competition
from app.competitions.limits import phase_state
from app.competitions.visibility import view_of_board
from app.web.boards.query import SplitAsked, TeamsAsked
from app.web.html.rendering import render
from app.web.html.workspace import Place, workspace_of
from app.web.http.context import ServerHere
from app.web.http.viewer import ViewerHere

router = APIRouter()

#: The library that draws, asked for by the script only.
LIBRARY = "vendor/echarts/echarts.min.js"


@router.get("/competitions/{competition}/phases/{phase}/boards/{board}/pictures")
def read_pictures(
    request: Request,
    server: ServerHere,
    viewer: ViewerHere,
    competition: str,
    phase: str,
    board: str,
    split: SplitAsked = None,
    teams: TeamsAsked = [],  # noqa: B006 - FastAPI copies it
) -> Response:
    now = server.clock()
    with reading(server.engine) as session:
        found = find_competition(session, competition)
        where = find_board(found, phase, board)
        seen = look_at(session, *where, viewer.user, now, seen_as=viewer.seen_as)
        pictures = pictures_of(session, seen, split=split, teams=teams)
        view = view_of_board(session, *where, viewer.user, now, seen_as=viewer.seen_as)
        here = Place(where[0], where[1].task, where[1])
        workspace = workspace_of(session, found, viewer, now, "pictures", here)
    asked = [("split", split)] if split else []
    asked += [("teams", team) for team in teams]
    asked += [("as", viewer.seen_as.value)] if viewer.seen_as else []
    addresses = {one.name: links.api_picture(competition, phase, board, one.name) for one in pictures}
    return render(
        request,
        "boards/pictures.html",
        competition=found,
        workspace=workspace,
        phase=where[0],
        board=where[1],
        state=phase_state(where[0], now),
        view=view,
        seen_as=viewer.seen_as,
        pictures=pictures,
        numbers={name: f"{address}?{urlencode(asked)}" if asked else address for name, address in addresses.items()},
        library=LIBRARY,
        most_teams=MOST_TEAMS,
    )
