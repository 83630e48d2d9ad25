"""Names of stored files, the same in a folder and in a bucket: by their sha256, or by the check they are for."""

from __future__ import annotations

from dataclasses import dataclass
from uuid import UUID

#: Unreferenced files stay below it for a week (`app.operations.unowned`).
ASIDE = "unowned"
CHECKS = "checks"
#: Partial uploads, always on the local disk.
INCOMING = "incoming"


@dataclass(frozen=True, slots=True)
class StoredFile:
    sha256: str
    size_bytes: int


@dataclass(frozen=True, slots=True)
class Kept:
    """A file as listed by its storage; kept_at: when it was last stored, as a POSIX timestamp."""

    name: str
    size_bytes: int
    kept_at: float


def is_sha256(text: str) -> bool:
    return len(text) == 64 and set(text) <= set("0123456789abcdef")


def stored_name(sha256: str) -> str:
    """Return the name of the file with this sha256."""
    if not is_sha256(sha256):
        raise ValueError(f"not a sha256: {sha256!r}")
    return f"{sha256[:2]}/{sha256}"


def digest_of(name: str) -> str | None:
    """Return the sha256 that this name stands for; None for any other name."""
    folder, _, digest = name.partition("/")
    return digest if is_sha256(digest) and folder == digest[:2] else None


def check_name(validation_id: UUID) -> str:
    """Return the name of a file to validate, stored separately until its check has ended."""
    return f"{CHECKS}/{validation_id}"


def aside_digest(name: str) -> str | None:
    """Return the sha256 of a file set aside under this name; None for any other name."""
    folder, _, rest = name.partition("/")
    digest, _, since = rest.partition(".")
    return digest if folder == ASIDE and since.count(".") == 1 and is_sha256(digest) else None


def aside_name(digest: str, now: float, mark: str) -> str:
    """Return the name of a file set aside now. mark: distinguishes files of the same second."""
    return f"{ASIDE}/{digest}.{int(now)}.{mark}"
