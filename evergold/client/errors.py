"""Errors between a client and a server; each is a ClientError with a code and details."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


class ClientError(Exception):
    """Base class of the client's errors. code: a stable word for programs; details: data about this error."""

    def __init__(self, message: str, code: str, details: Mapping[str, Any] | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.code = code
        self.details = dict(details or {})


class Unreachable(ClientError):
    """No usable response after all attempts; the message describes the last failure."""

    def __init__(self, message: str) -> None:
        super().__init__(message, "network")


class Refused(ClientError):
    """The server responded with an error of its own. status: the HTTP status; code: one of those in docs/api.md."""

    def __init__(self, status: int, code: str, message: str, details: Mapping[str, Any] | None = None) -> None:
        super().__init__(message, code, details)
        self.status = status
