"""The content that a commitment covers: the bytes of a file, or a folder as a reproducible tar.

Used for uploads, and to verify a commitment once the gold and its salt are published.
"""

from __future__ import annotations

import hashlib
import hmac
import io
import tarfile
from pathlib import Path
from typing import Any, Protocol

#: Files that desktop systems leave in folders.
_JUNK = frozenset({".DS_Store", "Thumbs.db", "desktop.ini", "__MACOSX"})
_PIECE_BYTES = 1024 * 1024


class Takes(Protocol):
    """A destination for content."""

    def write(self, chunk: bytes, /) -> object: ...


def write_content(path: Path, into: Takes) -> None:
    """Write the file, or the folder as a tar with files sorted by name and without times, owners and permissions."""
    if path.is_dir():
        with tarfile.open(fileobj=_Sink(into), mode="w|", format=tarfile.PAX_FORMAT) as archive:
            for name, file in folder_files(path):
                _add(archive, name, file)
        return
    with path.open("rb") as content:
        while piece := content.read(_PIECE_BYTES):
            into.write(piece)


def folder_files(folder: Path) -> list[tuple[str, Path]]:
    """List (path inside the folder with `/`, file), sorted, without hidden files and those of desktop systems."""
    found = [(path.relative_to(folder), path) for path in folder.rglob("*") if path.is_file()]
    return sorted((inside.as_posix(), path) for inside, path in found if not _is_junk(inside.parts))


def commitment_of(salt: bytes, path: Path) -> str:
    """Return the commitment of this gold with this salt, 64 hexadecimal digits."""
    digest = _Digest(salt)
    write_content(path, digest)
    return digest.sha256.hexdigest()


def keeps_commitment(commitment: str, salt: bytes, path: Path) -> bool:
    """Return whether this gold with this salt matches the commitment."""
    return hmac.compare_digest(commitment_of(salt, path), commitment.lower())


def _is_junk(parts: tuple[str, ...]) -> bool:
    return any(part.startswith(".") or part in _JUNK for part in parts)


def _add(archive: tarfile.TarFile, name: str, path: Path) -> None:
    entry = tarfile.TarInfo(name)  # a new one: mode 0644, no times, no owner
    entry.size = path.stat().st_size
    with path.open("rb") as content:
        archive.addfile(entry, content)


class _Sink(io.RawIOBase):
    """A file object for tarfile."""

    def __init__(self, into: Takes) -> None:
        self._into = into

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        piece = bytes(data)
        self._into.write(piece)
        return len(piece)


class _Digest:
    def __init__(self, salt: bytes) -> None:
        self.sha256 = hashlib.sha256(salt)

    def write(self, chunk: bytes) -> None:
        self.sha256.update(chunk)
