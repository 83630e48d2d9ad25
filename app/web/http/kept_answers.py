"""An LRU cache of responses: bytes, plain and compressed, under a key of everything that they depend on.

Callers decide whether a key is still valid.
"""

from __future__ import annotations

import gzip
import hashlib
import threading
from collections import OrderedDict
from collections.abc import Hashable, Sequence
from dataclasses import dataclass

#: Smaller bodies are not compressed.
COMPRESSED_FROM_BYTES = 1024
_COMPRESSION_LEVEL = 6

RawHeaders = Sequence[tuple[bytes, bytes]]


@dataclass(frozen=True, slots=True)
class Representation:
    """A body with its tag and all its headers."""

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
        """Size in memory."""
        return len(self.plain.body) + (len(self.compressed.body) if self.compressed is not self.plain else 0)


class KeptAnswers:
    """Cached responses by key, with a size limit for all of them together; thread-safe."""

    def __init__(self) -> None:
        self._answers: OrderedDict[Hashable, Answer] = OrderedDict()
        self._lock = threading.Lock()
        self.size_bytes = 0

    def get(self, key: Hashable) -> Answer | None:
        """Return the response and mark it as most recently used."""
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
    """Return the response with these headers (without length, encoding and tag) and this body."""
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
