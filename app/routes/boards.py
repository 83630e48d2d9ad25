"""The API of leaderboards: JSON and CSV, each sent again only when it would be another."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Path, Query, Request, Response
from sqlalchemy.orm import Session

from app.api import links
from app.api.boards import BoardOut, board_csv, board_out
from app.db import reading
from app.leaderboard import Leaderboard, board_version, build_leaderboard
from app.models import Board, Competition, Phase, User
from app.queries import find_board, find_competition
from app.routes.caching import is_known, not_modified, strong_etag
from app.routes.competitions import CompetitionName, PhaseName
from app.routes.errors import error_responses
from app.routes.identity import ApiVisitor, Visitor
from app.routes.serving import Serving, ServingHere
from app.teams import find_team

router = APIRouter(prefix=links.API, tags=["boards"])

BoardName = Annotated[str, Path(examples=["zero-shot"])]
Format = Literal["json", "csv"]
_VARY = "Accept, Accept-Encoding, Authorization, Cookie"
_CSV_EXAMPLE = (
    "rank,team,kind,achieved_at,method,entries,source,macro_f1 zero_shot/all\r\n"
    "1,Ada Lovelace,team,2026-01-11T09:00:00+00:00,XLM-R large,3,,0.7037\r\n"
)
_CSV: dict[str, Any] = {"schema": {"type": "string"}, "example": _CSV_EXAMPLE}
_NOT_MODIFIED: dict[int | str, dict[str, Any]] = {304: {"description": "You have it already (If-None-Match)."}}


@router.get(
    "/competitions/{competition}/phases/{phase}/boards/{board}.csv",
    operation_id="get_board_csv",
    summary="A leaderboard as CSV",
    description="Full precision; an undefined score is an empty field. Text that a spreadsheet would take for a "
    "formula begins with an apostrophe.",
    response_class=Response,
    responses={200: {"description": "The board.", "content": {"text/csv": _CSV}}}
    | _NOT_MODIFIED
    | error_responses(401, 404),
)
def read_board_csv(
    request: Request,
    serving: ServingHere,
    visitor: ApiVisitor,
    competition: CompetitionName,
    phase: PhaseName,
    board: BoardName,
) -> Response:
    return _board_response(request, serving, visitor, (competition, phase, board), "csv")


@router.get(
    "/competitions/{competition}/phases/{phase}/boards/{board}",
    operation_id="get_board",
    summary="A leaderboard",
    description="JSON, or CSV by `format=csv` or `Accept: text/csv`. Send the `ETag` back in `If-None-Match`: the "
    "answer is 304 as long as nothing changed.",
    response_model=BoardOut,
    responses={200: {"description": "The board.", "content": {"text/csv": _CSV}}}
    | _NOT_MODIFIED
    | error_responses(401, 404, 422),
)
def read_board(
    request: Request,
    serving: ServingHere,
    visitor: ApiVisitor,
    competition: CompetitionName,
    phase: PhaseName,
    board: BoardName,
    format: Annotated[Format | None, Query(description="default: by the Accept header")] = None,  # noqa: A002
) -> Response:
    chosen = format or ("csv" if _prefers_csv(request.headers.get("accept", "")) else "json")
    return _board_response(request, serving, visitor, (competition, phase, board), chosen)


def _board_response(
    request: Request, serving: Serving, visitor: Visitor, place: tuple[str, str, str], chosen: Format
) -> Response:
    competition_name, phase_name, board_name = place
    with reading(serving.engine) as session:
        competition = find_competition(session, competition_name)
        phase, board = find_board(competition, phase_name, board_name)
        etag = board_etag(request, session, competition, phase, board, visitor.user, chosen)
        headers = {"ETag": etag, "Cache-Control": cache_control(visitor.user), "Vary": _VARY}
        if is_known(request, etag):
            return not_modified(headers)
        leaderboard = build_leaderboard(session, phase, board, visitor.user, serving.clock())
    name = "-".join(place)
    return _WRITERS[chosen](competition, phase, board, leaderboard, name, headers)


def board_etag(
    request: Request,
    session: Session,
    competition: Competition,
    phase: Phase,
    board: Board,
    viewer: User | None,
    *more: object,
) -> str:
    """A tag of all that this viewer's board depends on; `more`: whatever else the answer does."""
    team = find_team(session, viewer, competition.id) if viewer else None
    return strong_etag(request, board_version(session, phase, board), team.id if team else None, *more)


def cache_control(viewer: User | None) -> str:
    """Caches may keep it, but ask each time; what is marked for a viewer is the viewer's alone."""
    return "private, no-cache" if viewer else "public, no-cache"


def _prefers_csv(accept: str) -> bool:
    """Whether text/csv is named, and not after JSON."""
    kinds = [kind.partition(";")[0].strip() for kind in accept.split(",")]
    return "text/csv" in kinds and ("application/json" not in kinds[: kinds.index("text/csv")])


def _json(
    competition: Competition, phase: Phase, board: Board, found: Leaderboard, name: str, headers: dict[str, str]
) -> Response:
    text = board_out(competition, phase, board, found).model_dump_json()
    return Response(text, media_type="application/json", headers=headers)


def _csv(
    competition: Competition, phase: Phase, board: Board, found: Leaderboard, name: str, headers: dict[str, str]
) -> Response:
    headers = {**headers, "Content-Disposition": f'attachment; filename="{name}.csv"'}
    return Response(board_csv(found), media_type="text/csv", headers=headers)


_WRITERS: dict[Format, Callable[..., Response]] = {"json": _json, "csv": _csv}
