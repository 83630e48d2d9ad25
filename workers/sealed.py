"""Opens sealed files, piece by piece. A file that was cut, lengthened, reordered or changed is never taken for whole.

What is yielded before the end is authentic, but the rest may be missing: only who reads to the end knows. How files
are sealed is said in `app.gold.sealing`.
"""

from __future__ import annotations

import hashlib
import io
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import BinaryIO

from nacl import bindings
from nacl.exceptions import CryptoError

from app.gold.sealing import CHUNK_BYTES, SALT_BYTES, first_line
from app.models import SealedKind
from workers.gold_errors import SealBroken
from workers.keys import Keys, open_file_key

_HEADER_BYTES = bindings.crypto_secretstream_xchacha20poly1305_HEADERBYTES
_SEALED_CHUNK_BYTES = CHUNK_BYTES + bindings.crypto_secretstream_xchacha20poly1305_ABYTES
_FINAL = bindings.crypto_secretstream_xchacha20poly1305_TAG_FINAL


def open_into(
    path: Path, kind: SealedKind, sealed_keys: Mapping[str, bytes], keys: Keys, into: BinaryIO
) -> tuple[str, bytes]:
    """Write the content; returns its commitment and its salt.

    Raises NoKeyForIt, SealBroken, OSError. What was written until then is to be thrown away.
    """
    digest = hashlib.sha256()
    salt = bytearray()
    for piece in _plaintext(path, kind, open_file_key(sealed_keys, keys)):
        digest.update(piece)
        missing = SALT_BYTES - len(salt)
        salt += piece[:missing]
        into.write(piece[missing:] if missing > 0 else piece)
    if len(salt) < SALT_BYTES:
        raise SealBroken("the sealed file has no salt")
    return digest.hexdigest(), bytes(salt)


def opened_bytes(path: Path, kind: SealedKind, sealed_keys: Mapping[str, bytes], keys: Keys) -> bytes:
    """The content of something small."""
    content = io.BytesIO()
    open_into(path, kind, sealed_keys, keys, content)
    return content.getvalue()


def _plaintext(path: Path, kind: SealedKind, file_key: bytes) -> Iterator[bytes]:
    line = first_line(kind)
    with path.open("rb") as file:
        if file.read(len(line)) != line:
            raise SealBroken(f"{path.name} does not begin as sealed {kind.value} of this version does")
        state = _begin(file, file_key)
        while True:
            chunk = file.read(_SEALED_CHUNK_BYTES)
            piece, tag = _pull(state, chunk, line)
            yield piece
            if tag == _FINAL:
                break
        if file.read(1):
            raise SealBroken("the sealed file goes on behind its end")


def _begin(file: BinaryIO, file_key: bytes) -> bindings.crypto_secretstream_xchacha20poly1305_state:
    state = bindings.crypto_secretstream_xchacha20poly1305_state()
    header = file.read(_HEADER_BYTES)
    if len(header) < _HEADER_BYTES:
        raise SealBroken("the sealed file is cut")
    bindings.crypto_secretstream_xchacha20poly1305_init_pull(state, header, file_key)
    return state


def _pull(state: bindings.crypto_secretstream_xchacha20poly1305_state, chunk: bytes, line: bytes) -> tuple[bytes, int]:
    if not chunk:
        raise SealBroken("the sealed file is cut: its last chunk is missing")
    try:
        return bindings.crypto_secretstream_xchacha20poly1305_pull(state, chunk, ad=line)
    except CryptoError:
        raise SealBroken("the sealed file was cut, changed, or put together from parts") from None
