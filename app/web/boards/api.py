"""The API of boards: leaderboards, comparisons of two rows, teams; JSON and CSV, live or frozen.

Clients that have the current version receive 304. The viewer's own team is in `app.web.teams.api`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from fastapi import Depends, Path, Query, Response
from sqlalchemy.orm import Session

from app.base import api_links
from app.base.errors import NotFound
from app.boards.documents import (
    board_csv,
    board_json,
    describe_results,
    describe_row_comparison,
    describe_team,
    results_csv,
)
from app.boards.leaderboard import board_version, build_leaderboard
from app.boards.query import BoardQuery
from app.boards.row_comparison import choose_rows, compare_rows, find_rows
from app.boards.side_by_side import Results, build_results, find_task, results_version
from app.boards.snapshots import Official, find_official, list_official, official_board, official_version
from app.boards.team_rows import shown_orcids, team_rows
from app.boards.views import BoardOut, PublicTeamOut, ResultsOut, RowComparisonOut
from app.competitions.find import find_board, find_competition
from app.competitions.visibility import Viewer
from app.models import Competition, CompetitionTask, User
from app.teams.find import find_team
from app.web.boards.query import ApiQuery, HalfAsked, arrange_board, raise_if_unknown
from app.web.http.caching import is_known, not_modified, prefers_csv, strong_etag
from app.web.http.csv_answers import TAKES_BOM, CsvResponse
from app.web.http.errors import error_responses
from app.web.http.paths import BoardName, BoardNames, BoardNamesHere, CompetitionName, PhaseName, TaskName
from app.web.http.routers import api_router
from app.web.http.visit import ApiVisit, Visit
from evergold.scoring.halves import Half

router = api_router("boards")

PublicTeamName = Annotated[str, Path(examples=["Ada Lovelace"], description="name of the team as on a board")]


@router.get(
    "/competitions/{competition}/teams/{team:path}",
    operation_id="get_public_team",
    summary="A team on the boards",
    description=(
        "The team's rows on all boards, as these show them to you, and its systems with their method cards. 404 if "
        "no board that you can see has this name. For a former name of a team, only the rows of official boards "
        "with that name."
    ),
    responses=error_responses(401, 404, 422),
)
def read_public_team(visit: ApiVisit, competition: CompetitionName, team: PublicTeamName) -> PublicTeamOut:
    found = find_competition(visit.session, competition)
    rows = team_rows(visit.session, found, team, visit.viewer)
    return describe_team(found, team, rows, shown_orcids(visit.session, found, team, rows))


SnapshotNumber = Annotated[int, Path(ge=1, le=2**31 - 1, examples=[1])]
Format = Literal["json", "csv"]
FormatParameter = Annotated[Format | None, Query(description="default: by the Accept header")]
VARY = "Accept, Accept-Encoding, Authorization, Cookie"
_CSV_EXAMPLE = (
    "rank,team,kind,achieved_at,method,entries,source,macro_f1 zero_shot/all\r\n"
    "1,Ada Lovelace,team,2026-01-11T09:00:00+00:00,XLM-R large,3,,0.7037\r\n"
)
_CSV: dict[str, Any] = {"schema": {"type": "string"}, "example": _CSV_EXAMPLE}
_NOT_MODIFIED: dict[int | str, dict[str, Any]] = {304: {"description": "Not changed (If-None-Match)."}}
_RESPONSES: dict[int | str, dict[str, Any]] = {
    200: {"description": "The board.", "content": {"text/csv": _CSV}},
    **_NOT_MODIFIED,
    **error_responses(401, 404, 422),
}


@dataclass(frozen=True, slots=True)
class BoardRequest:
    """A request for a board."""

    visit: Visit
    query: BoardQuery
    format: Format
    half: Half | None = None


async def board_request(
    visit: ApiVisit,
    query: ApiQuery,
    half: HalfAsked = None,
    format: FormatParameter = None,  # noqa: A002
) -> BoardRequest:
    """Return the request with the format named in the query, or else the one preferred by the Accept header."""
    preferred: Format = "csv" if prefers_csv(visit.request.headers.get("accept", "")) else "json"
    return BoardRequest(visit, query, format or preferred, half)


BoardRequestHere = Annotated[BoardRequest, Depends(board_request)]


@router.get(
    "/competitions/{competition}/phases/{phase}/boards/{board}.csv",
    operation_id="get_board_csv",
    dependencies=TAKES_BOM,
    summary="A leaderboard as CSV",
    description=(
        "Scores have all decimals that the phase shows; an undefined score is an empty field. Text that a "
        "spreadsheet would take for a formula begins with an apostrophe."
    ),
    response_class=Response,
    responses=_RESPONSES,
)
def read_board_csv(
    visit: ApiVisit,
    names: BoardNamesHere,
    query: ApiQuery,
    half: HalfAsked = None,
) -> Response:
    request = BoardRequest(visit, query, "csv", half)
    return _answer(request, names)


@router.get(
    "/competitions/{competition}/phases/{phase}/boards/{board}",
    operation_id="get_board",
    dependencies=TAKES_BOM,
    summary="A leaderboard",
    description=(
        "JSON, or CSV by `format=csv` or `Accept: text/csv`. Send the `ETag` back in `If-None-Match`: the answer is "
        "304 as long as nothing changed. `visibility` shows what is hidden from you, and until when. The other "
        "parameters sort, search and filter the rows; ranks remain those of the whole board. 422 for names that the "
        "board does not have."
    ),
    response_model=BoardOut,
    responses=_RESPONSES,
)
def read_board(
    names: BoardNamesHere,
    wanted: BoardRequestHere,
) -> Response:
    return _answer(wanted, names)


TeamsToCompare = Annotated[
    list[str], Query(max_length=2, description="names of teams on the board; by default your own row and the top rows")
]


@router.get(
    "/competitions/{competition}/phases/{phase}/boards/{board}/compare",
    operation_id="compare_rows",
    summary="Two rows of a leaderboard side by side",
    description=(
        "All scores that the board shows of the two rows, and the test of the ranking score: p for this pair alone, "
        "and p corrected over all pairs of the board, which decides what is significant. `team=North "
        "Wind&team=Attic Window` names the rows; 404 if the board shows no scores of one of them, or has fewer than "
        "two rows with scores."
    ),
    responses=error_responses(401, 404, 422),
)
def compare_rows_of_board(
    visit: ApiVisit,
    names: BoardNamesHere,
    team: TeamsToCompare = [],  # noqa: B006 - FastAPI copies it
    half: HalfAsked = None,
) -> RowComparisonOut:
    session, viewer = visit.session, visit.viewer
    phase, board = find_board(find_competition(session, names.competition), names.phase, names.board)
    leaderboard = build_leaderboard(session, phase, board, viewer, half=half)
    first, second = choose_rows(leaderboard, find_rows(leaderboard, team))
    if first is None or second is None:
        raise NotFound("This board shows scores of fewer than two rows.")
    compared = compare_rows(session, phase, board, leaderboard, (first, second))
    return describe_row_comparison(names, leaderboard, compared)


@router.get(
    "/competitions/{competition}/phases/{phase}/boards/{board}/official",
    operation_id="get_official_board",
    dependencies=TAKES_BOM,
    summary="The official board, frozen after its phase closed",
    description=(
        "Frozen once the phase has ended and everything is scored; later changes do not affect it. If there are "
        "several, this is the latest; each has its own address in `official.link`. The formats are those of the "
        "board."
    ),
    response_model=BoardOut,
    responses=_RESPONSES,
)
def read_official(
    names: BoardNamesHere,
    wanted: BoardRequestHere,
) -> Response:
    return _answer(wanted, names, is_official=True)


@router.get(
    "/competitions/{competition}/phases/{phase}/boards/{board}/official/{number}",
    operation_id="get_official_board_by_number",
    dependencies=TAKES_BOM,
    summary="One of the official boards of a phase",
    description=(
        "The board at this address never changes. `official.superseded_by` names the results that supersede it; the "
        "CSV then has a last column `superseded_by`, and both formats have a `Link` to the successor."
    ),
    response_model=BoardOut,
    responses=_RESPONSES,
)
def read_official_by_number(
    competition: CompetitionName, phase: PhaseName, board: BoardName, number: SnapshotNumber, wanted: BoardRequestHere
) -> Response:
    return _answer(wanted, BoardNames(competition, phase, board), is_official=True, number=number)


def _answer(
    request: BoardRequest, place: BoardNames, *, is_official: bool = False, number: int | None = None
) -> Response:
    """Find the board, restrict it to what the viewer may see, and render it; return 304 if the client has this version.

    number: of the official board, None for the latest one.
    """
    visit = request.visit
    session, viewer = visit.session, visit.viewer
    competition = find_competition(session, place[0])
    phase, board = find_board(competition, *place[1:])
    frozen = find_official(session, phase, board, number, viewer) if is_official else None
    if frozen:
        official: Official | None = frozen
        version = official_version(session, frozen.snapshot, viewer)
    else:
        official = next(reversed(list_official(session, phase, board, viewer)), None)
        version = board_version(session, phase, board, viewer, half=request.half)
    tag = viewer_tag(session, competition, viewer)
    etag = strong_etag(visit.request, version, tag, *_tag_of(official), request.format, request.query)
    headers = {"ETag": etag, "Cache-Control": cache_control(viewer.user), "Vary": VARY}
    superseded_by = _superseded_by(place, frozen) if frozen else ""
    if superseded_by:
        headers["Link"] = f'<{superseded_by}>; rel="successor-version"'  # RFC 5829
    if is_known(visit.request, etag):
        return not_modified(headers)
    if frozen:
        whole = official_board(session, frozen.snapshot, viewer)
    else:
        whole = build_leaderboard(session, phase, board, viewer, half=request.half)
    shown = raise_if_unknown(arrange_board(session, competition, phase, board, whole, request.query))
    session.close()  # a long board is written without a connection
    if request.format == "json":
        text = board_json(competition, phase, board, shown, official)
        return Response(text, media_type="application/json", headers=headers)
    of_day = f"{frozen.snapshot.made_at if frozen else visit.now:%Y-%m-%d}"
    name = "-".join([*place, *(["official", str(frozen.snapshot.number)] if frozen else []), of_day])
    headers["Content-Disposition"] = f'attachment; filename="{name}.csv"'
    return CsvResponse(board_csv(shown, superseded_by), headers=headers)


def _superseded_by(place: BoardNames, frozen: Official) -> str:
    """Return the API address of the results that replace a frozen board; "" if there are none."""
    if frozen.successor is None:
        return ""
    later = frozen.successor.snapshot
    return api_links.official(*place, later.number) if later else api_links.board(*place)


def _tag_of(official: Official | None) -> tuple[object, ...]:
    if official is None:
        return (None,)
    return official.snapshot.number, official.successor.key if official.successor else None


def viewer_tag(session: Session, competition: Competition, viewer: Viewer) -> str:
    """Return a tag that is equal for viewers with the same rows marked as their own; part of ETags."""
    team = find_team(session, viewer.user, competition.id) if viewer.user else None
    return f"{team.id if team else ''} {viewer.seen_as or ''}"


def cache_control(user: User | None) -> str:
    """Return the Cache-Control header: caches must revalidate, and responses for a logged-in viewer are private."""
    return "private, no-cache" if user else "public, no-cache"


_VARY = "Accept-Encoding, Authorization, Cookie"
_RESULTS_CSV: dict[str, Any] = {
    "schema": {"type": "string"},
    "example": "team,kind,source,practice/zero-shot,evaluation/zero-shot\r\nAda Lovelace,team,,0.75,0.7037\r\n",
}


Written = Callable[[Competition, CompetitionTask, Results], Response]


@router.get(
    "/competitions/{competition}/tasks/{task}/results.csv",
    operation_id="get_results_csv",
    dependencies=TAKES_BOM,
    summary="A task's results side by side, as CSV",
    description=(
        "Scores have all decimals that the phases show; a missing value is an empty field. Text that a spreadsheet "
        "would take for a formula begins with an apostrophe."
    ),
    response_class=Response,
    responses={200: {"description": "The results.", "content": {"text/csv": _RESULTS_CSV}}}
    | _NOT_MODIFIED
    | error_responses(401, 404, 422),
)
def read_results_csv(visit: ApiVisit, competition: CompetitionName, task: TaskName) -> Response:
    return _answer_results(visit, (competition, task), _csv)


@router.get(
    "/competitions/{competition}/tasks/{task}/results",
    operation_id="get_results",
    summary="A task's results side by side: all phases, all boards",
    description="A column for each phase and board of the task, a row for each team, baseline and published system; a "
    "cell has the ranking score of the team's row on that board. Send the `ETag` back in `If-None-Match`: the answer "
    "is 304 as long as nothing changed.",
    response_model=ResultsOut,
    responses=_NOT_MODIFIED | error_responses(401, 404, 422),
)
def read_results(visit: ApiVisit, competition: CompetitionName, task: TaskName) -> Response:
    return _answer_results(visit, (competition, task), _json)


def _answer_results(visit: Visit, place: tuple[str, str], written: Written) -> Response:
    session, viewer = visit.session, visit.viewer
    competition = find_competition(session, place[0])
    task = find_task(competition, place[1])
    version = results_version(session, competition, task, viewer)
    etag = strong_etag(visit.request, version, viewer_tag(session, competition, viewer), visit.request.url.path)
    headers = {"ETag": etag, "Cache-Control": cache_control(viewer.user), "Vary": _VARY}
    if is_known(visit.request, etag):
        return not_modified(headers)
    results = build_results(session, competition, task, viewer)
    session.close()
    response = written(competition, task, results)
    response.headers.update(headers)
    return response


def _json(competition: Competition, task: CompetitionTask, results: Results) -> Response:
    return Response(describe_results(competition, task, results).model_dump_json(), media_type="application/json")


def _csv(competition: Competition, task: CompetitionTask, results: Results) -> Response:
    headers = {"Content-Disposition": f'attachment; filename="{competition.name}-{task.name}.csv"'}
    return CsvResponse(results_csv(results), headers=headers)
