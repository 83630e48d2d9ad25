"""Health of the server, in JSON."""

from __future__ import annotations

from typing import Literal

from app.base.answers import ApiModel, example
from app.operations.health import PartOut


class Health(ApiModel):
    """The web process is alive."""

    model_config = example({"status": "ok", "version": "0.1.0"})

    status: Literal["ok", "upgrading"] = "ok"
    version: str


class Readiness(ApiModel):
    """Every part works; otherwise the status is 503, with the same list in `details.parts`."""

    model_config = example(
        {"status": "ready", "parts": [{"name": "sweep", "is_well": True, "says": "last ran 12 s ago"}]}
    )

    status: Literal["ready"] = "ready"
    parts: list[PartOut]
