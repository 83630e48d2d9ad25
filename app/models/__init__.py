"""The tables, one module for each subject; importing this package loads them all.

Relationships are lazy="raise": a query says what it loads.
"""

from __future__ import annotations

from app.models.accounts import ApiToken, LoginSession, PasswordReset, Team, TeamKind, TeamMember, TokenScope, User
from app.models.audit import AuditEntry
from app.models.boards import EntryChoice, Snapshot
from app.models.cards import CardVersion, RowMark, RowStatus
from app.models.climbing import ClimbingAlert, LineChange
from app.models.columns import NAME_CHARACTERS
from app.models.competitions import (
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
from app.models.gold import GoldVersion, SealedFile, SealedKey, SealedKind, WorkerKey
from app.models.judging import (
    JudgedAnswer,
    JudgedEntry,
    JudgedText,
    Judgement,
    JudgingAnnotator,
    JudgingRound,
    RoundSource,
)
from app.models.messages import Announcement, MailChoice, Question
from app.models.rescoring import RescoredTask, Rescoring, RescoringState
from app.models.revisions import Revision, RevisionFile, RevisionSource
from app.models.roles import CompetitionRole, Role
from app.models.server import Heartbeat, OutgoingMail
from app.models.submissions import TERMINAL, RunStatus, ScoreRow, ScoringRun, Submission
from app.models.teams import (
    EmailConfirmation,
    FormerMember,
    Registration,
    RegistrationMode,
    RegistrationStatus,
    TeamInvitation,
)
from app.models.validations import CHECKED, Validation, ValidationStatus
from app.models.workers import SelfCheck, Worker

__all__ = [
    "CardVersion",
    "ClimbingAlert",
    "LineChange",
    "Announcement",
    "ApiToken",
    "AuditEntry",
    "Board",
    "BoardShown",
    "CHECKED",
    "Competition",
    "CompetitionRole",
    "CompetitionTask",
    "EmailConfirmation",
    "EntryChoice",
    "EntryRule",
    "FormerMember",
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
    "MailChoice",
    "NAME_CHARACTERS",
    "OutgoingMail",
    "OwnScores",
    "PasswordReset",
    "Phase",
    "PhaseTask",
    "PublicFile",
    "Registration",
    "RegistrationMode",
    "RegistrationStatus",
    "Question",
    "Revision",
    "RevisionFile",
    "RevisionSource",
    "RescoredTask",
    "Rescoring",
    "RescoringState",
    "Role",
    "RoundSource",
    "RowMark",
    "RowStatus",
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
    "TeamInvitation",
    "TeamKind",
    "TeamMember",
    "TokenScope",
    "User",
    "Validation",
    "ValidationStatus",
    "Worker",
    "WorkerKey",
]
