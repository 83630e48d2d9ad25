"""A bundle, unpacked into a temporary folder within limits: its files, and the zips and folders among them.

Sizes are counted while reading, for the bundle and all zips in it together; nothing in it is ever executed.
"""

from __future__ import annotations

import shutil
import tempfile
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePosixPath

from evergold.scoring.archives import LIMITS, Limits, begins_as_zip, is_ignored, member_names, open_zip
from evergold.scoring.errors import InvalidFile, Problem
from evergold.yaml_lines import Node, read_yaml

_MIB = 1024 * 1024
#: Maximum number and unpacked size of the files of the bundle and of all zips in it.
ENTRIES, TOTAL_BYTES = 10_000, 1024 * _MIB
#: Maximum size of a page or a text of the bundle; larger ones are offered as downloads.
TEXT_BYTES = 256 * 1024
_COPY_BYTES = 256 * 1024
#: The earliest time of a zip; it is constant, so that the same content gives the same zip.
_EARLIEST = (1980, 1, 1, 0, 0, 0)


class InvalidBundle(InvalidFile):
    """The bundle is damaged, dangerous, or not a competition."""


@dataclass(slots=True)
class _Left:
    """The remaining limits for the bundle and the zips in it."""

    entries: int = ENTRIES
    size_bytes: int = TOTAL_BYTES

    @property
    def limits(self) -> Limits:
        size_bytes = max(self.size_bytes, 1)
        return replace(
            LIMITS, entries=max(self.entries, 1), total_bytes=size_bytes, member_bytes=size_bytes, repeats=True
        )


@dataclass(frozen=True, slots=True)
class Bundle:
    """An open bundle.

    - folder: its main file's folder; paths in the bundle are relative to it.
    - main: the main file as nodes with lines; name: its name.
    """

    folder: Path
    main: Node
    name: str
    _scratch: Path
    _left: _Left
    _unpacked: dict[Path, Path] = field(default_factory=dict)

    def find(self, path: str) -> Path | None:
        """Return the path of the file or folder with this name; None if there is none. Raises ValueError if it lies
        outside.
        """
        inside = PurePosixPath(path.strip())
        if inside.is_absolute() or ".." in inside.parts or "\\" in path or "\0" in path or path[1:2] == ":":
            raise ValueError(f"'{path[:80]}' lies outside of the bundle")
        if not inside.parts or len(path) > LIMITS.name_characters:
            return None
        found = self.folder / inside
        return found if found.exists() else None

    def contents(self, found: Path) -> Path:
        """Return a folder with the contents of a file or folder in the bundle; a zip is unpacked once.

        Raises InvalidBundle for a zip that is damaged, dangerous or too large.
        """
        if found.is_dir():
            return found
        if found not in self._unpacked:
            folder = self._scratch / f"inside-{len(self._unpacked)}"
            folder.mkdir()
            if begins_as_zip(found):
                try:
                    _unpack(found, folder, self._left)
                except InvalidBundle as invalid:
                    name = found.relative_to(self.folder).as_posix()
                    raise InvalidBundle([replace(one, file=name) for one in invalid.problems]) from None
            else:
                shutil.copyfile(found, folder / found.name)
            self._unpacked[found] = folder
        return self._unpacked[found]

    def text(self, found: Path) -> str | None:
        """Return the content of a text file; None if it is not text of a readable size."""
        if not found.is_file() or found.stat().st_size > TEXT_BYTES:
            return None
        data = found.read_bytes()
        if b"\0" in data:
            return None
        try:
            return data.decode("utf-8-sig")
        except UnicodeDecodeError:
            return data.decode("cp1252", "replace")


@contextmanager
def opened(path: Path, main_names: tuple[str, ...], size_bytes: int = TOTAL_BYTES) -> Iterator[Bundle]:
    """Unpack the bundle and yield it; the temporary folder is removed afterwards.

    main_names: possible names of the main file; size_bytes: limit of all unpacked files. Raises InvalidBundle, OSError.
    """
    with tempfile.TemporaryDirectory(prefix="evergold-bundle-") as name:
        scratch, left = Path(name), _Left(size_bytes=size_bytes)
        whole = scratch / "bundle"
        whole.mkdir()
        _unpack(path, whole, left)
        main = _main_file(whole, main_names)
        shown = main.relative_to(whole).as_posix()
        node, faults = read_yaml(main, shown)
        if faults or node is None or not node.entries:
            problems = [Problem("not-yaml", fault.message, file=shown, line=fault.line) for fault in faults]
            raise InvalidBundle(
                problems or [Problem("not-yaml", "the file has no keys: it does not declare a competition", file=shown)]
            )
        yield Bundle(main.parent, node, shown, scratch, left)


def top_names(path: Path, size_bytes: int = TOTAL_BYTES) -> set[str]:
    """Return the names of files at the top of a bundle, or in a folder at its top. Raises InvalidBundle."""
    names = member_names(path, _Left(size_bytes=size_bytes).limits, InvalidBundle)
    return {name.rpartition("/")[2] for name in names if name.count("/") <= 1}


def _unpack(path: Path, folder: Path, left: _Left) -> None:
    with open_zip(path, left.limits, InvalidBundle) as archive:
        if sum(map(archive.declared_bytes, archive.names)) > left.size_bytes:
            message = f"unpacked it is larger than the {left.size_bytes / _MIB:,.0f} MiB that are left for a bundle"
            raise InvalidBundle([Problem("archive-too-large", message)])
        left.entries -= len(archive.names)
        for name in archive.names:
            target = folder / name
            try:
                target.parent.mkdir(parents=True, exist_ok=True)
                with target.open("xb") as file:
                    for piece in archive.pieces(name, left.size_bytes):
                        left.size_bytes -= file.write(piece)
            except (FileExistsError, IsADirectoryError, NotADirectoryError):
                message = "a file and a folder of the zip have this name"
                raise InvalidBundle([Problem("duplicate-member", message, file=name)]) from None


def _main_file(whole: Path, names: tuple[str, ...]) -> Path:
    """Return the main file, which is at the top of the zip or in its only folder. Raises InvalidBundle."""
    for folder in (whole, *_only_folder(whole)):
        found = [folder / name for name in names if (folder / name).is_file()]
        if len(found) > 1:
            both = " and ".join(one.name for one in found)
            raise InvalidBundle([Problem("two-main-files", f"there are {both}: keep only one of them")])
        if found:
            return found[0]
    deeper = sorted(one.relative_to(whole).as_posix() for one in whole.rglob(names[0]) if one.is_file())
    if len(deeper) > 1:
        listed = ", ".join(deeper[:4])
        raise InvalidBundle([Problem("two-main-files", f"none is at the top of the zip, and several below: {listed}")])
    where = f"it is in {deeper[0]}: zip the content of that folder" if deeper else "is this a competition's bundle?"
    raise InvalidBundle([Problem("no-main-file", f"there is no {names[0]} at the top of the zip; {where}")])


def _only_folder(whole: Path) -> list[Path]:
    inside = list(whole.iterdir())
    return inside if len(inside) == 1 and inside[0].is_dir() else []


def copy_folder(source: Path, target: Path) -> list[Path]:
    """Copy the files of a folder, except those that desktop systems add; return the written paths."""
    written = []
    for path in sorted(source.rglob("*")):
        name = path.relative_to(source).as_posix()
        if path.is_file() and not is_ignored(name):
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            written.append(Path(shutil.copyfile(path, target / name)))
    return written


def pack_folder(source: Path, target: Path) -> Path:
    """Write the files of a folder as a zip and return its path; equal folders give equal zips."""
    target.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as packed:
        for path in sorted(source.rglob("*")):
            name = path.relative_to(source).as_posix()
            if not path.is_file() or is_ignored(name):
                continue
            entry = zipfile.ZipInfo(name, _EARLIEST)
            entry.compress_type, entry.external_attr = zipfile.ZIP_DEFLATED, 0o644 << 16
            with path.open("rb") as file, packed.open(entry, "w") as member:
                shutil.copyfileobj(file, member, _COPY_BYTES)
    return target


def keep_packed(found: Path, target: Path) -> Path:
    """Write a file or folder of the bundle as one file and return its path; a folder becomes a zip."""
    if found.is_dir():
        return pack_folder(found, target)
    target.parent.mkdir(parents=True, exist_ok=True)
    return Path(shutil.copyfile(found, target))
