"""API schemas for reports, hidden texts and blocked people, for the API and the pages."""

from __future__ import annotations

from typing import Any, Self

from pydantic import Field

from app.base.answers import ApiModel, Mirror, Moment, example
from app.models import CompetitionBlock, HiddenText, ReportOutcome, ReportReason, TextKind, TextReport
from app.moderation.hiding import original_of

REPORT_EXAMPLE: dict[str, Any] = {
    "id": 4,
    "competition": "demo",
    "kind": "question",
    "subject_id": 3,
    "shown": "Is the dev set blind?\n\nMay we train on it?",
    "reason": "spam",
    "words": "The same advertisement as last week.",
    "reported_at": "2026-01-10T12:00:00Z",
    "reporter": None,
    "closed_at": None,
    "closed_by": None,
    "outcome": None,
}
HIDDEN_EXAMPLE: dict[str, Any] = {
    "id": 2,
    "kind": "team",
    "subject_id": 12,
    "original": "A name that insults",
    "author": "ada",
    "reason": "It insults others.",
    "hidden_at": "2026-01-10T13:00:00Z",
    "hidden_by": "olga",
}
BLOCK_EXAMPLE: dict[str, Any] = {
    "username": "ada",
    "reason": "Advertisements in questions.",
    "blocked_at": "2026-01-10T13:00:00Z",
    "blocked_by": "olga",
}


class TextReportReceipt(Mirror):
    """A report, as its author sees it."""

    model_config = example({name: REPORT_EXAMPLE[name] for name in ("id", "kind", "reason", "words", "reported_at")})

    id: int
    kind: TextKind
    reason: ReportReason
    words: str
    reported_at: Moment


class TextReportOut(ApiModel):
    """A report, for organisers and administrators."""

    model_config = example(REPORT_EXAMPLE)

    id: int
    competition: str
    kind: TextKind
    subject_id: int = Field(description="number of the question, announcement, team or system")
    shown: str = Field(description="the text as it was when it was reported")
    reason: ReportReason
    words: str
    reported_at: Moment
    reporter: str | None = Field(description="user name of the sender, for administrators only; otherwise null")
    closed_at: Moment | None
    closed_by: str | None
    outcome: ReportOutcome | None

    @classmethod
    def of(cls, one: TextReport, *, names_reporter: bool) -> Self:
        """Return the report, whose competition and reporter must be loaded."""
        return cls(
            id=one.id,
            competition=one.competition.name,
            kind=one.kind,
            subject_id=one.subject_id,
            shown=one.shown,
            reason=one.reason,
            words=one.words,
            reported_at=one.reported_at,
            reporter=one.reporter.username if names_reporter else None,
            closed_at=one.closed_at,
            closed_by=one.closed_by,
            outcome=one.outcome,
        )


class HiddenOut(ApiModel):
    """A hidden text, for organisers."""

    model_config = example(HIDDEN_EXAMPLE)

    id: int
    kind: TextKind
    subject_id: int
    original: str
    author: str | None = Field(description="a user name; null: it has no single author")
    reason: str
    hidden_at: Moment
    hidden_by: str

    @classmethod
    def of(cls, one: HiddenText) -> Self:
        """Return the hidden text, whose author must be loaded."""
        return cls(
            id=one.id,
            kind=one.kind,
            subject_id=one.subject_id,
            original=original_of(one),
            author=one.author.username if one.author else None,
            reason=one.reason,
            hidden_at=one.hidden_at,
            hidden_by=one.hidden_by,
        )


class BlockOut(ApiModel):
    """A person who is blocked in a competition."""

    model_config = example(BLOCK_EXAMPLE)

    username: str
    reason: str
    blocked_at: Moment
    blocked_by: str

    @classmethod
    def of(cls, one: CompetitionBlock) -> Self:
        """Return the block, whose user must be loaded."""
        return cls(username=one.user.username, reason=one.reason, blocked_at=one.blocked_at, blocked_by=one.blocked_by)


class TextReportList(ApiModel):
    """The open reports, oldest first."""

    model_config = example({"reports": [REPORT_EXAMPLE]})

    reports: list[TextReportOut]


class HiddenList(ApiModel):
    """The hidden texts, latest first."""

    model_config = example({"hidden": [HIDDEN_EXAMPLE]})

    hidden: list[HiddenOut]


class BlockList(ApiModel):
    """The blocked people, by user name."""

    model_config = example({"blocked": [BLOCK_EXAMPLE]})

    blocked: list[BlockOut]
