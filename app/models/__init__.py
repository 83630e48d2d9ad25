"""Database tables, one module per subject; importing this package loads them all.

Relationships are lazy="raise": each query declares what it loads. Relationships to a row that the session always has,
such as the competition of a message, are lazy="raise_on_sql".
"""

from __future__ import annotations

from app.models.accounts import (
    NO_PASSWORD as NO_PASSWORD,
    ApiToken as ApiToken,
    AuditEntry as AuditEntry,
    LoginSession as LoginSession,
    PasswordReset as PasswordReset,
    TokenScope as TokenScope,
    User as User,
)
from app.models.administration import RefusedRequests as RefusedRequests, ScoringHold as ScoringHold
from app.models.blueprints import Blueprint as Blueprint, BlueprintFile as BlueprintFile
from app.models.boards import (
    BoardStatistics as BoardStatistics,
    EntryChoice as EntryChoice,
    GoldPower as GoldPower,
    KeptBoard as KeptBoard,
    RunStatistics as RunStatistics,
    Snapshot as Snapshot,
    Standing as Standing,
    StatisticsWork as StatisticsWork,
    Tally as Tally,
)
from app.models.columns import NAME_CHARACTERS as NAME_CHARACTERS
from app.models.competitions import (
    PROGRAM as PROGRAM,
    PUBLISHED_RANK as PUBLISHED_RANK,
    Allowance as Allowance,
    Audience as Audience,
    Board as Board,
    BoardShown as BoardShown,
    Competition as Competition,
    CompetitionTask as CompetitionTask,
    EntryRule as EntryRule,
    Halt as Halt,
    HistoricRow as HistoricRow,
    ImageFile as ImageFile,
    MissingEntry as MissingEntry,
    OwnScores as OwnScores,
    Phase as Phase,
    PhaseTask as PhaseTask,
    PublicFile as PublicFile,
    RankingBy as RankingBy,
    Revision as Revision,
    RevisionFile as RevisionFile,
    RevisionSource as RevisionSource,
    Slices as Slices,
    Stage as Stage,
)
from app.models.gold import (
    GoldCheck as GoldCheck,
    GoldVersion as GoldVersion,
    RescoredTask as RescoredTask,
    Rescoring as Rescoring,
    RescoringState as RescoringState,
    SealedFile as SealedFile,
    SealedKey as SealedKey,
    SealedKind as SealedKind,
    WorkerKey as WorkerKey,
)
from app.models.judging import (
    JudgedAnswer as JudgedAnswer,
    JudgedEntry as JudgedEntry,
    JudgedText as JudgedText,
    Judgement as Judgement,
    JudgingAnnotator as JudgingAnnotator,
    JudgingRound as JudgingRound,
    RoundSource as RoundSource,
)
from app.models.logins import (
    Authenticator as Authenticator,
    Identity as Identity,
    KnownDevice as KnownDevice,
    Passkey as Passkey,
    ProviderLogin as ProviderLogin,
    RecoveryCode as RecoveryCode,
    SecondStep as SecondStep,
)
from app.models.messages import (
    Announcement as Announcement,
    DigestItem as DigestItem,
    MailChoice as MailChoice,
    Pace as Pace,
    Question as Question,
)
from app.models.moderation import (
    CompetitionBlock as CompetitionBlock,
    HiddenText as HiddenText,
    ReportOutcome as ReportOutcome,
    ReportReason as ReportReason,
    TextKind as TextKind,
    TextReport as TextReport,
)
from app.models.privacy import (
    AccountDeletion as AccountDeletion,
    DataArchive as DataArchive,
    PublicationConsent as PublicationConsent,
)
from app.models.roles import (
    ALL_RIGHTS as ALL_RIGHTS,
    CompetitionRole as CompetitionRole,
    OrganisingRequest as OrganisingRequest,
    Right as Right,
    Role as Role,
    RoleInvitation as RoleInvitation,
    rights_in as rights_in,
    rights_text as rights_text,
)
from app.models.server import (
    Heartbeat as Heartbeat,
    LiveRevision as LiveRevision,
    MailLink as MailLink,
    OutgoingMail as OutgoingMail,
    SelfCheck as SelfCheck,
    ServerAnnouncement as ServerAnnouncement,
    ServerSetting as ServerSetting,
    Severity as Severity,
    Worker as Worker,
)
from app.models.submissions import (
    CHECKED as CHECKED,
    TERMINAL as TERMINAL,
    CardVersion as CardVersion,
    ClimbingAlert as ClimbingAlert,
    FileDownload as FileDownload,
    LineChange as LineChange,
    RowMark as RowMark,
    RowStatus as RowStatus,
    RunStatus as RunStatus,
    ScoreRow as ScoreRow,
    ScoringRun as ScoringRun,
    Submission as Submission,
    System as System,
    Validation as Validation,
    ValidationStatus as ValidationStatus,
)
from app.models.teams import (
    AcceptedTerms as AcceptedTerms,
    EmailConfirmation as EmailConfirmation,
    FormerMember as FormerMember,
    JoiningCode as JoiningCode,
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
from app.models.uploads import BundleUpload as BundleUpload, HeldUpload as HeldUpload
from app.models.webhooks import (
    DeliveryStatus as DeliveryStatus,
    NewsKind as NewsKind,
    Webhook as Webhook,
    WebhookAudience as WebhookAudience,
    WebhookBoard as WebhookBoard,
    WebhookDelivery as WebhookDelivery,
    WebhookForm as WebhookForm,
)
