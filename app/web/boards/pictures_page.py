"""The page of a board's pictures, each with its table; and each picture as a file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import urlencode

from fastapi import Request, Response
from markupsafe import Markup

from app.base import api_links, links
from app.base.db import reading
from app.boards.drawings.draw import draw, draw_file
from app.boards.pictures.gallery import find_picture, pictures_of
from app.boards.pictures.languages import MOST_TEAMS
from app.boards.pictures.seen import look_at
from app.boards.pictures.shapes import Picture
from app.competitions.find import find_board, find_competition
from app.competitions.limits import phase_state
from app.competitions.visibility import SeenAs, view_of_board
from app.web.boards.query import SplitAsked, TeamsAsked
from app.web.html.drawings import SVG
from app.web.html.rendering import render
from app.web.html.workspace import Place, workspace_of
from app.web.http.context import ServerHere
from app.web.http.routers import page_router
from app.web.http.viewer import ViewerHere

router = page_router()


@dataclass(frozen=True, slots=True)
class PictureShown:
    """A picture drawn for desktop and phone, with the addresses of its numbers and of its file."""

    picture: Picture
    wide: Markup
    narrow: Markup
    numbers: str
    file: str


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
        pictures=[_shown(one, (competition, phase, board), _query(split, teams, viewer.seen_as)) for one in pictures],
        most_teams=MOST_TEAMS,
    )


@router.get("/competitions/{competition}/phases/{phase}/boards/{board}/pictures/{picture}.svg")
def read_picture_file(
    server: ServerHere,
    viewer: ViewerHere,
    competition: str,
    phase: str,
    board: str,
    picture: str,
    split: SplitAsked = None,
    teams: TeamsAsked = [],  # noqa: B006 - FastAPI copies it
) -> Response:
    now = server.clock()
    with reading(server.engine) as session:
        found = find_competition(session, competition)
        where = find_board(found, phase, board)
        seen = look_at(session, *where, viewer.user, now, seen_as=viewer.seen_as)
        drawn = find_picture(pictures_of(session, seen, split=split, teams=teams), picture)
        context = f"{found.title} · {where[1].title} · {where[0].title}"
    name = f"{competition}-{phase}-{board}-{drawn.name}.svg"
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    return Response(draw_file(drawn, context), media_type=SVG, headers=headers)


def _shown(picture: Picture, place: tuple[str, str, str], query: str) -> PictureShown:
    drawn = draw(picture)
    return PictureShown(
        picture,
        Markup(drawn.wide),  # noqa: S704 - escaped by ElementTree
        Markup(drawn.narrow),  # noqa: S704 - escaped by ElementTree
        f"{api_links.picture(*place, picture.name)}{query}",
        f"{links.picture_file(*place, picture.name)}{query}",
    )


def _query(split: str | None, teams: Sequence[str], seen_as: SeenAs | None) -> str:
    """Return the query string that gives numbers and files the same choices as the page."""
    asked = [("split", split)] if split else []
    asked += [("teams", team) for team in teams]
    asked += [("as", seen_as.value)] if seen_as else []
    return f"?{urlencode(asked)}" if asked else ""
