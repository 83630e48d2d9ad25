"""A competition's page: what it is about, its phases as a timeline, their tasks with downloads and boards."""

from __future__ import annotations

from dataclasses import dataclass

from fastapi import APIRouter, Request, Response
from sqlalchemy.orm import Session

from app.db import reading
from app.leaderboard import count_entries
from app.limits import PhaseState, phase_state
from app.models import Board, Competition, Phase, PhaseTask
from app.queries import boards_of, find_competition
from app.results import short_titles
from app.routes.identity import VisitorHere
from app.routes.pages.rendering import render
from app.routes.serving import ServingHere

router = APIRouter()


@dataclass(frozen=True, slots=True)
class TaskInPhase:
    """A task as it is asked in a phase; its boards, with titles as short as they can be; how many teams have scored."""

    asked: PhaseTask
    boards: list[tuple[str, Board]]
    teams: int


@dataclass(frozen=True, slots=True)
class PhaseShown:
    """A phase with what hangs on it."""

    phase: Phase
    state: PhaseState
    tasks: list[TaskInPhase]


@router.get("/competitions/{competition}")
def read_competition(request: Request, serving: ServingHere, visitor: VisitorHere, competition: str) -> Response:
    now = serving.clock()
    with reading(serving.engine) as session:
        found = find_competition(session, competition)
        teams = _teams(session, found)
    phases = [
        PhaseShown(phase, phase_state(phase, now), [_task(found, asked, teams) for asked in phase.phase_tasks])
        for phase in found.phases
    ]
    return render(request, "competition.html", competition=found, phases=phases, now=now)


def _teams(session: Session, competition: Competition) -> dict[int, int]:
    return count_entries(session, [asked.id for phase in competition.phases for asked in phase.phase_tasks])


def _task(competition: Competition, asked: PhaseTask, teams: dict[int, int]) -> TaskInPhase:
    phase = next(phase for phase in competition.phases if phase.id == asked.phase_id)
    boards = [board for board in boards_of(competition, phase) if board.task_id == asked.task_id]
    titles = short_titles([board.title for board in boards])
    return TaskInPhase(asked, list(zip(titles, boards, strict=True)), teams.get(asked.id, 0))
