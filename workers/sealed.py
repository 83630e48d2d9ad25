"""Opens sealed files in chunks and detects truncated, extended, reordered or modified ones.

Chunks yielded before the end are authentic, but only the end shows that none is missing. `app.gold.sealing` describes
the format.
"""

from __future__ import annotations

import hashlib
import io
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from nacl import bindings
from nacl.exceptions import CryptoError

from app.gold.binding import LINE_BYTES, Binding, read_binding
from app.gold.sealing import CHUNK_BYTES, SALT_BYTES, Takes, unbound_line
from app.models import SealedKind
from workers.gold_errors import SealBroken
from workers.keys import Keys, open_file_key

_HEADER_BYTES = bindings.crypto_secretstream_xchacha20poly1305_HEADERBYTES
_SEALED_CHUNK_BYTES = CHUNK_BYTES + bindings.crypto_secretstream_xchacha20poly1305_ABYTES
_FINAL = bindings.crypto_secretstream_xchacha20poly1305_TAG_FINAL


@dataclass(frozen=True, slots=True)
class Opened:
    """The fields of a complete file other than its content. binding: None for outcomes and for gold without one."""

    commitment: str
    salt: bytes
    binding: Binding | None


def open_into(path: Path, kind: SealedKind, sealed_keys: Mapping[str, bytes], keys: Keys, into: Takes) -> Opened:
    """Write the content and return the other fields.

    Raises NoKeyForIt, SealBroken, OSError; the output must then be discarded.
    """
    digest = hashlib.sha256()
    salt = bytearray()
    file_key = open_file_key(sealed_keys, keys)
    with path.open("rb") as file:
        line = _first_line(file, kind)
        for piece in _plaintext(file, line, file_key):
            digest.update(piece)
            missing = SALT_BYTES - len(salt)
            salt += piece[:missing]
            into.write(piece[missing:] if missing > 0 else piece)
    if len(salt) < SALT_BYTES:
        raise SealBroken("the sealed file has no salt")
    return Opened(digest.hexdigest(), bytes(salt), read_binding(line))


def opened_bytes(path: Path, kind: SealedKind, sealed_keys: Mapping[str, bytes], keys: Keys) -> bytes:
    """Return the content of a small file."""
    content = io.BytesIO()
    open_into(path, kind, sealed_keys, keys, content)
    return content.getvalue()


def _first_line(file: BinaryIO, kind: SealedKind) -> bytes:
    """Return the first line, which must not be trusted until the chunks have been opened with it."""
    line = file.readline(LINE_BYTES + 1)
    is_bound = kind is SealedKind.GOLD and read_binding(line) is not None
    if not is_bound and line != unbound_line(kind):
        raise SealBroken(f"{os.path.basename(file.name)} does not begin as sealed {kind.value} of this version does")
    return line


def _plaintext(file: BinaryIO, line: bytes, file_key: bytes) -> Iterator[bytes]:
    state = _begin(file, file_key)
    while True:
        piece, tag = _pull(state, file.read(_SEALED_CHUNK_BYTES), line)
        yield piece
        if tag == _FINAL:
            break
    if file.read(1):
        raise SealBroken("the sealed file continues after its end")


def _begin(file: BinaryIO, file_key: bytes) -> bindings.crypto_secretstream_xchacha20poly1305_state:
    state = bindings.crypto_secretstream_xchacha20poly1305_state()
    header = file.read(_HEADER_BYTES)
    if len(header) < _HEADER_BYTES:
        raise SealBroken("the sealed file is truncated")
    bindings.crypto_secretstream_xchacha20poly1305_init_pull(state, header, file_key)
    return state


def _pull(state: bindings.crypto_secretstream_xchacha20poly1305_state, chunk: bytes, line: bytes) -> tuple[bytes, int]:
    if not chunk:
        raise SealBroken("the sealed file is truncated: its last chunk is missing")
    try:
        return bindings.crypto_secretstream_xchacha20poly1305_pull(state, chunk, ad=line)
    except CryptoError:
        raise SealBroken("the sealed file is corrupt or was tampered with") from None
