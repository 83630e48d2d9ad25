"""Conditional requests (304 without a body), and the LRU cache of public responses."""

from __future__ import annotations

import gzip
import hashlib
import threading
from collections import OrderedDict
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass

from fastapi import Request, Response

#: Minimum size of a compressed body.
COMPRESSED_FROM_BYTES = 1024
_COMPRESSION_LEVEL = 6

RawHeaders = Sequence[tuple[bytes, bytes]]


@dataclass(frozen=True, slots=True)
class Representation:
    """A response body with its ETag and all its headers."""

    etag: str
    headers: RawHeaders
    body: bytes


@dataclass(frozen=True, slots=True)
class Answer:
    """A response in both encodings; both are the same if compression is not worthwhile."""

    plain: Representation
    compressed: Representation

    @property
    def size_bytes(self) -> int:
        """The size in memory, in bytes."""
        return len(self.plain.body) + (len(self.compressed.body) if self.compressed is not self.plain else 0)


class KeptAnswers:
    """Cached responses by key, with a size limit for all of them together; thread-safe."""

    def __init__(self) -> None:
        self._answers: OrderedDict[Hashable, Answer] = OrderedDict()
        self._lock = threading.Lock()
        self.size_bytes = 0

    def get(self, key: Hashable) -> Answer | None:
        """Return the response, marked as most recently used; None if it is not cached."""
        with self._lock:
            found = self._answers.get(key)
            if found is not None:
                self._answers.move_to_end(key)
            return found

    def keep(self, key: Hashable, answer: Answer, limit_bytes: int) -> None:
        """Cache the response, and evict others until all fit; a response larger than the limit is not cached."""
        if answer.size_bytes > limit_bytes:
            return
        with self._lock:
            self._drop(key)
            self._answers[key] = answer
            self.size_bytes += answer.size_bytes
            while self.size_bytes > limit_bytes:
                self._drop(next(iter(self._answers)))

    def _drop(self, key: Hashable) -> None:
        gone = self._answers.pop(key, None)
        self.size_bytes -= gone.size_bytes if gone else 0


def answer_of(headers: RawHeaders, body: bytes) -> Answer:
    """Return the response with this body and these headers, which do not include length, encoding and tag."""
    plain = _representation(headers, body, None)
    if len(body) < COMPRESSED_FROM_BYTES:
        return Answer(plain, plain)
    small = gzip.compress(body, _COMPRESSION_LEVEL, mtime=0)  # no timestamp: equal bodies stay equal when compressed
    return Answer(plain, _representation(headers, small, b"gzip"))


def _representation(headers: RawHeaders, body: bytes, encoding: bytes | None) -> Representation:
    etag = f'"{hashlib.sha256(body).hexdigest()[:32]}"'
    more = [(b"etag", etag.encode()), (b"content-length", str(len(body)).encode())]
    if encoding is not None:
        more.append((b"content-encoding", encoding))
    return Representation(etag, (*headers, *more), body)


def strong_etag(request: Request, *parts: object) -> str:
    """Return a tag of everything that the response depends on; the compressed response has a different tag."""
    compressed = "gzip" in request.headers.get("accept-encoding", "")
    parts_text = "\n".join(str(part) for part in (*parts, compressed))
    return f'"{hashlib.sha256(parts_text.encode()).hexdigest()[:32]}"'


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
    """Return True if an Accept header lists text/csv, and not JSON before it."""
    kinds = [kind.partition(";")[0].strip() for kind in accepted.split(",")]
    return "text/csv" in kinds and ("application/json" not in kinds[: kinds.index("text/csv")])


def not_modified(headers: Mapping[str, str]) -> Response:
    """Return 304 with the headers of the full response."""
    return Response(status_code=304, headers=dict(headers))
