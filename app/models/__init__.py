"""The tables, one module for each subject; importing this package loads them all.

Relationships are lazy="raise": a query says what it loads.
"""

from __future__ import annotations

from app.models.accounts import (
    ApiToken,
    LoginSession,
    PasswordReset,
    Team,
    TeamKind,
    TeamMember,
    TokenScope,
    User,
)
from app.models.audit import (
    AuditEntry,
)
from app.models.climbing import (
    ClimbingAlert,
    LineChange,
)
from app.models.columns import (
    NAME_CHARACTERS,
)
from app.models.declared import (
    Board,
    BoardShown,
    Competition,
    CompetitionTask,
    EntryRule,
    HistoricRow,
    OwnScores,
    Phase,
    PhaseTask,
    PublicFile,
    Slices,
)
from app.models.gold import (
    GoldVersion,
    SealedFile,
    SealedKey,
    SealedKind,
    WorkerKey,
)
from app.models.judging import (
    JudgedAnswer,
    JudgedEntry,
    JudgedText,
    Judgement,
    JudgingAnnotator,
    JudgingRound,
    RoundSource,
)
from app.models.roles import (
    CompetitionRole,
    Role,
)
from app.models.server import (
    Heartbeat,
    OutgoingMail,
)
from app.models.shown import (
    EntryChoice,
    Snapshot,
)
from app.models.submitted import (
    TERMINAL,
    RunStatus,
    ScoreRow,
    ScoringRun,
    Submission,
)
from app.models.working import (
    SelfCheck,
    Worker,
)

__all__ = [
    "ClimbingAlert",
    "LineChange",
    "ApiToken",
    "AuditEntry",
    "Board",
    "BoardShown",
    "Competition",
    "CompetitionRole",
    "CompetitionTask",
    "EntryChoice",
    "EntryRule",
    "GoldVersion",
    "Heartbeat",
    "HistoricRow",
    "JudgedAnswer",
    "JudgedEntry",
    "JudgedText",
    "Judgement",
    "JudgingAnnotator",
    "JudgingRound",
    "LoginSession",
    "NAME_CHARACTERS",
    "OutgoingMail",
    "OwnScores",
    "PasswordReset",
    "Phase",
    "PhaseTask",
    "PublicFile",
    "Role",
    "RoundSource",
    "RunStatus",
    "ScoreRow",
    "ScoringRun",
    "SealedFile",
    "SealedKey",
    "SealedKind",
    "SelfCheck",
    "Slices",
    "Snapshot",
    "Submission",
    "TERMINAL",
    "Team",
    "TeamKind",
    "TeamMember",
    "TokenScope",
    "User",
    "Worker",
    "WorkerKey",
]
