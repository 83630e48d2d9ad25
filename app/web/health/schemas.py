"""Health of the server, in JSON."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from app.base.answers import ApiModel, example
from app.operations.health import Part


class Health(ApiModel):
    """The web process answers."""

    model_config = example({"status": "ok", "version": "0.1.0"})

    status: Literal["ok", "upgrading"] = "ok"
    version: str


class PartOut(ApiModel):
    """A part of the server."""

    name: str = Field(
        description="database, migrations, sweep, queue, workers, broker; bertscore, once a worker compared its own"
    )
    is_well: bool
    says: str = Field(description="goes on after the name: `last ran 12 s ago`")


class Readiness(ApiModel):
    """Every part is well; else there is a 503 with the same list in `details.parts`."""

    model_config = example(
        {"status": "ready", "parts": [{"name": "sweep", "is_well": True, "says": "last ran 12 s ago"}]}
    )

    status: Literal["ready"] = "ready"
    parts: list[PartOut]


def part_out(part: Part) -> PartOut:
    """Return a part as an API model."""
    return PartOut(name=part.name, is_well=part.is_well, says=part.says)
