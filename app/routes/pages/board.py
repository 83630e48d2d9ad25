"""A leaderboard's page."""

from __future__ import annotations

from dataclasses import dataclass

from fastapi import APIRouter, Request, Response

from app.db import reading
from app.leaderboard import Leaderboard, build_leaderboard
from app.limits import phase_state
from app.models import Board, Competition, Phase
from app.queries import boards_of, find_board, find_competition
from app.routes.identity import VisitorHere
from app.routes.pages.rendering import render
from app.routes.serving import ServingHere
from scoring.tasks import TASKS

router = APIRouter()


@dataclass(frozen=True, slots=True)
class MetricShown:
    """A metric of the board: what it is, and which end wins."""

    title: str
    description: str
    higher_is_better: bool


@router.get("/competitions/{competition}/phases/{phase}/boards/{board}")
def read_board(
    request: Request, serving: ServingHere, visitor: VisitorHere, competition: str, phase: str, board: str
) -> Response:
    now = serving.clock()
    with reading(serving.engine) as session:
        found = find_competition(session, competition)
        phase_found, board_found = find_board(found, phase, board)
        leaderboard = build_leaderboard(session, phase_found, board_found, visitor.user, now)
    return render(
        request,
        "board.html",
        competition=found,
        phase=phase_found,
        state=phase_state(phase_found, now),
        board=board_found,
        boards=boards_of(found, phase_found),
        phases=_phases_with(found, board_found),
        leaderboard=leaderboard,
        metrics=_metrics(board_found, leaderboard),
        signatures=_signatures(leaderboard),
        now=now,
    )


def _phases_with(competition: Competition, board: Board) -> list[Phase]:
    return [phase for phase in competition.phases if board in boards_of(competition, phase)]


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
