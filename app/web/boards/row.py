"""The page of a board row, which scripts show below the row: method card, signatures, every slice."""

from __future__ import annotations

from urllib.parse import urlencode
from uuid import UUID

from fastapi import Request, Response

from app.base import links
from app.base.db import reading
from app.boards.details import find_row, scores_of_row, tests_of_row
from app.boards.leaderboard import build_leaderboard
from app.boards.snapshots import find_official, official_board
from app.competitions.find import find_board, find_competition
from app.web.boards.query import HalfAsked
from app.web.html.rendering import render
from app.web.html.workspace import Place, workspace_of
from app.web.http.context import Server, ServerHere
from app.web.http.routers import page_router
from app.web.http.schemas import RowId
from app.web.http.viewer import Viewer, ViewerHere
from app.web.reports.pages import scores_table, signatures
from evergold.scoring.halves import Half

router = page_router()


@router.get("/competitions/{competition}/phases/{phase}/boards/{board}/rows/{submission_id}")
def read_row(
    request: Request,
    server: ServerHere,
    viewer: ViewerHere,
    competition: str,
    phase: str,
    board: str,
    submission_id: UUID,
    sort: str = "",
    half: HalfAsked = None,
) -> Response:
    return _row_page(request, server, viewer, (competition, phase, board), submission_id, None, sort, half)


@router.get("/competitions/{competition}/phases/{phase}/boards/{board}/official/{number}/rows/{submission_id}")
def read_official_row(
    request: Request,
    server: ServerHere,
    viewer: ViewerHere,
    competition: str,
    phase: str,
    board: str,
    number: RowId,
    submission_id: UUID,
    sort: str = "",
) -> Response:
    return _row_page(request, server, viewer, (competition, phase, board), submission_id, number, sort)


def _row_page(
    request: Request,
    server: Server,
    viewer: Viewer,
    place: tuple[str, str, str],
    submission_id: UUID,
    number: int | None,
    sort: str,
    half: Half | None = None,
) -> Response:
    """Return the page of a row; number: of the official board, None for the live one."""
    now, user, seen_as = server.clock(), viewer.user, viewer.seen_as
    with reading(server.engine) as session:
        competition = find_competition(session, place[0])
        phase, board = find_board(competition, *place[1:])
        successor = None
        if number is None:
            leaderboard = build_leaderboard(session, phase, board, user, now, seen_as=seen_as, half=half)
        else:
            official = find_official(session, phase, board, number, user, now, seen_as=seen_as)
            leaderboard = official_board(session, official.snapshot, user, now, seen_as=seen_as)
            successor = official.successor
        row = find_row(leaderboard, submission_id)
        scores = scores_of_row(session, leaderboard, row)
        workspace = workspace_of(session, competition, viewer, now, "leaderboard", Place(phase, board.task, board))
    here = links.board_row(*place, submission_id, number)

    def linked(wanted: str) -> str:
        asked = {"sort": wanted, "as": seen_as or "", "part": half or ""}
        return f"{here}?{urlencode({name: value for name, value in asked.items() if value})}#scores"

    return render(
        request,
        "boards/row.html",
        competition=competition,
        workspace=workspace,
        phase=phase,
        board=board,
        number=number,
        successor=successor,
        leaderboard=leaderboard,
        row=row,
        address=here,
        table=scores_table(board.task.task_type, scores, leaderboard.precision, sort, linked) if scores else None,
        signatures=signatures(tuple(scores)),
        tests=tests_of_row(leaderboard, row),
        seen_as=seen_as,
    )
