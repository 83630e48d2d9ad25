"""The wheel of the package `evergold`, packed from the files that this server runs.

It lets teams install the client that matches this server, without a package index. Except for its manifest, it equals
the result of `pip wheel` on the same sources.
"""

from __future__ import annotations

import base64
import hashlib
import io
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from importlib.metadata import distribution
from pathlib import Path
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

import evergold

NAME = "evergold"
#: Parts of the distribution's own folder that are equal in all installations; others depend on the location.
_COMMON = ("METADATA", "entry_points.txt", "top_level.txt")
_LICENCES = "licenses"
_WHEEL = "Wheel-Version: 1.0\nGenerator: evergold\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
_TYPED = "py.typed"


@dataclass(frozen=True, slots=True)
class Wheel:
    """A wheel: its file name, its bytes, and their sha256."""

    filename: str
    content: bytes
    sha256: str


@lru_cache(maxsize=1)
def client_wheel() -> Wheel:
    """Return the wheel; equal files give equal bytes."""
    version = distribution(NAME).version
    info = f"{NAME}-{version}.dist-info"
    members = {**dict(_modules()), **dict(_descriptions(info))}
    rows = [f"{name},sha256={_hash(data)},{len(data)}\n" for name, data in members.items()]
    members[f"{info}/RECORD"] = "".join([*rows, f"{info}/RECORD,,\n"]).encode()
    content = io.BytesIO()
    with ZipFile(content, "w", ZIP_DEFLATED) as archive:
        for name, data in members.items():
            entry = ZipInfo(name)  # dated 1980, as early as zips can be
            entry.external_attr, entry.create_system, entry.compress_type = 0o644 << 16, 3, ZIP_DEFLATED
            archive.writestr(entry, data)
    data = content.getvalue()
    return Wheel(f"{NAME}-{version}-py3-none-any.whl", data, hashlib.sha256(data).hexdigest())


def _modules() -> Iterator[tuple[str, bytes]]:
    """Yield name and content of the modules of every package, and of no other files."""
    [root] = map(Path, evergold.__path__)
    folders = sorted(path.parent for path in root.rglob("__init__.py") if "build" not in path.relative_to(root).parts)
    for folder in folders:
        paths = sorted(path for path in folder.glob("*.py") if (folder, path.name) != (root, "setup.py"))
        for path in [*paths, *folder.glob(_TYPED)]:
            yield f"{NAME}/{path.relative_to(root).as_posix()}", path.read_bytes()


def _descriptions(info: str) -> Iterator[tuple[str, bytes]]:
    """Yield the files that describe the distribution: its metadata, its commands, its licence."""
    installed = distribution(NAME)
    for name in _COMMON:
        if (text := installed.read_text(name)) is not None:
            yield f"{info}/{name}", text.encode()
    for file in installed.files or ():
        if file.parent.name == _LICENCES:
            yield f"{info}/{_LICENCES}/{file.name}", file.read_binary()
    yield f"{info}/WHEEL", _WHEEL.encode()


def _hash(data: bytes) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
