"""Sealing: content becomes ciphertext as it streams in, for holders of a private key alone. Nothing here can open it.

A sealed file is a line that names format and kind, a stream header of 24 bytes, and chunks of XChaCha20-Poly1305
(libsodium's secretstream), the last one tagged as such: a file that was cut, reordered or changed does not open. The
first 32 bytes of the plaintext are a random salt; the sha256 of salt and content is the content's commitment. The
file's random key is sealed to every current public key of the workers, and kept beside the file, in the database.
"""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from nacl import bindings
from nacl.public import PublicKey, SealedBox

from app.base.errors import EmptyUpload, EvergoldError, UploadTooLarge
from app.base.storage import StoredFile, UploadWriter, stored_path
from app.base.text import readable_size
from app.models import SealedKind

FORMAT = 1
SALT_BYTES = 32
#: Plaintext of a chunk; only the last one is shorter.
CHUNK_BYTES = 64 * 1024
UNLIMITED_BYTES = 2**62


class NoWorkerKey(EvergoldError):
    """There is no public key yet: nobody could ever open what is sealed."""

    status = 409
    code = "no_worker_key"


@dataclass(frozen=True, slots=True)
class Sealed:
    """A stored ciphertext, and what must be kept with it. keys: the file's key, sealed, by id of the worker's key."""

    kind: SealedKind
    file: StoredFile
    keys: Mapping[str, bytes]
    commitment: str
    content_bytes: int


class SealingWriter:
    """Takes content piece by piece, as `UploadWriter` does; only ciphertext reaches the disk.

    recipients: public keys by id; raises NoWorkerKey where there are none.
    """

    def __init__(self, folder: Path, limit_bytes: int, *, kind: SealedKind, recipients: Mapping[str, bytes]) -> None:
        if not recipients:
            raise NoWorkerKey(
                "This server's workers have no key yet, so nothing can be sealed for them: whoever runs it makes one "
                "with `evergold gold keygen`. Nothing was stored."
            )
        self._kind = kind
        self._limit_bytes = limit_bytes
        self._out = UploadWriter(folder, UNLIMITED_BYTES)
        self._first_line = first_line(kind)
        self._state = bindings.crypto_secretstream_xchacha20poly1305_state()
        key = bindings.crypto_secretstream_xchacha20poly1305_keygen()
        self._keys = {key_id: SealedBox(PublicKey(public)).encrypt(key) for key_id, public in recipients.items()}
        header = bindings.crypto_secretstream_xchacha20poly1305_init_push(self._state, key)
        self._out.write(self._first_line + header)
        self._digest = hashlib.sha256()
        self._pending = bytearray()
        self._content_bytes = 0
        self._sealed: Sealed | None = None
        self._take(secrets.token_bytes(SALT_BYTES))

    def write(self, chunk: bytes) -> int:
        """Append; raises UploadTooLarge as soon as the limit is passed, StorageFull when the disk is."""
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
        """Store the ciphertext; raises EmptyUpload if nothing was written. `sealed` then has the rest."""
        if self._content_bytes == 0:
            self.discard()
            raise EmptyUpload("The file is empty (0 bytes).")
        self._push(bytes(self._pending), bindings.crypto_secretstream_xchacha20poly1305_TAG_FINAL)
        self._pending.clear()
        file = self._out.finish()
        self._sealed = Sealed(self._kind, file, self._keys, self._digest.hexdigest(), self._content_bytes)
        return file

    def discard(self) -> None:
        """Forget everything; safe to call at any time, also after `finish`."""
        self._out.discard()

    @property
    def sealed(self) -> Sealed:
        """What `finish` made."""
        if self._sealed is None:
            raise RuntimeError("this file is not finished")
        return self._sealed

    def _take(self, plain: bytes) -> None:
        self._digest.update(plain)
        self._pending += plain
        while len(self._pending) > CHUNK_BYTES:  # not >=: something is always left to be the last chunk
            piece = bytes(memoryview(self._pending)[:CHUNK_BYTES])
            del self._pending[:CHUNK_BYTES]
            self._push(piece, bindings.crypto_secretstream_xchacha20poly1305_TAG_MESSAGE)

    def _push(self, piece: bytes, tag: int) -> None:
        self._out.write(
            bindings.crypto_secretstream_xchacha20poly1305_push(self._state, piece, ad=self._first_line, tag=tag)
        )


def seal_bytes(content: bytes, folder: Path, *, kind: SealedKind, recipients: Mapping[str, bytes]) -> Sealed:
    """Seal something small."""
    writer = SealingWriter(folder, UNLIMITED_BYTES, kind=kind, recipients=recipients)
    try:
        writer.write(content)
        writer.finish()
        return writer.sealed
    finally:
        writer.discard()


def forget_sealed(sealed: Sealed, folder: Path) -> None:
    """Remove a ciphertext that no row came to name; nobody else can have the same."""
    stored_path(folder, sealed.file.sha256).unlink(missing_ok=True)


def first_line(kind: SealedKind) -> bytes:
    """How a sealed file of this kind begins; every chunk is bound to it."""
    return f"evergold-sealed {FORMAT} {kind.value}\n".encode()


def key_id_of(public_key: bytes) -> str:
    """The name of a public key: the first 16 hexadecimal digits of its sha256."""
    return hashlib.sha256(public_key).hexdigest()[:16]
