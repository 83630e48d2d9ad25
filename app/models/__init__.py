"""Database tables, one module per subject; importing this package loads them all.

Relationships are lazy="raise": each query declares what it loads.
"""

from __future__ import annotations

from app.models.accounts import (
    ApiToken as ApiToken,
    LoginSession as LoginSession,
    PasswordReset as PasswordReset,
    TokenScope as TokenScope,
    User as User,
)
from app.models.allowances import Allowance as Allowance
from app.models.audit import AuditEntry as AuditEntry
from app.models.blueprints import Blueprint as Blueprint, BlueprintFile as BlueprintFile
from app.models.boards import EntryChoice as EntryChoice, Snapshot as Snapshot
from app.models.cards import (
    CardVersion as CardVersion,
    RowMark as RowMark,
    RowStatus as RowStatus,
    System as System,
)
from app.models.climbing import ClimbingAlert as ClimbingAlert, LineChange as LineChange
from app.models.columns import NAME_CHARACTERS as NAME_CHARACTERS
from app.models.competitions import (
    Audience as Audience,
    Board as Board,
    BoardShown as BoardShown,
    Competition as Competition,
    CompetitionTask as CompetitionTask,
    EntryRule as EntryRule,
    Halt as Halt,
    HistoricRow as HistoricRow,
    ImageFile as ImageFile,
    OwnScores as OwnScores,
    Phase as Phase,
    PhaseTask as PhaseTask,
    PublicFile as PublicFile,
    Slices as Slices,
    Stage as Stage,
)
from app.models.downloads import FileDownload as FileDownload
from app.models.gold import (
    GoldCheck as GoldCheck,
    GoldVersion as GoldVersion,
    SealedFile as SealedFile,
    SealedKey as SealedKey,
    SealedKind as SealedKind,
    WorkerKey as WorkerKey,
)
from app.models.invitations import RoleInvitation as RoleInvitation
from app.models.judging import (
    JudgedAnswer as JudgedAnswer,
    JudgedEntry as JudgedEntry,
    JudgedText as JudgedText,
    Judgement as Judgement,
    JudgingAnnotator as JudgingAnnotator,
    JudgingRound as JudgingRound,
    RoundSource as RoundSource,
)
from app.models.messages import Announcement as Announcement, MailChoice as MailChoice, Question as Question
from app.models.rescoring import RescoredTask as RescoredTask, Rescoring as Rescoring, RescoringState as RescoringState
from app.models.revisions import Revision as Revision, RevisionFile as RevisionFile, RevisionSource as RevisionSource
from app.models.roles import (
    ALL_RIGHTS as ALL_RIGHTS,
    CompetitionRole as CompetitionRole,
    Right as Right,
    Role as Role,
    rights_in as rights_in,
    rights_text as rights_text,
)
from app.models.server import Heartbeat as Heartbeat, MailLink as MailLink, OutgoingMail as OutgoingMail
from app.models.standings import KeptBoard as KeptBoard, Standing as Standing, Tally as Tally
from app.models.statistics import (
    BoardStatistics as BoardStatistics,
    GoldPower as GoldPower,
    RunStatistics as RunStatistics,
    StatisticsWork as StatisticsWork,
)
from app.models.submissions import (
    TERMINAL as TERMINAL,
    RunStatus as RunStatus,
    ScoreRow as ScoreRow,
    ScoringRun as ScoringRun,
    Submission as Submission,
)
from app.models.teams import (
    AcceptedTerms as AcceptedTerms,
    EmailConfirmation as EmailConfirmation,
    FormerMember as FormerMember,
    MergeOffer as MergeOffer,
    OfferStatus as OfferStatus,
    Registration as Registration,
    RegistrationMode as RegistrationMode,
    RegistrationStatus as RegistrationStatus,
    Team as Team,
    TeamInvitation as TeamInvitation,
    TeamKind as TeamKind,
    TeamMember as TeamMember,
)
from app.models.validations import CHECKED as CHECKED, Validation as Validation, ValidationStatus as ValidationStatus
from app.models.workers import SelfCheck as SelfCheck, Worker as Worker
