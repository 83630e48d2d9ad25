"""Sealing: encrypts content as it streams in, for owners of a private key only. Nothing here can open it.

A sealed file is a line with its kind (for gold, its binding: `app.gold.binding`), a stream header of 24 bytes, and
chunks of XChaCha20-Poly1305 (libsodium's secretstream), the last one tagged as such, each bound to the line: a file
that was truncated, reordered or modified, or has another line, does not open. The first 32 bytes of the plaintext are a
random salt; the sha256 of salt and content is the commitment. The file's random key is sealed to public keys of the
workers and stored in the database.
"""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from nacl import bindings
from nacl.public import PublicKey, SealedBox

from app.base.errors import EmptyUpload, EvergoldError, UploadTooLarge
from app.base.storage import UNLIMITED_BYTES, Storage, StoredFile, UploadWriter, remove_file
from app.base.text import readable_size
from app.gold.binding import Binding
from app.models import SealedKind

SALT_BYTES = 32
#: Plaintext bytes of a chunk; only the last one is shorter.
CHUNK_BYTES = 64 * 1024


class NoWorkerKey(EvergoldError):
    """There is no public key yet, so nobody could open what is sealed."""

    status = 409
    code = "no_worker_key"


@dataclass(frozen=True, slots=True)
class Sealed:
    """A stored ciphertext and its metadata.

    keys: the sealed file key, by id of the worker's key.
    binding: the place of gold.
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
    salt: that of gold being resealed, which preserves its commitment.
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
                "This server's workers have no key yet, so nothing can be sealed for them: its administrator creates "
                "one with `evergold gold keygen`. Nothing was stored."
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
        """Append a chunk. Raises UploadTooLarge above the limit, StorageFull if the disk is full."""
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
        """Store the ciphertext; `sealed` then has its metadata. Raises EmptyUpload if nothing was written."""
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
        """Discard everything; safe at any time, also after `finish`."""
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
    """Seal the packed outcomes of a run."""
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
