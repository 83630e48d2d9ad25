"""The page of two rows of a board side by side."""

from __future__ import annotations

from typing import Annotated
from urllib.parse import urlencode
from uuid import UUID

from fastapi import Query, Response

from app.base import links
from app.boards.leaderboard import build_leaderboard
from app.boards.pictures.seen import row_names
from app.boards.row_comparison import choose_rows, compare_rows
from app.competitions.find import find_board, find_competition
from app.feedback.items import ItemComparison, Showing
from app.feedback.row_items import items_of_rows
from app.web.boards.query import HalfAsked
from app.web.html.rendering import render_page
from app.web.html.workspace import Place, workspace_of
from app.web.http.paths import BoardNamesHere
from app.web.http.routers import page_router
from app.web.http.visit import PageVisit
from app.web.submissions.comparison_page import Name, page_of_items

router = page_router()

#: Maximum number of ticked rows. A comparison needs two; if more are ticked by mistake, the page shows a message.
MOST_TICKED = 200


@router.get("/competitions/{competition}/phases/{phase}/boards/{board}/compare")
def read_row_comparison(
    visit: PageVisit,
    names: BoardNamesHere,
    row: Annotated[list[UUID], Query(max_length=MOST_TICKED)] = [],  # noqa: B006 - FastAPI copies it
    half: HalfAsked = None,
    show: Name = "",
    page: Annotated[int, Query(ge=1, le=2**31 - 1)] = 1,
) -> Response:
    """Show two rows side by side; missing ones default to the viewer's own row, then the top rows.

    show, page: which of their items are listed.
    """
    session, viewer = visit.session, visit.viewer
    competition = find_competition(session, names.competition)
    phase, board = find_board(competition, names.phase, names.board)
    leaderboard = build_leaderboard(session, phase, board, viewer, half=half)
    first, second = choose_rows(leaderboard, row)
    compared, items = None, ItemComparison()
    if first is not None and second is not None:
        compared = compare_rows(session, phase, board, leaderboard, (first, second))
        items = items_of_rows(session, phase, board, leaderboard, compared)
    showing = next((one for one in Showing if one == show), Showing.ALL)
    kept = [(name, str(value)) for name, value in {"as": viewer.seen_as, "part": half}.items() if value]
    chosen = [str(one.page_id) for one in (first, second) if one is not None]
    shown_names = zip(row_names(leaderboard.rows), leaderboard.rows, strict=True)
    return render_page(
        visit,
        "boards/compare.html",
        competition=competition,
        workspace=workspace_of(session, competition, viewer, "leaderboard", Place(phase, board.task, board)),
        phase=phase,
        board=board,
        leaderboard=leaderboard,
        compared=compared,
        options=[(str(one.page_id), name) for name, one in shown_names if one.page_id is not None],
        chosen=chosen,
        is_two=len(set(row)) == 2 or not row,
        kept=kept,
        items=items,
        items_at=f"{links.board_compare(*names)}?{urlencode([*kept, *(('row', one) for one in chosen)])}",
        showing=showing,
        paged=page_of_items(items.selected(showing), page),
        seen_as=viewer.seen_as,
    )
