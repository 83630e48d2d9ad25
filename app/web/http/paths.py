"""The parts of addresses: what stands for a competition, a phase, a task."""

from __future__ import annotations

from typing import Annotated

from fastapi import Path

CompetitionName = Annotated[str, Path(examples=["demo"])]
PhaseName = Annotated[str, Path(examples=["evaluation"])]
TaskName = Annotated[str, Path(examples=["idiom-detection"])]
