"""Feeds of a competition's dates and of a board's rows, as the public sees them, because feed readers do not log in."""

from __future__ import annotations

import re

from fastapi import Response

from app.base import links
from app.boards.feeds import board_feed, calendar
from app.boards.leaderboard import board_version, build_leaderboard
from app.boards.snapshots import list_official
from app.competitions.find import find_board, find_competition
from app.web.http.caching import is_known, not_modified, strong_etag
from app.web.http.context import public_address
from app.web.http.errors import error_responses
from app.web.http.paths import BoardNamesHere, CompetitionName
from app.web.http.routers import api_router
from app.web.http.visit import PublicVisit

router = api_router("feeds")

_STAMP = re.compile(rb"(DTSTAMP:|<generator).*")


@router.get(
    "/competitions/{competition}/dates.ics",
    operation_id="get_calendar",
    summary="A competition's dates as a calendar",
    description="iCalendar to subscribe to: if organisers move a date, the event moves as well.",
    response_class=Response,
    responses={
        200: {
            "description": "The calendar.",
            "content": {"text/calendar": {"schema": {"type": "string"}, "example": "BEGIN:VCALENDAR\r\n"}},
        },
        304: {"description": "Not changed (If-None-Match)."},
        **error_responses(404),
    },
)
def read_calendar(visit: PublicVisit, competition: CompetitionName) -> Response:
    found = find_competition(visit.session, competition)
    text = calendar(found, public_address(visit.request, visit.server, links.competition(found.name)), visit.now)
    etag = strong_etag(visit.request, _STAMP.sub(b"", text).decode())
    headers = {"ETag": etag, "Cache-Control": "public, no-cache"}
    if is_known(visit.request, etag):
        return not_modified(headers)
    headers["Content-Disposition"] = f'inline; filename="{found.name}.ics"'
    return Response(text, media_type="text/calendar", headers=headers)


@router.get(
    "/competitions/{competition}/phases/{phase}/boards/{board}/feed.atom",
    operation_id="get_board_feed",
    summary="A leaderboard's rows as a feed",
    description=(
        "Atom, latest entry first, as the board is shown to the public: empty while it is hidden. Official boards "
        "come first, each with the board that supersedes it."
    ),
    response_class=Response,
    responses={
        200: {
            "description": "The feed.",
            "content": {"application/atom+xml": {"schema": {"type": "string"}, "example": "<feed/>"}},
        },
        304: {"description": "Not changed (If-None-Match)."},
        **error_responses(404),
    },
)
def read_board_feed(visit: PublicVisit, names: BoardNamesHere) -> Response:
    session, viewer = visit.session, visit.viewer
    whole = find_competition(session, names.competition)
    of_phase, of_board = find_board(whole, names.phase, names.board)
    official = list_official(session, of_phase, of_board, viewer)
    versions = [(one.snapshot.id, one.successor.key if one.successor else None) for one in official]
    etag = strong_etag(visit.request, "atom", board_version(session, of_phase, of_board, viewer), versions)
    headers = {"ETag": etag, "Cache-Control": "public, no-cache"}
    if is_known(visit.request, etag):
        return not_modified(headers)
    shown = build_leaderboard(session, of_phase, of_board, viewer)
    page = public_address(visit.request, visit.server, links.board(*names))
    feed = public_address(visit.request, visit.server, visit.request.url.path)
    text = board_feed((whole, of_phase, of_board), shown, official, page, feed)
    return Response(text, media_type="application/atom+xml", headers=headers)
