"""The workers' private keys: a file that only workers can read, one key per line, the newest last.

The keys open all gold sealed to them; the file is not part of backups. The public keys are rows of the database.
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
from pydantic_settings import BaseSettings, SettingsConfigDict
from sqlalchemy import Engine, select
from sqlalchemy.orm import Session

from app.base.config import get_settings
from app.base.db import writing
from app.gold.recorded import current_keys
from app.gold.sealing import key_id_of
from app.models import WorkerKey
from evergold.scoring.errors import ScoringError
from workers.settings import settings_of

_LINE_START = "evergold-worker-key-1"
_HEAD = "# The private keys of Evergold's workers: anybody with this file can open all gold. Keep it off web servers.\n"

Keys = dict[str, PrivateKey]


class KeySettings(BaseSettings):
    """The location of the private keys; these settings are read only by workers."""

    model_config = SettingsConfigDict(env_prefix="EVERGOLD_", env_ignore_empty=True)

    gold_key_file: Path | None = Field(
        None, description="the workers' private keys; default: data_dir/keys/workers.key"
    )
    make_gold_key: bool = Field(False, description="whether a worker without a key creates one when it starts")


class KeyFileBroken(Exception):
    """The key file is malformed or its location unusable."""


class NoKeyForIt(ScoringError):
    """The file is sealed to keys that this worker does not have."""


def key_file() -> Path:
    """Return the path of this worker's private keys, which need not exist."""
    return settings_of(KeySettings).gold_key_file or get_settings().data_dir / "keys" / "workers.key"


def read_keys(path: Path) -> Keys:
    """Return the private keys by id, oldest first; empty if there is no file. Raises KeyFileBroken."""
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
    """Write the key file atomically, readable by its owner only."""
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
    """Generate a key, write its private half to the file and register its public half for new seals; return its id.

    The file is written first: gold sealed to a public key is lost if the private key is.
    """
    keys = read_keys(path)
    key = PrivateKey.generate()
    public = bytes(key.public_key)
    write_keys(path, {**keys, key_id_of(public): key})
    with writing(engine) as session:
        announce(session, {**keys, key_id_of(public): key}, now)
    return key_id_of(public)


def ensure_key(engine: Engine, path: Path, now: datetime) -> bool:
    """Generate the first key on a single-machine server; return False if the file or the database has one."""
    with writing(engine) as session:
        known = session.scalars(select(WorkerKey.key_id).limit(1)).first()
    if known is not None or read_keys(path):
        return False
    add_key(engine, path, now)
    return True


def announce(session: Session, keys: Keys, now: datetime) -> None:
    """Register missing public keys; retired keys stay retired."""
    known = set(session.scalars(select(WorkerKey.key_id)))
    for key_id, key in keys.items():
        if key_id not in known:
            public = bytes(key.public_key)
            session.add(WorkerKey(key_id=key_id, public_key=public, created_at=now, retired_at=None))
    session.flush()


def own_recipients(session: Session, keys: Keys) -> dict[str, bytes]:
    """Return the public keys of this worker that are in use, by id; other keys of the database are never used."""
    in_use = current_keys(session)
    return {key_id: bytes(key.public_key) for key_id, key in keys.items() if key_id in in_use}


def open_file_key(sealed_keys: Mapping[str, bytes], keys: Keys) -> bytes:
    """Return the key of a sealed file. Raises NoKeyForIt if none of our keys opens it."""
    for key_id, sealed_key in sealed_keys.items():
        if key_id in keys:
            try:
                return SealedBox(keys[key_id]).decrypt(sealed_key)
            except CryptoError:
                raise NoKeyForIt(f"data sealed for key {key_id} were changed and do not open") from None
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
        raise KeyFileBroken(f"{where}: this is not a complete line of a key file")
    return key_id, key
