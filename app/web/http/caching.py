"""Conditional requests: an answer is sent once, and then only when it would be another."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping

from fastapi import Request, Response


def strong_etag(request: Request, *parts: object) -> str:
    """A tag of everything that the answer depends on; a compressed answer is another representation."""
    compressed = "gzip" in request.headers.get("accept-encoding", "")
    told = "\n".join(str(part) for part in (*parts, compressed))
    return f'"{hashlib.sha256(told.encode()).hexdigest()[:32]}"'


def is_known(request: Request, etag: str) -> bool:
    """Whether the client says (If-None-Match) that it has this."""
    known = request.headers.get("if-none-match", "")
    return known.strip() == "*" or etag in (tag.strip().removeprefix("W/") for tag in known.split(","))


def accepts_gzip(accepted: str) -> bool:
    """Whether an Accept-Encoding header takes gzip."""
    for part in accepted.split(","):
        coding, _, weight = part.partition(";")
        if coding.strip().lower() in ("gzip", "*"):
            return weight.replace(" ", "").rstrip(".0") != "q="
    return False


def prefers_csv(accepted: str) -> bool:
    """Whether an Accept header names text/csv, and not after JSON."""
    kinds = [kind.partition(";")[0].strip() for kind in accepted.split(",")]
    return "text/csv" in kinds and ("application/json" not in kinds[: kinds.index("text/csv")])


def not_modified(headers: Mapping[str, str]) -> Response:
    """304, with the headers that the full answer would have."""
    return Response(status_code=304, headers=dict(headers))
