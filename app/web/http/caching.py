"""Conditional requests: clients that already have the current response receive 304 without a body."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping

from fastapi import Request, Response


def strong_etag(request: Request, *parts: object) -> str:
    """Return a tag of everything that the response depends on; the compressed response has a tag of its own."""
    compressed = "gzip" in request.headers.get("accept-encoding", "")
    told = "\n".join(str(part) for part in (*parts, compressed))
    return f'"{hashlib.sha256(told.encode()).hexdigest()[:32]}"'


def is_known(request: Request, etag: str) -> bool:
    """Return True if the client already has this version (If-None-Match)."""
    known = request.headers.get("if-none-match", "")
    return known.strip() == "*" or etag in (tag.strip().removeprefix("W/") for tag in known.split(","))


def accepts_gzip(accepted: str) -> bool:
    """Return True if an Accept-Encoding header allows gzip."""
    for part in accepted.split(","):
        coding, _, weight = part.partition(";")
        if coding.strip().lower() in ("gzip", "*"):
            return weight.replace(" ", "").rstrip(".0") != "q="
    return False


def prefers_csv(accepted: str) -> bool:
    """Return True if an Accept header lists text/csv, and JSON not before it."""
    kinds = [kind.partition(";")[0].strip() for kind in accepted.split(",")]
    return "text/csv" in kinds and ("application/json" not in kinds[: kinds.index("text/csv")])


def not_modified(headers: Mapping[str, str]) -> Response:
    """Return 304 with the headers of the full response."""
    return Response(status_code=304, headers=dict(headers))
