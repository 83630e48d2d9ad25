"""Path parameters: names of competitions, phases, tasks and boards, single or together; a check of all parameters."""

from __future__ import annotations

from typing import Annotated, NamedTuple

from fastapi import Depends, Path, Request

from app.base.errors import NotFound
from app.base.text import is_control

CompetitionName = Annotated[str, Path(examples=["demo"])]
PhaseName = Annotated[str, Path(examples=["evaluation"])]
TaskName = Annotated[str, Path(examples=["idiom-detection"])]
BoardName = Annotated[str, Path(examples=["zero-shot"])]


class TaskNames(NamedTuple):
    """The names of a task in a phase."""

    competition: str
    phase: str
    task: str


class BoardNames(NamedTuple):
    """The names of a board of a phase."""

    competition: str
    phase: str
    board: str


async def task_names(competition: CompetitionName, phase: PhaseName, task: TaskName) -> TaskNames:
    """Return the names in the address of a task."""
    return TaskNames(competition, phase, task)


async def board_names(competition: CompetitionName, phase: PhaseName, board: BoardName) -> BoardNames:
    """Return the names in the address of a board."""
    return BoardNames(competition, phase, board)


TaskNamesHere = Annotated[TaskNames, Depends(task_names)]
BoardNamesHere = Annotated[BoardNames, Depends(board_names)]


def check_path(request: Request) -> None:
    """Raise NotFound for a path with NUL or other control characters, which databases and XML cannot store."""
    if any(is_control(character) for part in request.path_params.values() for character in str(part)):
        raise NotFound("There is nothing at this address.")
