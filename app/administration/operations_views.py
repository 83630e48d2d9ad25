"""API schemas for queue, workers, storage, failed mails, refused requests and health, for administrators."""

from __future__ import annotations

from typing import Any, Self

from pydantic import Field

from app.base.answers import ApiModel, Moment, example
from app.models import OutgoingMail, ScoringHold
from app.operations.health import PartOut

HOLD_EXAMPLE: dict[str, Any] = {
    "target": "task 17",
    "place": "demo/idiom-detection",
    "host": None,
    "reason": "The gold is being corrected.",
    "held_at": "2026-01-10T12:00:00Z",
    "held_by": "grace",
}
WAITING_EXAMPLE: dict[str, Any] = {
    "competition": "demo",
    "phase": "evaluation",
    "task": "idiom-detection",
    "kind": "submission",
    "count": 12,
    "oldest_at": "2026-01-10T12:00:00Z",
    "waits_for": "paused",
    "why": "Paused by grace: The gold is being corrected.",
}
RUNNING_EXAMPLE: dict[str, Any] = {
    "run_id": 4711,
    "submission_id": "3f0c1a52-6d0e-4b1a-9a39-2f1c7b9a1d10",
    "competition": "demo",
    "phase": "evaluation",
    "task": "idiom-detection",
    "team": "Magpie",
    "worker": "scorer-1:812",
    "started_at": "2026-01-10T12:00:00Z",
    "attempts": 1,
}
WORKER_EXAMPLE: dict[str, Any] = {
    "name": "scorer-1:790-1f2a",
    "host": "scorer-1",
    "queues": ["cpu"],
    "processes": 2,
    "is_drained": False,
    "self_check": None,
    "started_at": "2026-01-10T11:00:00Z",
    "seen_at": "2026-01-10T12:00:00Z",
}
STORED_EXAMPLE: dict[str, Any] = {"competition": "demo", "kind": "submissions", "files": 120, "size_bytes": 34_000_000}
MAIL_EXAMPLE: dict[str, Any] = {
    "id": 88,
    "recipient": "ada@example.org",
    "subject": "[Demo] Answer: Is the dev set blind?",
    "failed_at": "2026-01-10T12:00:00Z",
    "attempts": 9,
    "reason": "SMTPRecipientsRefused: 550 unknown",
}
REFUSED_EXAMPLE: dict[str, Any] = {
    "hour": "2026-01-10T12:00:00Z",
    "rule": "questions",
    "who": "ada",
    "count": 3,
}


class HoldOut(ApiModel):
    """Scoring that is paused, or a machine whose workers are drained."""

    model_config = example(HOLD_EXAMPLE)

    target: str
    place: str = Field(description="`COMPETITION` or `COMPETITION/TASK`; empty: the whole server, or a machine")
    host: str | None = Field(description="the machine whose workers are drained")
    reason: str
    held_at: Moment
    held_by: str

    @classmethod
    def of(cls, one: ScoringHold, place: str) -> Self:
        """Return the hold. place: of its target, in words."""
        return cls(
            target=one.target,
            place=place,
            host=one.host,
            reason=one.reason,
            held_at=one.held_at,
            held_by=one.held_by,
        )


class WaitingWorkOut(ApiModel):
    """The runs, or files to validate, of a task in a phase that wait for the same reason."""

    model_config = example(WAITING_EXAMPLE)

    competition: str
    phase: str
    task: str
    kind: str = Field(description="submission, rescoring or validation")
    count: int
    oldest_at: Moment
    waits_for: str = Field(description="paused, gold, worker, broker, retry or turn")
    why: str = Field(description="a sentence")


class RunningOut(ApiModel):
    """A run that a worker is scoring."""

    model_config = example(RUNNING_EXAMPLE)

    run_id: int
    submission_id: str
    competition: str
    phase: str
    task: str
    team: str
    worker: str
    started_at: Moment
    attempts: int


class LiveWorkerOut(ApiModel):
    """A worker that reported within the last minute."""

    model_config = example(WORKER_EXAMPLE)

    name: str
    host: str
    queues: list[str]
    processes: int
    is_drained: bool
    self_check: str | None
    started_at: Moment
    seen_at: Moment


class QueueOut(ApiModel):
    """Pending work with the reasons, running work, and workers."""

    model_config = example(
        {
            "waiting": [WAITING_EXAMPLE],
            "running": [RUNNING_EXAMPLE],
            "workers": [WORKER_EXAMPLE],
            "holds": [HOLD_EXAMPLE],
            "failed": 2,
        }
    )

    waiting: list[WaitingWorkOut]
    running: list[RunningOut]
    workers: list[LiveWorkerOut]
    holds: list[HoldOut]
    failed: int = Field(description="runs that failed for good, and can be run again")


class QueuedAgainOut(ApiModel):
    """The failed runs that were queued again."""

    model_config = example({"queued": 2})

    queued: int


class StoredOut(ApiModel):
    """The stored files of one kind of a competition."""

    model_config = example(STORED_EXAMPLE)

    competition: str = Field(description="empty: files of drafts, which do not belong to a competition yet")
    kind: str
    files: int
    size_bytes: int = Field(description="equal files are stored once, but counted in each place")


class SpaceOut(ApiModel):
    """The space of the file system of a folder."""

    model_config = example({"folder": "data", "free_bytes": 40_000_000_000, "total_bytes": 100_000_000_000})

    folder: str
    free_bytes: int
    total_bytes: int


class UnownedOut(ApiModel):
    """Stored files that no row references; the sweep deletes them after eight days."""

    model_config = example({"files": 3, "size_bytes": 120_000, "aside_files": 1, "aside_bytes": 40_000})

    files: int
    size_bytes: int
    aside_files: int = Field(description="how many of them are set aside already, for a week")
    aside_bytes: int


class StorageOut(ApiModel):
    """Stored files by competition and kind, free space, and unreferenced files."""

    model_config = example(
        {
            "stored": [STORED_EXAMPLE],
            "space": [{"folder": "data", "free_bytes": 40_000_000_000, "total_bytes": 100_000_000_000}],
            "unowned": {"files": 3, "size_bytes": 120_000, "aside_files": 1, "aside_bytes": 40_000},
        }
    )

    stored: list[StoredOut]
    space: list[SpaceOut]
    unowned: UnownedOut | None = Field(description="null: not counted, because counting reads all names in the storage")


class FailedMailOut(ApiModel):
    """A mail that could not be delivered."""

    model_config = example(MAIL_EXAMPLE)

    id: int
    recipient: str
    subject: str
    failed_at: Moment
    attempts: int
    reason: str

    @classmethod
    def of(cls, mail: OutgoingMail) -> Self:
        """Return the mail without its text."""
        return cls(
            id=mail.id,
            recipient=mail.recipient,
            subject=mail.subject,
            failed_at=mail.ended_at or mail.created_at,
            attempts=mail.attempts,
            reason=mail.last_error or "",
        )


class FailedMailList(ApiModel):
    """The mails that could not be delivered, latest first, and the number of pending ones."""

    model_config = example({"failed": [MAIL_EXAMPLE], "waiting": 4})

    failed: list[FailedMailOut]
    waiting: int


class SentAgainOut(ApiModel):
    """The mails that will be tried again."""

    model_config = example({"mails": 1})

    mails: int


class RefusedOut(ApiModel):
    """Requests that a rate limit refused during an hour."""

    model_config = example(REFUSED_EXAMPLE)

    hour: Moment = Field(description="its beginning")
    rule: str
    who: str = Field(description="a user name, stored for a week; empty: all users together")
    count: int


class RefusedList(ApiModel):
    """The refused requests by hour and rule, latest first."""

    model_config = example({"refused": [REFUSED_EXAMPLE]})

    refused: list[RefusedOut]


class ServerHealthOut(ApiModel):
    """The health of all parts of the server."""

    model_config = example({"parts": [{"name": "sweep", "is_well": True, "says": "last ran 3 s ago"}]})

    parts: list[PartOut]
