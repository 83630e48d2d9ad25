"""The page of a leaderboard."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Annotated, Any

from fastapi import Query, Response
from sqlalchemy.orm import Session

from app.base import links
from app.base.errors import NotFound
from app.boards.commands import commands_of
from app.boards.entries import published_round
from app.boards.leaderboard import Leaderboard, LeaderboardRow, build_leaderboard
from app.boards.query import BoardQuery, Move, moves, since_moment, with_aspect
from app.boards.rows import scored_with
from app.boards.side_by_side import short_titles
from app.boards.snapshots import Official, find_official, last_snapshot, list_official, official_board
from app.competitions.find import boards_of, find_board, find_competition
from app.competitions.limits import phase_state
from app.competitions.tracks import tracks_of
from app.competitions.visibility import SeenAs, Viewer, task_in_phase
from app.models import Board, BoardShown, Competition, Phase
from app.runs.report import aggregates_of
from app.runs.workers import waiting_notice
from app.standings.check import TooFarBack
from app.web.boards.query import HalfAsked, PageQuery, arrange_board, languages_of
from app.web.boards.table import TableShown, known_metrics, table_of
from app.web.boards.table_rows import Addresses
from app.web.html.drawings import Drawable, drawings_of, svg_response
from app.web.html.rendering import render_page
from app.web.html.sharing import share_board
from app.web.html.workspace import Option, Place, PlaceOptions, workspace_of
from app.web.http.paths import BoardNames, BoardNamesHere
from app.web.http.routers import page_router
from app.web.http.schemas import RowId
from app.web.http.visit import PageVisit, Visit
from app.web.reports.probing_figures import Choice, choices, chosen_split, compared_figures, title_of
from evergold.moments import date_words
from evergold.scoring.halves import Half

#: Maximum number of systems drawn, the first of the board: more would be unreadable, and many reports to load.
SYSTEMS_DRAWN = 10

#: A system's name on the board, and the report of its run.
System = tuple[str, Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class Picture:
    """The figures of a board.

    title: of the chosen split; systems: number of systems drawn; left_out: number of those not drawn.
    """

    title: str
    split: str
    choices: tuple[Choice, ...]
    figures: Sequence[Drawable]
    systems: int = 0
    left_out: int = 0


def picture_of(session: Session, board: Board, leaderboard: Leaderboard, wanted: str | None) -> Picture | None:
    """Return the board's figures; None if its task type has none, or the board is empty.

    leaderboard: as the viewer sees it. Raise NotFound for a split without entries.
    """
    draw = PICTURES.get(board.task.task_type)
    rows = [row for row in leaderboard.rows if row.run_id is not None]
    if draw is None or not rows:
        return None
    first = rows[:SYSTEMS_DRAWN]
    runs = [row.run_id for row in first if row.run_id is not None]
    reports = aggregates_of(session, runs, leaderboard.precision)
    systems = [(_name(row, rows), reports[row.run_id]) for row in first if row.run_id in reports]
    picture = draw(systems, wanted, board.rank_split)
    return replace(picture, systems=len(first), left_out=len(rows) - len(first)) if picture else None


def _name(row: LeaderboardRow, rows: Sequence[LeaderboardRow]) -> str:
    """Return the team's name, followed by the method if the team has several rows."""
    is_alone = sum(other.team == row.team for other in rows) == 1
    return row.team if is_alone or not row.method else f"{row.team}: {row.method}"


def _probing_picture(systems: Sequence[System], wanted: str | None, rank_split: str) -> Picture | None:
    splits = list(dict.fromkeys(split for _, report in systems for split in report.get("splits", {})))
    if not splits:
        return None
    chosen = chosen_split(splits, wanted, rank_split)
    entered = [(name, report["splits"][chosen]) for name, report in systems if chosen in report["splits"]]
    ideals = systems[0][1]["ideals"]
    title = title_of(chosen)
    return Picture(title, chosen, choices(splits, chosen), compared_figures(entered, ideals, title))


PICTURES: dict[str, Callable[[Sequence[System], str | None, str], Picture | None]] = {
    "idiomaticity-probing": _probing_picture,
}


router = page_router()

#: The split of the board's figures, if its task type has figures.
SplitShown = Annotated[str | None, Query(alias="split")]


@dataclass(frozen=True, slots=True)
class MetricShown:
    """A metric of the board: what it measures, and which direction is better."""

    title: str
    description: str
    higher_is_better: bool


@router.get("/competitions/{competition}/phases/{phase}/boards/{board}")
def read_board(
    visit: PageVisit,
    names: BoardNamesHere,
    query: PageQuery,
    split: SplitShown = None,
    half: HalfAsked = None,
) -> Response:
    session, viewer = visit.session, visit.viewer
    now, seen_as = visit.now, viewer.seen_as
    found = find_competition(session, names.competition)
    phase, board = find_board(found, names.phase, names.board)
    leaderboard = build_leaderboard(session, phase, board, viewer, half=half)
    snapshot = last_snapshot(session, phase, board, viewer)
    picture = picture_of(session, board, leaderboard, split)
    waiting = _waiting(session, phase, board, leaderboard, now)
    human_round = published_round(session, phase, board)
    commands = commands_of(session, phase, board, leaderboard)
    place = phase, board
    try:
        moved, too_far = _moves(session, place, viewer, leaderboard, query), ""
    except TooFarBack as error:
        moved, query, too_far = None, replace(query, since=""), error.message
    teams_end = links.as_seen_by("", seen_as)
    end = _with_part(teams_end, half)
    addresses = Addresses(links.board_rows(*names), end, links.public_teams(names.competition), teams_end)
    table = _table(session, found, place, leaderboard, query, addresses, kept_of(viewer, split, half), moved)
    table = replace(table, problems=[*table.problems, too_far]) if too_far else table
    where = Place(phase, board.task, board)
    workspace = workspace_of(session, found, viewer, "leaderboard", where)
    figures = links.board_figures(*names)
    return render_page(
        visit,
        "boards/page.html",
        competition=found,
        workspace=workspace,
        phase=phase,
        state=phase_state(phase, now),
        board=board,
        options=_options(found, phase, board, seen_as),
        part_options=_parts(links.as_seen_by(links.board(*names), seen_as), leaderboard),
        leaderboard=leaderboard,
        table=table,
        sharing=share_board(
            visit.server,
            found,
            phase,
            board,
            is_public=leaderboard.view.participant_view.board is BoardShown.PUBLIC,
        ),
        with_history=leaderboard.view.board is BoardShown.PUBLIC,
        metrics=_metrics(board, leaderboard),
        signatures=_signatures(leaderboard),
        sources=dict.fromkeys(row.source for row in leaderboard.rows if row.source),
        human_round=human_round,
        commands=commands,
        picture=picture,
        waiting=waiting,
        scored_with=scored_with(leaderboard),
        drawings=drawings_of(picture.figures, figures, picture.split) if picture else [],
        titles={one.name: one.title for one in found.phases},
        snapshot=snapshot,
        seen_as=seen_as,
        now=now,
    )


@router.get("/competitions/{competition}/phases/{phase}/boards/{board}/official")
def read_official(
    visit: PageVisit,
    names: BoardNamesHere,
    query: PageQuery,
) -> Response:
    return _official_page(visit, names, None, query)


@router.get("/competitions/{competition}/phases/{phase}/boards/{board}/official/{number}")
def read_official_by_number(
    visit: PageVisit,
    names: BoardNamesHere,
    number: RowId,
    query: PageQuery,
) -> Response:
    return _official_page(visit, names, number, query)


def _official_page(
    visit: Visit,
    names: BoardNames,
    number: int | None,
    query: BoardQuery,
) -> Response:
    """Return the page of a frozen board; number: None for the latest one."""
    session, viewer = visit.session, visit.viewer
    now, seen_as = visit.now, viewer.seen_as
    found = find_competition(session, names.competition)
    phase, board = find_board(found, names.phase, names.board)
    official = find_official(session, phase, board, number, viewer)
    every = list_official(session, phase, board, viewer)
    snapshot = official.snapshot
    leaderboard = official_board(session, snapshot, viewer)
    # A frozen board has no history, and its rows are compared on the live one.
    shown_query = replace(query, since="", pick=False)
    end = links.as_seen_by("", seen_as)
    addresses = Addresses(links.board_rows(*names, snapshot.number), end, links.public_teams(names.competition), end)
    table = _table(session, found, (phase, board), leaderboard, shown_query, addresses, kept_of(viewer))
    workspace = workspace_of(session, found, viewer, "leaderboard", Place(phase, board.task, board))
    return render_page(
        visit,
        "boards/official.html",
        competition=found,
        workspace=workspace,
        phase=phase,
        board=board,
        state=phase_state(phase, now),
        options=_options(found, phase, board, seen_as),
        closings=[
            (
                _version_title(one),
                links.as_seen_by(links.official(*names, one.snapshot.number), seen_as),
                one.snapshot.number == snapshot.number,
            )
            for one in every
        ],
        leaderboard=leaderboard,
        table=table,
        with_history=False,
        metrics=_metrics(board, leaderboard),
        signatures=_signatures(leaderboard),
        titles={one.name: one.title for one in found.phases},
        snapshot=snapshot,
        successor=official.successor,
        seen_as=seen_as,
        now=now,
    )


@router.get("/competitions/{competition}/phases/{phase}/boards/{board}/figures/{name}.svg")
def read_figure(
    visit: PageVisit,
    names: BoardNamesHere,
    name: str,
    split: SplitShown = None,
) -> Response:
    """Return a figure of the board's picture as a file."""
    session = visit.session
    place = find_board(find_competition(session, names.competition), names.phase, names.board)
    leaderboard = build_leaderboard(session, *place, visit.viewer)
    picture = picture_of(session, place[1], leaderboard, split)
    if picture is None:
        raise NotFound("This board has no figures.")
    return svg_response(picture.figures, name, f"{names.competition}-{names.phase}-{picture.split.replace('/', '-')}")


def kept_of(viewer: Viewer, split: str | None = None, half: Half | None = None) -> list[tuple[str, str]]:
    """Return those query parameters of the page that links in the table carry over."""
    found = {"as": viewer.seen_as, "split": split, "part": half}
    return [(name, str(value)) for name, value in found.items() if value]


def _table(
    session: Session,
    competition: Competition,
    place: tuple[Phase, Board],
    leaderboard: Leaderboard,
    query: BoardQuery,
    addresses: Addresses,
    kept: list[tuple[str, str]],
    moved: dict[tuple[object, ...], Move] | None = None,
) -> TableShown:
    """Return the table for this query."""
    found = arrange_board(session, competition, *place, leaderboard, with_aspect(leaderboard, query))
    tracks = tracks_of(competition)
    return table_of(found, query, place[1], languages_of(session, *place), tracks, addresses, kept=kept, moved=moved)


def _moves(
    session: Session,
    place: tuple[Phase, Board],
    viewer: Viewer,
    leaderboard: Leaderboard,
    query: BoardQuery,
) -> dict[tuple[object, ...], Move] | None:
    """Return the changes of rank since the requested day; None if none was requested, or the board is not public."""
    until = since_moment(query)
    if until is None or leaderboard.view.board is not BoardShown.PUBLIC:
        return None
    then = build_leaderboard(session, *place, viewer, until=until, half=leaderboard.half)
    return moves(leaderboard, then)


def _waiting(session: Session, phase: Phase, board: Board, leaderboard: Leaderboard, now: datetime) -> str:
    """Return a notice that submissions are waiting for a worker, if this board would show their scores; else ""."""
    if leaderboard.view.board is not BoardShown.PUBLIC:
        return ""
    return waiting_notice(session, task_in_phase(session, phase, board), board.task.task_type, now)


def _options(competition: Competition, phase: Phase, board: Board, seen_as: SeenAs | None) -> PlaceOptions:
    """Return the options of the menus: other phases with this board, other tasks of the phase, other boards of the
    task.
    """

    def option(title: str, to_phase: Phase, to_board: Board, is_current: bool) -> Option:
        address = links.board(competition.name, to_phase.name, to_board.name)
        return title, links.as_seen_by(address, seen_as), is_current

    return PlaceOptions(
        phases=[option(other.title, other, board, other.id == phase.id) for other in _phases_with(competition, board)],
        tasks=[
            option(other.task.title, phase, other, other.task_id == board.task_id)
            for other in _tasks(competition, phase)
        ],
        boards=[
            option(title, phase, other, other.id == board.id) for title, other in _same_task(competition, phase, board)
        ],
    )


def _parts(address: str, leaderboard: Leaderboard) -> list[Option]:
    """Return the public and private parts of the items, if this viewer may see them."""
    halves = list(Half) if leaderboard.view.private and leaderboard.view.board is BoardShown.PUBLIC else []
    return [(f"{one.capitalize()} part", _with_part(address, one), one is leaderboard.half) for one in halves]


def _with_part(address: str, half: Half | None) -> str:
    return f"{address}{'&' if '?' in address else '?'}part={half}" if half else address


def _version_title(official: Official) -> str:
    """Return the title of an official version, with its number because several may have the same date."""
    snapshot = official.snapshot
    return f"No. {snapshot.number} · {date_words(snapshot.closed_at)}{' · superseded' if official.successor else ''}"


def _phases_with(competition: Competition, board: Board) -> list[Phase]:
    return [phase for phase in competition.phases if board in boards_of(competition, phase)]


def _tasks(competition: Competition, phase: Phase) -> list[Board]:
    """Return the first board of each task of the phase."""
    first: dict[int, Board] = {}
    for board in boards_of(competition, phase):
        first.setdefault(board.task_id, board)
    return list(first.values())


def _same_task(competition: Competition, phase: Phase, shown: Board) -> list[tuple[str, Board]]:
    """Return the boards of the same task, with their titles shortened by the beginning that they share."""
    boards = [board for board in boards_of(competition, phase) if board.task_id == shown.task_id]
    return list(zip(short_titles([board.title for board in boards]), boards, strict=True))


def _metrics(board: Board, leaderboard: Leaderboard) -> list[MetricShown]:
    """Return each metric once, in the order of the columns."""
    known = known_metrics(board)
    names = dict.fromkeys(column.metric for column in leaderboard.columns)
    return [MetricShown(known[name].title, known[name].description, known[name].higher_is_better) for name in names]


def _signatures(leaderboard: Leaderboard) -> list[tuple[str, list[str]]]:
    """Return the signatures of each column: usually one; with several, not all rows are comparable."""
    found = []
    for index, column in enumerate(leaderboard.columns):
        signatures = dict.fromkeys(row.cells[index].signature for row in leaderboard.rows)
        found.append((column.title, [signature for signature in signatures if signature]))
    return found
