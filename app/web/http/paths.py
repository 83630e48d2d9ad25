"""Path parameters: the types of the names of competitions, phases and tasks; and a check of all path parameters."""

from __future__ import annotations

from typing import Annotated

from fastapi import Path, Request

from app.base.errors import NotFound
from app.base.text import is_control

CompetitionName = Annotated[str, Path(examples=["demo"])]
PhaseName = Annotated[str, Path(examples=["evaluation"])]
TaskName = Annotated[str, Path(examples=["idiom-detection"])]


def check_path(request: Request) -> None:
    """Raise NotFound for a path with NUL or other control characters, which databases and XML cannot store."""
    if any(is_control(character) for part in request.path_params.values() for character in str(part)):
        raise NotFound("There is nothing at this address.")
