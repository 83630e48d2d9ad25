"""API schemas for server administration and announcements to everybody, shared by pages, API and commands."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Literal

from pydantic import Field

from app.base.answers import ApiModel, Moment, example
from app.models import OrganisingRequest, ServerAnnouncement, Severity, Stage, User

SETTING_EXAMPLE: dict[str, Any] = {
    "name": "registration",
    "title": "Registration",
    "group": "New accounts",
    "description": "closed: no new accounts, except those made with `evergold account create`",
    "kind": "choice",
    "choices": ["open", "closed"],
    "value": "closed",
    "environment": "open",
    "is_changed": True,
    "changed_at": "2026-01-10T12:00:00Z",
    "changed_by": "grace",
}
ANNOUNCEMENT_EXAMPLE: dict[str, Any] = {
    "id": 3,
    "text": "The server moves on Friday from 18:00 to 20:00 UTC; nothing can be submitted then.",
    "severity": "warning",
    "starts_at": "2026-01-10T12:00:00Z",
    "ends_at": "2026-01-16T20:00:00Z",
}


class SettingOut(ApiModel):
    """A setting that may change while the server runs."""

    model_config = example(SETTING_EXAMPLE)

    name: str
    title: str
    group: str = Field(description="the section of the page")
    description: str
    kind: Literal["choice", "number", "text", "switch"]
    choices: list[str] = Field(description="allowed values of a choice")
    value: str | int | bool = Field(description="the current value")
    environment: str | int | bool = Field(description="the value without the change: `EVERGOLD_…`, or the default")
    is_changed: bool = Field(description="whether an administrator changed it, which overrides the environment")
    changed_at: Moment | None
    changed_by: str | None = Field(description="a user name, or the command line")


class SettingList(ApiModel):
    """All settings that may change while the server runs, by section."""

    model_config = example({"settings": [SETTING_EXAMPLE]})

    settings: list[SettingOut]


class ServerAnnouncementOut(ApiModel):
    """An announcement to everybody on this server."""

    model_config = example(ANNOUNCEMENT_EXAMPLE)

    id: int
    text: str
    severity: Severity
    starts_at: Moment
    ends_at: Moment | None = Field(description="null: it stays until an administrator ends it")

    @classmethod
    def of(cls, row: ServerAnnouncement) -> ServerAnnouncementOut:
        """Return the announcement."""
        return cls(
            id=row.id, text=row.text, severity=Severity(row.severity), starts_at=row.starts_at, ends_at=row.ends_at
        )

    def is_shown_at(self, now: datetime) -> bool:
        """Return whether the announcement is shown at this moment."""
        return self.starts_at <= now and (self.ends_at is None or now < self.ends_at)

    @property
    def rank(self) -> tuple[int, int]:
        """The sort key among announcements: most severe first, then the newest."""
        return -list(Severity).index(self.severity), -self.id


class ServerAnnouncementList(ApiModel):
    """Announcements to the whole server, most severe first, then the newest."""

    model_config = example({"announcements": [ANNOUNCEMENT_EXAMPLE]})

    announcements: list[ServerAnnouncementOut]


class ServerOverview(ApiModel):
    """Counts about the server, including requests that need its administrators."""

    model_config = example(
        {
            "accounts": 412,
            "unconfirmed": 31,
            "blocked": 2,
            "competitions": 9,
            "submissions": 18203,
            "requests": 1,
            "reports": 0,
            "failed_runs": 0,
            "failed_mails": 3,
            "announcements": 0,
            "changed_settings": 2,
        }
    )

    accounts: int
    unconfirmed: int = Field(description="accounts whose address is not confirmed")
    blocked: int = Field(description="blocked accounts")
    competitions: int
    submissions: int
    requests: int = Field(description="pending requests to organise")
    reports: int = Field(description="open reports of texts")
    failed_runs: int
    failed_mails: int
    announcements: int = Field(description="current and coming announcements to everybody")
    changed_settings: int = Field(description="how many settings differ from the environment")


ACCOUNT_ROW: dict[str, Any] = {
    "username": "ada",
    "email": "ada@example.org",
    "email_confirmed": True,
    "display_name": "Ada Lovelace",
    "is_administrator": False,
    "organising": "rule",
    "created_at": "2026-01-10T12:00:00Z",
    "blocked_at": None,
}
ACCOUNT_EXAMPLE: dict[str, Any] = {
    **ACCOUNT_ROW,
    "blocked_reason": "",
    "teams": ["Second Draft (demo)"],
    "roles": ["annotator of demo"],
    "owns": [],
    "submissions": 12,
    "used_bytes": 0,
    "competitions_limit": None,
    "mebibytes_limit": None,
    "may_own": 5,
    "may_hold_bytes": 1073741824,
    "has_password": True,
    "providers": [],
    "has_second_factor": False,
    "log_ins": 1,
    "tokens": 2,
    "seen_at": "2026-01-12T12:00:00Z",
}


class AccountRow(ApiModel):
    """An account in the administrators' list."""

    model_config = example(ACCOUNT_ROW)

    username: str
    email: str = Field(description="empty: the account has no address")
    email_confirmed: bool
    display_name: str
    is_administrator: bool
    organising: Literal["rule", "approved", "barred"] = Field(
        description="whether the person may create competitions; `rule`: as the server's settings decide"
    )
    created_at: Moment
    blocked_at: Moment | None = Field(description="null: not blocked")

    @classmethod
    def of(cls, user: User) -> AccountRow:
        """Return the account."""
        return AccountRow(
            username=user.username,
            email=user.email if user.has_address else "",
            email_confirmed=user.email_confirmed,
            display_name=user.display_name,
            is_administrator=user.is_administrator,
            organising="barred" if user.is_barred_organiser else "approved" if user.is_approved_organiser else "rule",
            created_at=user.created_at,
            blocked_at=user.blocked_at,
        )


class AccountOut(AccountRow):
    """An account, with the details for administrators."""

    model_config = example(ACCOUNT_EXAMPLE)

    blocked_reason: str = Field(description="the reason that the person sees")
    teams: list[str]
    roles: list[str]
    owns: list[str] = Field(description="names of competitions")
    submissions: int = Field(description="how many submissions the person sent")
    used_bytes: int = Field(description="size of files and gold of the person's competitions")
    competitions_limit: int | None = Field(description="limit for this person; null: the server's limit")
    mebibytes_limit: int | None = Field(description="limit for this person; null: the server's limit")
    may_own: int = Field(description="how many competitions the person may own")
    may_hold_bytes: int = Field(description="how many bytes these competitions may hold")
    has_password: bool
    providers: list[str] = Field(description="providers that the person logs in with")
    has_second_factor: bool
    log_ins: int = Field(description="number of current log-ins")
    tokens: int = Field(description="number of tokens that were not revoked")
    seen_at: Moment | None = Field(description="the latest use of a listed log-in")


class AccountList(ApiModel):
    """A page of accounts, sorted by user name."""

    model_config = example({"accounts": [ACCOUNT_ROW], "next_after": None})

    accounts: list[AccountRow]
    next_after: str | None = Field(description="`after` of the next page; null: this is the last")


SIZE_EXAMPLE: dict[str, Any] = {
    "name": "demo",
    "title": "Idiom shared task",
    "stage": "published",
    "owner": "olga",
    "teams": 14,
    "submissions": 312,
    "submitted_bytes": 73400320,
    "organisers_bytes": 5242880,
    "last_submission_at": "2026-01-12T12:00:00Z",
    "created_at": "2025-11-01T12:00:00Z",
}


class CompetitionSize(ApiModel):
    """A competition with its size and activity."""

    model_config = example(SIZE_EXAMPLE)

    name: str
    title: str
    stage: Stage
    owner: str | None = Field(description="a user name; null: the server's own")
    teams: int
    submissions: int
    submitted_bytes: int
    organisers_bytes: int = Field(description="size of the organisers' files and of gold")
    last_submission_at: Moment | None
    created_at: Moment


class CompetitionSizes(ApiModel):
    """All competitions of the server, largest first."""

    model_config = example({"competitions": [SIZE_EXAMPLE]})

    competitions: list[CompetitionSize]


REQUEST_EXAMPLE: dict[str, Any] = {
    "id": 2,
    "username": "ada",
    "email": "ada@example.org",
    "text": "A shared task on riddles.",
    "asked_at": "2026-01-10T12:00:00Z",
    "answered_at": None,
    "answered_by": None,
    "is_approved": None,
    "answer": "",
}


class OrganisingRequestOut(ApiModel):
    """A request to create competitions, and its answer."""

    model_config = example(REQUEST_EXAMPLE)

    id: int
    username: str
    email: str
    text: str
    asked_at: Moment
    answered_at: Moment | None = Field(description="null: not answered yet")
    answered_by: str | None
    is_approved: bool | None
    answer: str

    @classmethod
    def of(cls, row: OrganisingRequest) -> OrganisingRequestOut:
        """Return the request; its user must be loaded."""
        return cls(
            id=row.id,
            username=row.user.username,
            email=row.user.email,
            text=row.text,
            asked_at=row.asked_at,
            answered_at=row.answered_at,
            answered_by=row.answered_by,
            is_approved=row.is_approved,
            answer=row.answer,
        )


class OrganisingRequestList(ApiModel):
    """Open requests, oldest first."""

    model_config = example({"requests": [REQUEST_EXAMPLE]})

    requests: list[OrganisingRequestOut]
