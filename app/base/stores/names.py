"""What stored files are called, alike in a folder and in a bucket: by their sha256, or by the check they are for."""

from __future__ import annotations

from dataclasses import dataclass
from uuid import UUID

#: Beneath it lies what nothing names, for a week (`app.operations.unowned`).
ASIDE = "unowned"
CHECKS = "checks"
#: Half-written files; on this machine's disk, wherever the finished ones go.
INCOMING = "incoming"


@dataclass(frozen=True, slots=True)
class StoredFile:
    sha256: str
    size_bytes: int


@dataclass(frozen=True, slots=True)
class Kept:
    """A file as its storage lists it. kept_at: when it was last stored, in seconds, as files' times are."""

    name: str
    size_bytes: int
    kept_at: float


def is_sha256(text: str) -> bool:
    return len(text) == 64 and set(text) <= set("0123456789abcdef")


def stored_name(sha256: str) -> str:
    """Of the file with this sha256."""
    if not is_sha256(sha256):
        raise ValueError(f"not a sha256: {sha256!r}")
    return f"{sha256[:2]}/{sha256}"


def digest_of(name: str) -> str | None:
    """The sha256 that is this name; None for whatever else lies there."""
    folder, _, digest = name.partition("/")
    return digest if is_sha256(digest) and folder == digest[:2] else None


def check_name(validation_id: UUID) -> str:
    """Of a file that is only checked, until its check has ended: apart, and for that alone."""
    return f"{CHECKS}/{validation_id}"


def aside_digest(name: str) -> str | None:
    """The sha256 of what was set aside under this name; None for whatever else lies there."""
    folder, _, rest = name.partition("/")
    digest, _, since = rest.partition(".")
    return digest if folder == ASIDE and since.count(".") == 1 and is_sha256(digest) else None


def aside_name(digest: str, now: float, mark: str) -> str:
    """Of a file that was set aside now. mark: tells those apart that were at the same second."""
    return f"{ASIDE}/{digest}.{int(now)}.{mark}"
