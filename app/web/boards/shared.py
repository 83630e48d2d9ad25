"""Boards on other sites: as a preview picture of shared links, and as an embedded table.

Both show the public view, whatever cookies are sent. A board that is not public has no picture, and its table
states only that it is hidden.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Annotated

from fastapi import Query, Request, Response

from app.base import links
from app.base.db import reading
from app.base.errors import NotFound
from app.boards.axis import axis_of, baseline_value
from app.boards.leaderboard import board_version, build_leaderboard
from app.boards.rows import Leaderboard, LeaderboardRow
from app.competitions.find import find_board, find_competition
from app.figures.board_picture import BoardPicture, PictureRow, draw_board, rows_shown
from app.models import Board, BoardShown, Competition, Phase
from app.web.html.rendering import asset, environment
from app.web.html.sharing import whole_address
from app.web.html.words import format_score
from app.web.http.caching import is_known, not_modified, strong_etag
from app.web.http.context import ServerHere
from app.web.http.routers import page_router

router = page_router()

#: No scripts, no external resources; any site may frame it, since it has no forms and uses no cookies.
EMBED_POLICY = (
    "default-src 'none'; style-src 'self'; font-src 'self'; img-src 'self'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors *"
)
PICTURES_KEPT = 64


@router.get("/competitions/{competition}/phases/{phase}/boards/{board}/picture.png")
def read_picture(request: Request, server: ServerHere, competition: str, phase: str, board: str) -> Response:
    now = server.clock()
    with reading(server.engine) as session:
        found = find_competition(session, competition)
        of_phase, of_board = find_board(found, phase, board)
        etag = strong_etag(request, "picture", board_version(session, of_phase, of_board, None, now), found.title)
        headers = {"ETag": etag, "Cache-Control": "public, max-age=300"}
        if is_known(request, etag):
            return not_modified(headers)
        leaderboard = build_leaderboard(session, of_phase, of_board, None, now)
    if leaderboard.view.board is not BoardShown.PUBLIC:
        raise NotFound("There is no picture of a board whose scores are not public.")
    return Response(_drawn(_picture(found, of_phase, of_board, leaderboard)), media_type="image/png", headers=headers)


@lru_cache(maxsize=PICTURES_KEPT)
def _drawn(picture: BoardPicture) -> bytes:
    """Draw a picture, cached: the board's version changes with everything that could be in it."""
    return draw_board(picture)


def _picture(competition: Competition, phase: Phase, board: Board, leaderboard: Leaderboard) -> BoardPicture:
    axis, baseline = axis_of(leaderboard), baseline_value(leaderboard)
    column = leaderboard.columns[leaderboard.rank_by]

    def row_of(row: LeaderboardRow) -> PictureRow:
        value = row.cells[leaderboard.rank_by].value
        score = "–" if value is None else format_score(value, column)
        place = axis.place(value) if axis is not None and value is not None else None
        return PictureRow(str(row.rank or ""), row.team, score, place)

    shown, more = rows_shown([row_of(row) for row in leaderboard.rows])
    place = axis.place(baseline) if axis is not None and baseline is not None else None
    return BoardPicture(competition.title, f"{board.title}, {phase.title}", column.title, shown, more, place)


@router.get("/embed/competitions/{competition}/phases/{phase}/boards/{board}")
def read_embedded(
    request: Request,
    server: ServerHere,
    competition: str,
    phase: str,
    board: str,
    rows: Annotated[int, Query(ge=1, le=500)] = 20,
) -> Response:
    now = server.clock()
    with reading(server.engine) as session:
        found = find_competition(session, competition)
        of_phase, of_board = find_board(found, phase, board)
        html = _embedded((found, of_phase, of_board), build_leaderboard(session, of_phase, of_board, None, now),
                         whole_address(server, links.board(competition, phase, board)), rows)  # fmt: skip
    etag = strong_etag(request, "embed", html)
    headers = {"ETag": etag, "Cache-Control": "public, no-cache", "Content-Security-Policy": EMBED_POLICY}
    if is_known(request, etag):
        return not_modified(headers)
    return Response(html, media_type="text/html; charset=utf-8", headers=headers)


def _embedded(place: tuple[Competition, Phase, Board], leaderboard: Leaderboard, address: str, rows: int) -> str:
    competition, phase, board = place
    return environment().get_template("boards/embed.html").render(
        competition=competition,
        phase=phase,
        board=board,
        leaderboard=leaderboard,
        rows=leaderboard.rows[:rows],
        more=max(0, len(leaderboard.rows) - rows),
        address=address or links.board(competition.name, phase.name, board.name),
        styles=asset("embed.css"),
    )  # fmt: skip
