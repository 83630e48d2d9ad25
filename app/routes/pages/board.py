"""A leaderboard's page."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from fastapi import APIRouter, Query, Request, Response

from app.api import links
from app.db import reading
from app.errors import NotFound
from app.leaderboard import Leaderboard, build_leaderboard
from app.limits import phase_state
from app.models import Board, Competition, Phase
from app.queries import boards_of, find_board, find_competition
from app.results import short_titles
from app.routes.identity import VisitorHere
from app.routes.pages.board_pictures import picture_of
from app.routes.pages.drawings import drawings_of, svg_response
from app.routes.pages.rendering import render
from app.routes.serving import ServingHere
from scoring.tasks import TASKS

router = APIRouter()

#: Which part of a board's picture is shown, where the task type has one.
SplitShown = Annotated[str | None, Query(alias="split")]


@dataclass(frozen=True, slots=True)
class MetricShown:
    """A metric of the board: what it is, and which end wins."""

    title: str
    description: str
    higher_is_better: bool


@router.get("/competitions/{competition}/phases/{phase}/boards/{board}")
def read_board(
    request: Request,
    serving: ServingHere,
    visitor: VisitorHere,
    competition: str,
    phase: str,
    board: str,
    split: SplitShown = None,
) -> Response:
    now = serving.clock()
    with reading(serving.engine) as session:
        found = find_competition(session, competition)
        phase_found, board_found = find_board(found, phase, board)
        leaderboard = build_leaderboard(session, phase_found, board_found, visitor.user, now)
        picture = picture_of(session, board_found, leaderboard, split)
    figures = links.board_figures(competition, phase, board)
    return render(
        request,
        "board.html",
        competition=found,
        phase=phase_found,
        state=phase_state(phase_found, now),
        board=board_found,
        tasks=_tasks(found, phase_found),
        boards=_same_task(found, phase_found, board_found),
        phases=_phases_with(found, board_found),
        leaderboard=leaderboard,
        metrics=_metrics(board_found, leaderboard),
        signatures=_signatures(leaderboard),
        picture=picture,
        drawings=drawings_of(picture.figures, figures, picture.split) if picture else [],
        now=now,
    )


@router.get("/competitions/{competition}/phases/{phase}/boards/{board}/figures/{name}.svg")
def read_figure(
    serving: ServingHere,
    visitor: VisitorHere,
    competition: str,
    phase: str,
    board: str,
    name: str,
    split: SplitShown = None,
) -> Response:
    """A figure of the board's picture, as a file."""
    with reading(serving.engine) as session:
        place = find_board(find_competition(session, competition), phase, board)
        leaderboard = build_leaderboard(session, *place, visitor.user, serving.clock())
        picture = picture_of(session, place[1], leaderboard, split)
    if picture is None:
        raise NotFound("This board has no figures.")
    return svg_response(picture.figures, name, f"{competition}-{phase}-{picture.split.replace('/', '-')}")


def _phases_with(competition: Competition, board: Board) -> list[Phase]:
    return [phase for phase in competition.phases if board in boards_of(competition, phase)]


def _tasks(competition: Competition, phase: Phase) -> list[Board]:
    """The first board of each task of the phase."""
    first: dict[int, Board] = {}
    for board in boards_of(competition, phase):
        first.setdefault(board.task_id, board)
    return list(first.values())


def _same_task(competition: Competition, phase: Phase, shown: Board) -> list[tuple[str, Board]]:
    """The boards of this board's task; their titles without what all of them begin with."""
    boards = [board for board in boards_of(competition, phase) if board.task_id == shown.task_id]
    return list(zip(short_titles([board.title for board in boards]), boards, strict=True))


def _metrics(board: Board, leaderboard: Leaderboard) -> list[MetricShown]:
    """Each metric once, in the order of the columns."""
    known = TASKS[board.task.task_type].metrics
    names = dict.fromkeys(column.metric for column in leaderboard.columns)
    return [MetricShown(known[name].title, known[name].description, known[name].higher_is_better) for name in names]


def _signatures(leaderboard: Leaderboard) -> list[tuple[str, list[str]]]:
    """By column, how its scores were computed: usually one signature; several mean that not all rows compare."""
    found = []
    for index, column in enumerate(leaderboard.columns):
        told = dict.fromkeys(row.cells[index].signature for row in leaderboard.rows)
        found.append((column.title, [signature for signature in told if signature]))
    return found
