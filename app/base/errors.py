"""Expected errors, each with its HTTP status and a stable code; `app.web.http.errors` turns them into responses.

All JSON errors have one format: {"error": {"code", "message", "details"}}. Any other exception is a bug: 500.
"""

from __future__ import annotations

from typing import Any, ClassVar


class EvergoldError(Exception):
    """The base class. message: a sentence for people; details: data for scripts."""

    status: ClassVar[int] = 400
    code: ClassVar[str] = "bad_request"

    def __init__(self, message: str, **details: Any) -> None:
        super().__init__(message)
        self.message = message
        self.details = details

    @property
    def fields(self) -> dict[str, str]:
        """The sentences about single fields of a form, by field name; empty if no field is concerned."""
        fields: dict[str, str] = self.details.get("fields", {})
        return fields


class NotFound(EvergoldError):
    """The object does not exist, or its existence must be hidden from this viewer."""

    status = 404
    code = "not_found"


class NotAuthenticated(EvergoldError):
    status = 401
    code = "not_authenticated"


class Forbidden(EvergoldError):
    status = 403
    code = "forbidden"


class InvalidForm(EvergoldError):
    """The input is incomplete or malformed (details: fields, a mapping of names to sentences)."""

    status = 422
    code = "invalid_form"


class PhaseNotOpen(EvergoldError):
    """The phase is not open yet, or no longer (details: starts_at, ends_at, now)."""

    status = 409
    code = "phase_not_open"


class GoldMissing(EvergoldError):
    """The organisers have not added this phase's gold yet."""

    status = 409
    code = "gold_missing"


class LimitReached(EvergoldError):
    """A limit is used up (details: limit, used, per, retry_at)."""

    status = 429
    code = "limit_reached"


class Busy(EvergoldError):
    """The server is at its limit for this kind of work; try again soon."""

    status = 503
    code = "too_busy"


class IdempotencyConflict(EvergoldError):
    """The key was used for another upload."""

    status = 409
    code = "idempotency_conflict"


class NameTaken(EvergoldError):
    status = 409
    code = "name_taken"


class UploadTooLarge(EvergoldError):
    """The file is larger than allowed (details: limit_bytes)."""

    status = 413
    code = "upload_too_large"


class StorageFull(EvergoldError):
    status = 507
    code = "storage_full"


class StorageAway(EvergoldError):
    """The storage on another machine is unreachable or refuses access; the request may be repeated."""

    status = 503
    code = "storage_away"


class StorageDamaged(EvergoldError):
    """The storage repeatedly returns content that does not match its sha256."""

    status = 503
    code = "storage_damaged"


class EmptyUpload(EvergoldError):
    status = 422
    code = "empty_upload"
