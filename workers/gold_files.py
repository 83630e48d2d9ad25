"""Plain gold as task types read it: a file as it is, or a folder unpacked from a tar or zip next to it.

The kind is detected from the content, never from a name.
"""

from __future__ import annotations

import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from evergold.scoring.archives import Limits, is_ignored, read_members
from evergold.scoring.errors import InvalidGold, Problem
from evergold.scoring.file_kinds import HEAD_BYTES, is_zip

#: Gold comes from organisers, so these limits guard against mistakes rather than attacks.
LIMITS = Limits(entries=20_000, total_bytes=2**32, member_bytes=2**31, ratio=2_000)
_TAR_MAGIC, _TAR_MAGIC_AT = b"ustar", 257

T = TypeVar("T")


def laid_out(path: Path, read: Callable[[Path], T]) -> T:
    """Return the result of `read` on the gold in this file, unpacked next to it if it is an archive.

    If an archive contains a single folder, that folder may be the gold, too.
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
    """Unpack an archive; False if the gold is a single file, as are a zip with one member and an .npz."""
    with path.open("rb") as file:
        head = file.read(HEAD_BYTES + len(_TAR_MAGIC))
    if head.startswith(_TAR_MAGIC, _TAR_MAGIC_AT):
        _unpack_tar(path, folder)
        return True
    if is_zip(head) and _is_folder(path):
        for name, content in read_members(path, LIMITS, InvalidGold).items():
            target = folder.joinpath(*Path(name).parts)
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(content)
        return True
    return False


def _unpack_tar(path: Path, folder: Path) -> None:
    folder.mkdir()
    try:
        with tarfile.open(path, "r:") as archive:
            archive.extractall(folder, filter="data")  # nothing outside the folder, no devices
    except tarfile.TarError as error:
        raise InvalidGold([Problem("bad-archive", f"the gold's tar cannot be unpacked: {error}")]) from None


def _is_folder(path: Path) -> bool:
    try:
        with zipfile.ZipFile(path) as archive:
            names = [entry.filename for entry in archive.infolist() if not entry.is_dir()]
    except (zipfile.BadZipFile, NotImplementedError, RuntimeError, ValueError):
        return False  # the reader reports what is wrong
    names = [name for name in names if not is_ignored(name)]
    return len(names) > 1 and not all(name.endswith(".npy") for name in names)
