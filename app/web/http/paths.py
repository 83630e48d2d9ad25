"""The parts of addresses: what stands for a competition, a phase, a task; and what can stand for nothing."""

from __future__ import annotations

from typing import Annotated

from fastapi import Path, Request

from app.base.errors import NotFound
from app.base.text import is_control

CompetitionName = Annotated[str, Path(examples=["demo"])]
PhaseName = Annotated[str, Path(examples=["evaluation"])]
TaskName = Annotated[str, Path(examples=["idiom-detection"])]


def check_path(request: Request) -> None:
    """Raises NotFound for an address with a NUL and the like, of which databases and XML take none."""
    if any(is_control(character) for part in request.path_params.values() for character in str(part)):
        raise NotFound("There is nothing at this address.")
