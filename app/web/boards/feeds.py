"""Feeds: a competition's dates, and a board's rows, as the public sees them, since feed readers do not log in."""

from __future__ import annotations

import re

from fastapi import Request, Response

from app.base import links
from app.base.db import reading
from app.boards.feeds import board_feed, calendar
from app.boards.leaderboard import board_version, build_leaderboard
from app.boards.snapshots import list_official
from app.competitions.find import find_board, find_competition
from app.competitions.visibility import Viewer
from app.web.boards.api import BoardName
from app.web.http.caching import is_known, not_modified, strong_etag
from app.web.http.context import ServerHere, public_address
from app.web.http.errors import error_responses
from app.web.http.paths import CompetitionName, PhaseName
from app.web.http.routers import api_router

router = api_router("feeds")

_STAMP = re.compile(rb"(DTSTAMP:|<generator).*")


@router.get(
    "/competitions/{competition}/dates.ics",
    operation_id="get_calendar",
    summary="A competition's dates as a calendar",
    description="iCalendar, to subscribe to: events move when organisers move a date.",
    response_class=Response,
    responses={
        200: {
            "description": "The calendar.",
            "content": {"text/calendar": {"schema": {"type": "string"}, "example": "BEGIN:VCALENDAR\r\n"}},
        },
        304: {"description": "You have it already (If-None-Match)."},
        **error_responses(404),
    },
)
def read_calendar(request: Request, server: ServerHere, competition: CompetitionName) -> Response:
    with reading(server.engine) as session:
        found = find_competition(session, competition)
    text = calendar(found, public_address(request, server, links.competition(found.name)), server.clock())
    etag = strong_etag(request, _STAMP.sub(b"", text).decode())
    headers = {"ETag": etag, "Cache-Control": "public, no-cache"}
    if is_known(request, etag):
        return not_modified(headers)
    headers["Content-Disposition"] = f'inline; filename="{found.name}.ics"'
    return Response(text, media_type="text/calendar", headers=headers)


@router.get(
    "/competitions/{competition}/phases/{phase}/boards/{board}/feed.atom",
    operation_id="get_board_feed",
    summary="A leaderboard's rows as a feed",
    description="Atom, latest entry first, as everybody may see the board: empty while it is hidden. Before them "
    "its official versions, each with what supersedes it.",
    response_class=Response,
    responses={
        200: {
            "description": "The feed.",
            "content": {"application/atom+xml": {"schema": {"type": "string"}, "example": "<feed/>"}},
        },
        304: {"description": "You have it already (If-None-Match)."},
        **error_responses(404),
    },
)
def read_board_feed(
    request: Request, server: ServerHere, competition: CompetitionName, phase: PhaseName, board: BoardName
) -> Response:
    now = server.clock()
    with reading(server.engine) as session:
        whole = find_competition(session, competition)
        of_phase, of_board = find_board(whole, phase, board)
        official = list_official(session, of_phase, of_board, Viewer(None, now))
        versions = [(one.snapshot.id, one.successor.key if one.successor else None) for one in official]
        etag = strong_etag(request, "atom", board_version(session, of_phase, of_board, Viewer(None, now)), versions)
        headers = {"ETag": etag, "Cache-Control": "public, no-cache"}
        if is_known(request, etag):
            return not_modified(headers)
        shown = build_leaderboard(session, of_phase, of_board, Viewer(None, now))
    page = public_address(request, server, links.board(competition, phase, board))
    feed = public_address(request, server, request.url.path)
    text = board_feed((whole, of_phase, of_board), shown, official, page, feed)
    return Response(text, media_type="application/atom+xml", headers=headers)
