"""The export API: boards as Markdown and LaTeX tables, and citations, limited to what the viewer may see."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Any, Literal

from fastapi import Query, Response
from pydantic import BaseModel, ConfigDict, Field

from app.base import links
from app.base.errors import InvalidForm
from app.boards.citations import cite_competition, cite_official
from app.boards.leaderboard import Leaderboard, build_leaderboard
from app.boards.snapshots import Official, find_official, official_board
from app.boards.tables import CARD, chosen_columns, latex_table, markdown_table
from app.competitions.columns import ranked_by
from app.competitions.find import find_board, find_competition
from app.models import Board, Competition, Phase, User
from app.web.boards.api import cache_control
from app.web.http.context import public_address
from app.web.http.errors import error_responses
from app.web.http.paths import BoardNames, BoardNamesHere, CompetitionName
from app.web.http.routers import api_router
from app.web.http.visit import ApiVisit, PublicVisit, Visit

router = api_router("exports")

TableFormat = Literal["markdown", "latex"]
_MEDIA = {"markdown": ("text/markdown", "md"), "latex": ("application/x-latex", "tex")}
_VARY = "Authorization, Cookie"
_BIBTEX: dict[str, Any] = {
    "description": "One entry.",
    "content": {
        "application/x-bibtex": {"schema": {"type": "string"}, "example": "@misc{demo,\n  year = {2026},\n}\n"}
    },
}


class TableQuery(BaseModel):
    """A board's table as somebody wants it for a paper."""

    model_config = ConfigDict(frozen=True)

    format: TableFormat = Field("markdown", description="format of the table")
    column: list[str] | None = Field(None, description="`metric split`; default: all columns")
    decimals: int | None = Field(None, ge=0, le=6, description="number of decimals; default: as on the board")
    official: bool = Field(False, description="the official board, frozen after the phase closed")
    intervals: bool = Field(False, description="with intervals as ±, rank ranges, and rules between clusters")


@dataclass(frozen=True, slots=True)
class _BoardToExport:
    """A board with its names; official: the frozen version, None for the live board."""

    competition: Competition
    phase: Phase
    board: Board
    leaderboard: Leaderboard
    official: Official | None = None


@router.get(
    "/competitions/{competition}/phases/{phase}/boards/{board}/table",
    operation_id="export_board",
    summary="A leaderboard as a table for a paper",
    description="Markdown, or LaTeX with booktabs; the best value of each column in bold (of those that compete). "
    "`column` may be given several times, as `metric split`, or `card NAME` for method cards; `official` gives "
    "for the official board, frozen after the phase closed.",
    response_class=Response,
    responses={
        200: {
            "description": "The table.",
            "content": {
                "text/markdown": {"schema": {"type": "string"}, "example": "| # | Team | F1 |\n| :-- | :-- | --: |\n"},
                "application/x-latex": {"schema": {"type": "string"}, "example": "\\begin{table}\n"},
            },
        },
        **error_responses(401, 404, 422),
    },
)
def export_board(
    visit: ApiVisit,
    names: BoardNamesHere,
    query: Annotated[TableQuery, Query()],
) -> Response:
    found = _board_to_export(visit, names, query.official)
    table = _chosen(found.leaderboard, query.column or [], query.decimals)
    caption = _caption(found, visit.now)
    writers: dict[TableFormat, Callable[[], str]] = {
        "markdown": lambda: markdown_table(table, caption, intervals=query.intervals),
        "latex": lambda: latex_table(
            table, caption, f"tab:{names.competition}-{names.board}", intervals=query.intervals
        ),
    }
    media, ending = _MEDIA[query.format]
    name = "-".join([names.competition, names.phase, names.board, *(["official"] if query.official else [])])
    return _text(writers[query.format](), media, f"{name}.{ending}", visit.viewer.user)


@router.get(
    "/competitions/{competition}/citation",
    operation_id="cite_competition",
    summary="How to cite a competition (BibTeX)",
    response_class=Response,
    responses={200: _BIBTEX, **error_responses(404)},
)
def read_citation(visit: PublicVisit, competition: CompetitionName) -> Response:
    found = find_competition(visit.session, competition)
    address = public_address(visit.request, visit.server, links.competition(found.name))
    return _text(cite_competition(found, address, visit.now), "application/x-bibtex", f"{competition}.bib", None)


@router.get(
    "/competitions/{competition}/phases/{phase}/boards/{board}/citation",
    operation_id="cite_board",
    summary="How to cite an official board (BibTeX)",
    response_class=Response,
    responses={
        200: _BIBTEX,
        **error_responses(401, 404, 422),
    },
)
def read_board_citation(
    visit: ApiVisit,
    names: BoardNamesHere,
    number: Annotated[
        int | None, Query(ge=1, le=2**31 - 1, description="number of the official board; default: the latest")
    ] = None,
) -> Response:
    whole = find_competition(visit.session, names.competition)
    of_phase, of_board = find_board(whole, names.phase, names.board)
    official = find_official(visit.session, of_phase, of_board, number, visit.viewer)
    version = official.snapshot.number
    address = public_address(visit.request, visit.server, links.official(*names, version))
    text = cite_official(whole, of_phase, of_board, official, address)
    return _text(
        text,
        "application/x-bibtex",
        f"{'-'.join(names)}-{version}.bib",
        visit.viewer.user,
    )


def _board_to_export(visit: Visit, place: BoardNames, official: bool) -> _BoardToExport:
    session, viewer = visit.session, visit.viewer
    competition = find_competition(session, place[0])
    phase, board = find_board(competition, place[1], place[2])
    if not official:
        live = build_leaderboard(session, phase, board, viewer)
        return _BoardToExport(competition, phase, board, live)
    last = find_official(session, phase, board, None, viewer)
    frozen = official_board(session, last.snapshot, viewer)
    return _BoardToExport(competition, phase, board, frozen, last)


def _chosen(leaderboard: Leaderboard, names: list[str], decimals: int | None) -> Leaderboard:
    try:
        return chosen_columns(leaderboard, names, decimals)
    except KeyError as unknown:
        names = [f"{column.metric} {column.split}" for column in leaderboard.columns]
        names += [f"{CARD} {column.name}" for column in leaderboard.card_columns]
        known = ", ".join(f"`{name}`" for name in names)
        missing = ", ".join(f"`{name}`" for name in unknown.args)
        raise InvalidForm(
            f"The board has no column {missing}; it has {known}.", fields={"column": "Unknown."}
        ) from None


def _caption(found: _BoardToExport, now: datetime) -> str:
    """Return the caption: the ranking score and the date, with the number of an official version."""
    kind, day = "", now
    if found.official is not None:
        kind = f", official results no. {found.official.snapshot.number}"
        kind += f", superseded by {found.official.successor.name}" if found.official.successor else ""
        day = found.official.snapshot.made_at
    number = ranked_by(found.leaderboard.columns, found.leaderboard.rank_by)
    return f"{found.competition.title}: {found.board.title}, {found.phase.title}{kind}. {number}. {day:%Y-%m-%d}."


def _text(text: str, media: str, name: str, user: User | None) -> Response:
    headers = {
        "Content-Disposition": f'attachment; filename="{name}"',
        "Cache-Control": cache_control(user),
        "Vary": _VARY,
    }
    return Response(text, media_type=media, headers=headers)
