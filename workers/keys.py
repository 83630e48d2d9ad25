"""The workers' private keys: a file that no other process is told of, one key a line, the newest last.

Whoever has it can open all gold that is sealed to its keys. It is no part of a backup. The public keys are rows.
"""

from __future__ import annotations

import os
import tempfile
from base64 import b64decode, b64encode
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path

from nacl.exceptions import CryptoError
from nacl.public import PrivateKey, SealedBox
from pydantic import Field
from sqlalchemy import Engine, select
from sqlalchemy.orm import Session

from app.base.config import get_settings
from app.base.db import writing
from app.base.environment import EnvironmentSettings
from app.gold.recorded import current_keys
from app.gold.sealing import key_id_of
from app.models import WorkerKey
from evergold.scoring.errors import ScoringError
from workers.settings import settings_of

_LINE_START = "evergold-worker-key-1"
_HEAD = "# The private keys of Evergold's workers: who has this file can open all gold. Keep it from web servers.\n"

Keys = dict[str, PrivateKey]


class KeySettings(EnvironmentSettings):
    """Where the private keys lie; a setting of workers alone."""

    prefix_of_variables = "EVERGOLD_"
    ignore_empty = True

    gold_key_file: Path | None = Field(
        None, description="the workers' private keys; default: data_dir/keys/workers.key"
    )
    make_gold_key: bool = Field(False, description="whether a worker that has no key makes one when it starts")


class KeyFileBroken(Exception):
    """The key file cannot be understood, or its place cannot be used."""


class NoKeyForIt(ScoringError):
    """It is sealed to keys that this worker does not have."""


def key_file() -> Path:
    """The file with this worker's private keys; it need not exist."""
    return settings_of(KeySettings).gold_key_file or get_settings().data_dir / "keys" / "workers.key"


def read_keys(path: Path) -> Keys:
    """The private keys by id, oldest first; none where there is no file. Raises KeyFileBroken."""
    try:
        lines = path.read_text(encoding="ascii").splitlines()
    except FileNotFoundError:
        return {}
    except (OSError, UnicodeDecodeError) as error:
        raise KeyFileBroken(f"{path} cannot be read: {error}") from None
    keys: Keys = {}
    for number, line in enumerate(lines, start=1):
        if line.strip() and not line.startswith("#"):
            key_id, key = _parse(line, f"{path}, line {number}")
            keys[key_id] = key
    return keys


def write_keys(path: Path, keys: Keys) -> None:
    """The file with these keys, whole or not at all; nobody but its owner may read it."""
    text = _HEAD + "".join(f"{_LINE_START} {key_id} {b64encode(bytes(key)).decode()}\n" for key_id, key in keys.items())
    if not path.parent.is_dir():
        path.parent.mkdir(mode=0o700, parents=True)
    descriptor, unfinished = tempfile.mkstemp(dir=path.parent)  # mode 0600
    try:
        with os.fdopen(descriptor, "w", encoding="ascii") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        os.replace(unfinished, path)
    except BaseException:
        Path(unfinished).unlink(missing_ok=True)
        raise


def add_key(engine: Engine, path: Path, now: datetime) -> str:
    """Make a key, keep its private half in the file, announce its public half: from now on, seals are for it too.

    The file is written first: a public key whose private half is lost would lose gold.
    """
    keys = read_keys(path)
    key = PrivateKey.generate()
    public = bytes(key.public_key)
    write_keys(path, {**keys, key_id_of(public): key})
    with writing(engine) as session:
        announce(session, {**keys, key_id_of(public): key}, now)
    return key_id_of(public)


def ensure_key(engine: Engine, path: Path, now: datetime) -> bool:
    """For a server on one machine: make the first key, unless there is one here or in the database; True if made."""
    with writing(engine) as session:
        known = session.scalars(select(WorkerKey.key_id).limit(1)).first()
    if known is not None or read_keys(path):
        return False
    add_key(engine, path, now)
    return True


def announce(session: Session, keys: Keys, now: datetime) -> None:
    """See that the public half of each is a row; those that were retired stay so."""
    known = set(session.scalars(select(WorkerKey.key_id)))
    for key_id, key in keys.items():
        if key_id not in known:
            public = bytes(key.public_key)
            session.add(WorkerKey(key_id=key_id, public_key=public, created_at=now, retired_at=None))
    session.flush()


def own_recipients(session: Session, keys: Keys) -> dict[str, bytes]:
    """Whom a worker seals to: the public halves of its own keys that are in use, by id; never a key of the database."""
    in_use = current_keys(session)
    return {key_id: bytes(key.public_key) for key_id, key in keys.items() if key_id in in_use}


def open_file_key(sealed_keys: Mapping[str, bytes], keys: Keys) -> bytes:
    """The key of a sealed file; raises NoKeyForIt, in words, when none of ours opens it."""
    for key_id, sealed_key in sealed_keys.items():
        if key_id in keys:
            try:
                return SealedBox(keys[key_id]).decrypt(sealed_key)
            except CryptoError:
                raise NoKeyForIt(f"what is sealed to key {key_id} was changed: it does not open") from None
    wanted = ", ".join(sealed_keys) or "no key at all"
    raise NoKeyForIt(f"it is sealed to {wanted}; this worker has {', '.join(keys) or 'no key'}")


def _parse(line: str, where: str) -> tuple[str, PrivateKey]:
    start, _, rest = line.partition(" ")
    key_id, _, encoded = rest.partition(" ")
    try:
        key = PrivateKey(b64decode(encoded.strip(), validate=True))
    except (ValueError, TypeError, CryptoError):
        key = None
    if start != _LINE_START or key is None or key_id_of(bytes(key.public_key)) != key_id:
        raise KeyFileBroken(f"{where}: this is no line of a key file, or not a whole one")
    return key_id, key
