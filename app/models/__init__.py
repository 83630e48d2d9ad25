"""The tables, one module for each subject; importing this package loads them all.

Relationships are lazy="raise": a query says what it loads.
"""

from __future__ import annotations

from app.models.accounts import (
    ApiToken,
    LoginSession,
    Team,
    TeamKind,
    TeamMember,
    User,
)
from app.models.columns import (
    NAME_CHARACTERS,
)
from app.models.declared import (
    Board,
    Competition,
    CompetitionTask,
    EntryRule,
    HistoricRow,
    Phase,
    PhaseTask,
    PublicFile,
)
from app.models.submitted import (
    TERMINAL,
    RunStatus,
    ScoreRow,
    ScoringRun,
    Submission,
)

__all__ = [
    "ApiToken",
    "Board",
    "Competition",
    "CompetitionTask",
    "EntryRule",
    "HistoricRow",
    "LoginSession",
    "NAME_CHARACTERS",
    "Phase",
    "PhaseTask",
    "PublicFile",
    "RunStatus",
    "ScoreRow",
    "ScoringRun",
    "Submission",
    "TERMINAL",
    "Team",
    "TeamKind",
    "TeamMember",
    "User",
]
