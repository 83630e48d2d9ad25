"""The API of a board's pictures: the data drawn on pages; clients that have the current version receive 304."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

from fastapi import Path, Response

from app.boards.leaderboard import board_version
from app.boards.pictures.gallery import find_picture, pictures_of
from app.boards.pictures.seen import look_at
from app.boards.pictures.views import PictureOut, PicturesOut, describe_picture, describe_pictures
from app.competitions.find import find_board, find_competition
from app.competitions.visibility import view_of_board
from app.web.boards.api import cache_control, viewer_tag
from app.web.boards.query import SplitAsked, TeamsAsked
from app.web.http.caching import is_known, not_modified, strong_etag
from app.web.http.errors import error_responses
from app.web.http.paths import BoardNames, BoardNamesHere
from app.web.http.routers import api_router
from app.web.http.visit import ApiVisit, Visit

router = api_router("boards")

_VARY = "Accept-Encoding, Authorization, Cookie"
_RESPONSES: dict[int | str, dict[str, Any]] = {
    304: {"description": "Not changed (If-None-Match)."},
    **error_responses(401, 404, 422),
}
PictureName = Annotated[str, Path(examples=["progress"])]


@router.get(
    "/competitions/{competition}/phases/{phase}/boards/{board}/pictures",
    operation_id="list_pictures",
    summary="The pictures of a leaderboard",
    description="The board's pictures, each described in words; empty while the board shows no scores.",
    response_model=PicturesOut,
    responses=_RESPONSES,
)
def list_pictures(visit: ApiVisit, names: BoardNamesHere) -> Response:
    return _answer(visit, names, None, None, ())


@router.get(
    "/competitions/{competition}/phases/{phase}/boards/{board}/pictures/{picture}",
    operation_id="get_picture",
    summary="A picture of a leaderboard, in numbers",
    description=(
        "The numbers that the page draws and lists in its table. They come from the board as you see it: without "
        "names, decimals and scores that it hides."
    ),
    response_model=PictureOut,
    responses=_RESPONSES,
)
def get_picture(
    visit: ApiVisit,
    names: BoardNamesHere,
    picture: PictureName,
    split: SplitAsked = None,
    teams: TeamsAsked = [],  # noqa: B006 - FastAPI copies it
) -> Response:
    return _answer(visit, names, picture, split, teams)


def _answer(
    visit: Visit,
    place: BoardNames,
    name: str | None,
    split: str | None,
    teams: Sequence[str],
) -> Response:
    """Return one picture, or the list if no name is given."""
    session, viewer = visit.session, visit.viewer
    competition = find_competition(session, place[0])
    where = find_board(competition, *place[1:])
    version = board_version(session, *where, viewer)
    etag = strong_etag(visit.request, version, viewer_tag(session, competition, viewer), name, split, list(teams))
    headers = {"ETag": etag, "Cache-Control": cache_control(viewer.user), "Vary": _VARY}
    if is_known(visit.request, etag):
        return not_modified(headers)
    seen = look_at(session, *where, viewer)
    pictures = pictures_of(session, seen, split=split, teams=teams)
    view = view_of_board(session, *where, viewer)
    session.close()
    found = (
        describe_pictures(place, pictures, view)
        if name is None
        else describe_picture(place, find_picture(pictures, name))
    )
    return Response(found.model_dump_json(), media_type="application/json", headers=headers)
