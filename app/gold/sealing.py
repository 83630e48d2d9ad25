"""Sealing: encrypts content as it streams in, for owners of a private key only. Nothing here can open it.

A sealed file is a line with its kind (for gold, its binding: `app.gold.binding`), a stream header of 24 bytes, and
chunks of XChaCha20-Poly1305 (libsodium's secretstream), the last one tagged as such, each bound to the line: a file
that was truncated, reordered or modified, or has another line, does not open. The first 32 bytes of the plaintext are a
random salt; the sha256 of salt and content is the commitment. The file's random key is sealed to public keys of the
workers and stored in the database.
"""

from __future__ import annotations

import hashlib
import hmac
import io
import secrets
import tarfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any, Literal, Protocol

from nacl import bindings
from nacl.public import PublicKey, SealedBox

from app.base.errors import EmptyUpload, EvergoldError, UploadTooLarge
from app.base.storage import UNLIMITED_BYTES, Storage, StoredFile, UploadWriter, remove_file
from app.base.text import readable_size
from app.gold.binding import Binding
from app.models import SealedKind
from evergold.scoring.archives import is_ignored

_PIECE_BYTES = 1024 * 1024


class Takes(Protocol):
    """A destination for content, written in pieces."""

    def write(self, chunk: bytes, /) -> object: ...


def write_content(path: Path, into: Takes) -> None:
    """Write the content of the file, or of the folder as a tar with files sorted by name and without times, owners and
    permissions.
    """
    if path.is_dir():
        with tarfile.open(fileobj=_Sink(into), mode="w|", format=tarfile.PAX_FORMAT) as archive:
            for name, file in folder_files(path):
                _add(archive, name, file)
        return
    with path.open("rb") as content:
        while piece := content.read(_PIECE_BYTES):
            into.write(piece)


def folder_files(folder: Path) -> list[tuple[str, Path]]:
    """List (path inside the folder with `/`, file), sorted, without hidden files and files of desktop systems."""
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
    return any(part.startswith(".") for part in parts) or is_ignored("/".join(parts))


def _add(archive: tarfile.TarFile, name: str, path: Path) -> None:
    entry = tarfile.TarInfo(name)  # a new one: mode 0644, no times, no owner
    entry.size = path.stat().st_size
    with path.open("rb") as content:
        archive.addfile(entry, content)


class _Sink(io.RawIOBase):
    """A file object for tarfile that forwards everything written to it."""

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


PUBLIC_LIST = "public-gold.txt"
_HEAD = "# Names of public gold in this folder, one per line: if phases.yaml allows it, teams see its items.\n"


def is_listed_public(folder: Path, name: str) -> bool:
    """Return whether the list in this folder names this gold, or a folder that contains it."""
    parts = PurePosixPath(name).parts
    listed = (PurePosixPath(entry).parts for entry in _entries(folder))
    return any(entry and parts[: len(entry)] == entry for entry in listed)


def list_as_public(folder: Path, names: Iterable[str]) -> None:
    """Add the names to the list in this folder, except for those that it already covers."""
    missing = [name for name in names if not is_listed_public(folder, name)]
    if not missing:
        return
    path = folder / PUBLIC_LIST
    before = path.read_text(encoding="utf-8") if path.exists() else _HEAD
    folder.mkdir(parents=True, exist_ok=True)
    path.write_text(before.rstrip("\n") + "\n" + "".join(f"{name}\n" for name in missing), encoding="utf-8")


def _entries(folder: Path) -> list[str]:
    try:
        lines = (folder / PUBLIC_LIST).read_text(encoding="utf-8").splitlines()
    except FileNotFoundError:
        return []
    return [text for line in lines if (text := line.partition("#")[0].strip())]


SALT_BYTES = 32
#: Plaintext bytes of a chunk; only the last one is shorter.
CHUNK_BYTES = 64 * 1024


class NoWorkerKey(EvergoldError):
    """There is no public key yet, so nobody could open a sealed file."""

    status = 409
    code = "no_worker_key"


@dataclass(frozen=True, slots=True)
class Sealed:
    """A stored ciphertext and its metadata.

    keys: the sealed file key, by id of the worker's key.
    binding: of gold.
    """

    kind: SealedKind
    file: StoredFile
    keys: Mapping[str, bytes]
    commitment: str
    content_bytes: int
    binding: Binding | None = None


class SealingWriter:
    """Takes content in pieces, like `UploadWriter`; only ciphertext reaches the disk.

    what: the binding of gold, or OUTCOMES.
    recipients: public keys by id; raises NoWorkerKey if there are none.
    salt: of gold that is resealed, to preserve its commitment.
    """

    def __init__(
        self,
        storage: Storage,
        limit_bytes: int,
        *,
        what: Binding | Literal[SealedKind.OUTCOMES],
        recipients: Mapping[str, bytes],
        salt: bytes | None = None,
    ) -> None:
        if not recipients:
            raise NoWorkerKey(
                "This server's workers have no key yet, so gold cannot be sealed for them: the administrator "
                "creates one with `evergold gold keygen`. Nothing was stored."
            )
        self.binding = what if isinstance(what, Binding) else None
        self._limit_bytes = limit_bytes
        self._out = UploadWriter(storage, UNLIMITED_BYTES)
        self._first_line = what.line() if isinstance(what, Binding) else unbound_line(what)
        self._state = bindings.crypto_secretstream_xchacha20poly1305_state()
        key = bindings.crypto_secretstream_xchacha20poly1305_keygen()
        self._keys = {key_id: SealedBox(PublicKey(public)).encrypt(key) for key_id, public in recipients.items()}
        header = bindings.crypto_secretstream_xchacha20poly1305_init_push(self._state, key)
        self._out.write(self._first_line + header)
        self._digest = hashlib.sha256()
        self._pending = bytearray()
        self._content_bytes = 0
        self._sealed: Sealed | None = None
        self._take(salt or secrets.token_bytes(SALT_BYTES))

    def write(self, chunk: bytes) -> int:
        """Append a chunk; return its length. Raises UploadTooLarge above the limit, StorageFull if the disk is full."""
        self._content_bytes += len(chunk)
        if self._content_bytes > self._limit_bytes:
            self.discard()
            raise UploadTooLarge(
                f"The file is larger than the {readable_size(self._limit_bytes)} allowed here.",
                limit_bytes=self._limit_bytes,
            )
        self._take(chunk)
        return len(chunk)

    def finish(self) -> StoredFile:
        """Store the ciphertext and return the file; `sealed` then has its metadata. Raises EmptyUpload if nothing was
        written.
        """
        if self._content_bytes == 0:
            self.discard()
            raise EmptyUpload("The file is empty (0 bytes).")
        self._push(bytes(self._pending), bindings.crypto_secretstream_xchacha20poly1305_TAG_FINAL)
        self._pending.clear()
        file = self._out.finish()
        kind = SealedKind.GOLD if self.binding else SealedKind.OUTCOMES
        commitment = self._digest.hexdigest()
        self._sealed = Sealed(kind, file, self._keys, commitment, self._content_bytes, self.binding)
        return file

    def discard(self) -> None:
        """Discard everything; may be called at any time, even after `finish`."""
        self._out.discard()

    @property
    def sealed(self) -> Sealed:
        """The result of `finish`."""
        if self._sealed is None:
            raise RuntimeError("this file is not finished")
        return self._sealed

    def _take(self, plain: bytes) -> None:
        self._digest.update(plain)
        self._pending += plain
        while len(self._pending) > CHUNK_BYTES:  # not >=: something must remain for the last chunk
            piece = bytes(memoryview(self._pending)[:CHUNK_BYTES])
            del self._pending[:CHUNK_BYTES]
            self._push(piece, bindings.crypto_secretstream_xchacha20poly1305_TAG_MESSAGE)

    def _push(self, piece: bytes, tag: int) -> None:
        self._out.write(
            bindings.crypto_secretstream_xchacha20poly1305_push(self._state, piece, ad=self._first_line, tag=tag)
        )


def seal_packed_outcomes(content: bytes, storage: Storage, recipients: Mapping[str, bytes]) -> Sealed:
    """Return the packed outcomes of a run, sealed and stored."""
    writer = SealingWriter(storage, UNLIMITED_BYTES, what=SealedKind.OUTCOMES, recipients=recipients)
    try:
        writer.write(content)
        writer.finish()
        return writer.sealed
    finally:
        writer.discard()


def forget_sealed(sealed: Sealed, storage: Storage) -> None:
    """Delete a ciphertext that no row references; its random key makes it unique."""
    remove_file(storage, sealed.file.sha256)


def unbound_line(kind: SealedKind) -> bytes:
    """Return the first line of a sealed file of this kind without a binding; every chunk is bound to it."""
    return f"evergold-sealed 1 {kind.value}\n".encode()


def key_id_of(public_key: bytes) -> str:
    """Return the id of a public key: the first 16 hexadecimal digits of its sha256."""
    return hashlib.sha256(public_key).hexdigest()[:16]
