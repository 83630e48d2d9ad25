"""The only code that opens gold: a sealed version with the workers' key, or plain gold by its name in phases.yaml.

Names are resolved inside a folder that only workers know. Parsed gold and items are cached between runs, since all
submissions of a phase share them.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import tarfile
import tempfile
import zipfile
from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any, Protocol, TypeVar

from pydantic import Field
from pydantic_settings import BaseSettings, SettingsConfigDict

from app.base.config import get_settings
from app.base.private_folders import clear_unlocked, locked_folder
from app.base.storage import local_file, sealed_storage_of, storage_of
from app.gold.binding import Binding
from app.gold.sealing import Takes, is_listed_public
from app.models import SealedKind
from app.runs.claims import SealedGold
from app.runs.workers import NOT_FOR_PROGRAM
from evergold.scoring.archives import HEAD_BYTES, Limits, is_ignored, is_zip, read_members
from evergold.scoring.errors import InvalidGold, InvalidItems, Problem
from evergold.scoring.task import AnyTask, Options
from workers.gold_errors import GoldNotFound, GoldRefused, SealBroken
from workers.keys import key_file, read_keys
from workers.sealed import Opened, open_into
from workers.settings import settings_of

#: Gold comes from organisers, so these limits guard against mistakes rather than attacks.
LIMITS = Limits(entries=20_000, total_bytes=2**32, member_bytes=2**31, ratio=2_000)
_TAR_MAGIC, _TAR_MAGIC_AT = b"ustar", 257
#: Number of bytes from the start that identify a tar or a zip.
ARCHIVE_HEAD_BYTES = HEAD_BYTES + len(_TAR_MAGIC)

T = TypeVar("T")


def laid_out(path: Path, read: Callable[[Path], T]) -> T:
    """Return the result of `read` on the gold in this file, unpacked next to it if it is an archive.

    If an archive contains a single folder, that folder may be the gold.
    """
    folder = path.with_name("unpacked")
    if not _unpack(path, folder):
        return read(path)
    try:
        return read(folder)
    except InvalidGold:
        inside = list(folder.iterdir())
        if len(inside) != 1 or not inside[0].is_dir():
            raise
        try:
            return read(inside[0])
        except InvalidGold:
            pass
        raise


def _unpack(path: Path, folder: Path) -> bool:
    """Unpack an archive and return True; return False if the gold is a single file, including a zip with one member and
    an .npz.
    """
    with path.open("rb") as file:
        head = file.read(ARCHIVE_HEAD_BYTES)
    if is_tar(head):
        unpack_tar(path, folder)
        return True
    if is_zip(head) and _is_folder(path):
        for name, content in read_members(path, LIMITS, InvalidGold).items():
            target = folder.joinpath(*Path(name).parts)
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(content)
        return True
    return False


def is_tar(head: bytes) -> bool:
    """Return whether a file is a tar. head: its first bytes, at least `ARCHIVE_HEAD_BYTES`."""
    return head.startswith(_TAR_MAGIC, _TAR_MAGIC_AT)


def unpack_tar(path: Path, folder: Path) -> None:
    """Unpack gold that was uploaded as a folder. Raises InvalidGold."""
    folder.mkdir(exist_ok=True)
    try:
        with tarfile.open(path, "r:") as archive:
            archive.extractall(folder, filter="data")  # nothing outside the folder, no devices
    except tarfile.TarError as error:
        raise InvalidGold([Problem("bad-archive", f"the gold's tar cannot be unpacked: {error}")]) from None


def _is_folder(path: Path) -> bool:
    try:
        with zipfile.ZipFile(path) as archive:
            paths = [entry.filename.replace("\\", "/") for entry in archive.infolist()]
    except (zipfile.BadZipFile, NotImplementedError, RuntimeError, ValueError):
        return False  # the reader reports what is wrong
    names = [name for name in paths if not name.endswith("/") and not is_ignored(name)]
    return len(names) > 1 and not all(name.endswith(".npy") for name in names)


_PREFIX = "evergold-gold-"
_MEMORY = Path("/dev/shm")  # noqa: S108 - private folders are made in it, by mkdtemp
#: Room for the content and for what is unpacked from it.
_TIMES = 3


@contextmanager
def private_folder(content_bytes: int) -> Iterator[Path]:
    """Yield an empty folder, mode 0700, with enough space for this content and everything unpacked from it."""
    place = _place(content_bytes * _TIMES)
    clear_unlocked(place, _PREFIX)
    with locked_folder(place, _PREFIX) as folder:
        yield folder


def _place(needed_bytes: int) -> Path:
    with suppress(OSError):
        if os.access(_MEMORY, os.W_OK | os.X_OK) and shutil.disk_usage(_MEMORY).free > needed_bytes:
            return _MEMORY
    return Path(tempfile.gettempdir())


#: Number of parsed files cached per worker process.
KEPT = 16


class GoldRequest(Protocol):
    """The gold and items that a claim refers to, of a run or of a file to validate."""

    @property
    def gold(self) -> str: ...

    @property
    def items_sha256(self) -> str | None: ...

    @property
    def sealed_gold(self) -> SealedGold | None: ...


class GoldSettings(BaseSettings):
    """The location of gold; these settings are read only by workers."""

    model_config = SettingsConfigDict(env_prefix="EVERGOLD_", env_ignore_empty=True)

    gold_dir: Path | None = Field(None, description="the workers' gold folder; default: data_dir/gold")


_cache: OrderedDict[tuple[Any, ...], Any] = OrderedDict()
_digests: dict[tuple[tuple[str, int, int], ...], str] = {}


def gold_folder() -> Path:
    """Return the folder of this worker's plain gold."""
    return settings_of(GoldSettings).gold_dir or get_settings().data_dir / "gold"


@dataclass(frozen=True, slots=True)
class OpenGold:
    """Parsed gold.

    is_public: True if anybody may see it, as declared when it was sealed, or in this worker's list.
    binding: the place that its file declares; None for plain gold, and for gold sealed before bindings existed.
    """

    content: Any
    is_public: bool
    binding: Binding | None = None
    is_sealed: bool = True


def gold_of(task: AnyTask, options: Options, claim: GoldRequest) -> OpenGold:
    """Return the gold of a run: its sealed version, or plain gold if its phase has no sealed one.

    Raises InvalidGold; GoldNotFound, SealBroken or NoKeyForIt if this worker cannot open it.
    """
    if claim.sealed_gold is not None:
        return read_sealed_gold(task, options, claim.sealed_gold)
    return OpenGold(read_gold(task, options, claim.gold), is_listed_public(gold_folder(), claim.gold), is_sealed=False)


def read_sealed_gold(task: AnyTask, options: Options, sealed: SealedGold) -> OpenGold:
    """Return the gold of this version, after checking its commitment and that it was sealed for this place."""
    key = ("gold", task.name, _key(options), sealed.sha256, sealed.commitment)
    content, binding = _cached(key, lambda: _open_and_read(task, options, sealed))
    _check_place(binding, sealed)
    return OpenGold(content, binding is not None and binding.is_public, binding)


def open_sealed_gold(sealed: SealedGold, into: Takes) -> Opened:
    """Write the content of this version and return its other fields. Raises the errors of `gold_of`."""
    path = sealed_path(sealed)
    opened = open_into(path, SealedKind.GOLD, sealed.keys, read_keys(key_file()), into)
    if opened.commitment != sealed.commitment:
        raise SealBroken("this gold does not match its commitment")
    _check_place(opened.binding, sealed)
    return opened


def sealed_path(sealed: SealedGold) -> Path:
    """Return the path of this version's file. Raises GoldNotFound."""
    storage = sealed_storage_of(get_settings())
    try:
        return local_file(storage, sealed.sha256)
    except FileNotFoundError:
        raise GoldNotFound(f"the sealed gold {sealed.sha256} is not in {storage.folder}") from None


def _check_place(binding: Binding | None, sealed: SealedGold) -> None:
    """Raise SealBroken if gold was sealed for another place, or GoldRefused for another program.

    Gold without a binding is valid for any place, counts as hidden, and is never opened for a program.
    """
    if sealed.place.program and (binding is None or not binding.has_program_of(sealed.place)):
        why = "it was sealed for another program or environment"
        raise GoldRefused(f"{NOT_FOR_PROGRAM}: {why}; upload the gold of {sealed.place} again")
    if binding is not None and not binding.covers(sealed.place):
        raise SealBroken(f"this gold was sealed for {binding}, not for {sealed.place}; upload it there again")


def read_gold(task: AnyTask, options: Options, name: str) -> Any:
    """Return the parsed plain gold with this name. Raises GoldNotFound, InvalidGold."""
    path = _gold_path(name)
    return _cached(("gold", task.name, _key(options), _sha256(path)), lambda: task.read_gold(path, options))


def read_items(task: AnyTask, options: Options, claim: GoldRequest, gold: Any) -> Any:
    """Return the items that a prediction must cover: from the phase's blind file, or else from gold."""
    sha256 = claim.items_sha256
    if sha256 is None:
        return task.items_of(gold, options)
    return items_in_storage(task, options, sha256)


def items_in_storage(task: AnyTask, options: Options, sha256: str) -> Any:
    """Return the blind items in this stored file. Raises InvalidItems."""
    storage = storage_of(get_settings())
    try:
        return _cached(
            ("items", task.name, _key(options), sha256),
            lambda: task.read_items(local_file(storage, sha256), options),
        )
    except FileNotFoundError:
        raise InvalidItems([Problem("missing-file", f"the blind file {sha256} is not in storage")]) from None


def _open_and_read(task: AnyTask, options: Options, sealed: SealedGold) -> tuple[Any, Binding | None]:
    """Return parsed sealed gold with its binding; the clear text exists only while the task type reads it."""
    with private_folder(sealed_path(sealed).stat().st_size) as folder:
        with (folder / "sealed-gold").open("wb") as clear:
            opened = open_sealed_gold(sealed, clear)
        return laid_out(folder / "sealed-gold", lambda gold: task.read_gold(gold, options)), opened.binding


def _gold_path(name: str) -> Path:
    parts = PurePosixPath(name).parts
    if not parts or name.startswith("/") or ".." in parts:
        raise InvalidGold([Problem("gold-name", f"{name!r} does not name a file inside the gold folder")])
    path = gold_folder().joinpath(*parts)
    if not path.exists():
        raise GoldNotFound(f"gold '{name}' is not in this worker's gold folder")
    return path


def _sha256(path: Path) -> str:
    """Return the hash of a file, or of all files of a folder with their names; cached until one of them is modified."""
    files = [path] if path.is_file() else sorted(p for p in path.rglob("*") if p.is_file())
    stamp = tuple((str(file), file.stat().st_mtime_ns, file.stat().st_size) for file in files)
    if stamp not in _digests:
        together = hashlib.sha256()
        for file in files:
            with file.open("rb") as content:
                of_file = hashlib.file_digest(content, "sha256").hexdigest()
            together.update(f"{of_file} {file.relative_to(path)}\n".encode())
        _digests[stamp] = together.hexdigest()
    return _digests[stamp]


def _key(options: Options) -> str:
    return json.dumps(options.model_dump(mode="json"), sort_keys=True)


def _cached(key: tuple[Any, ...], read: Callable[[], T]) -> T:
    if key in _cache:
        _cache.move_to_end(key)
        kept: T = _cache[key]
        return kept
    value = _cache[key] = read()
    while len(_cache) > KEPT:
        _cache.popitem(last=False)
    return value
