"""Short calls that grant a team an extension."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import Engine

from app.base.config import Settings
from app.base.db import writing
from app.competitions.allowances import NewExtension, grant
from app.competitions.find import find_competition
from app.people.act import Act
from tests.world import COMPETITION, NOW, PHASE

WHY = "their cluster was down"


def allow(engine: Engine, team: str = "Ada", *, now: datetime = NOW, **more: Any) -> int:
    """Grant an extension; return its id."""
    with writing(engine) as session:
        wanted = NewExtension(**{"phase": PHASE, "team": team, "reason": WHY, **more})
        return grant(Act(session, None, now, Settings()), find_competition(session, COMPETITION), wanted).allowance.id
