"""Read uploads: a plain file, or a zip (locally also a folder). Nothing is extracted to disk.

Content decides what a file is, never its name. Sizes are counted while reading: an archive may lie about them.
The contents of the files are checked by `tables`, `cupt` and the tasks.
"""

from __future__ import annotations

import io
import stat
import struct
import zipfile
import zlib
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import BinaryIO, NoReturn

from evergold.scoring.characters import can_be_name
from evergold.scoring.errors import InvalidFile, InvalidPrediction, Problem, Problems, shorten

#: This many bytes from the start suffice.
HEAD_BYTES = 262

_ZIP_STARTS = (b"PK\x03\x04", b"PK\x05\x06", b"PK\x07\x08")
_OTHER_STARTS = (
    (b"\x1f\x8b", "a gzip file"),
    (b"BZh", "a bzip2 file"),
    (b"\xfd7zXZ\x00", "an xz file"),
    (b"(\xb5/\xfd", "a zstd file"),
    (b"7z\xbc\xaf\x27\x1c", "a 7z archive"),
    (b"Rar!\x1a\x07", "a rar archive"),
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "an old Office file (.xls or .doc)"),
    (b"%PDF-", "a PDF"),
)
_TAR_MAGIC, _TAR_MAGIC_AT = b"ustar", 257


def is_zip(head: bytes) -> bool:
    """Return whether a file with this start is a zip (Office documents and NumPy's .npz are zips too)."""
    return head.startswith(_ZIP_STARTS)


def other_kind(head: bytes) -> str | None:
    """Return the kind of the archive or document that starts so, if it cannot be read here (`a tar archive`); otherwise
    None.
    """
    if head.startswith(_TAR_MAGIC, _TAR_MAGIC_AT):
        return "a tar archive"
    return next((kind for start, kind in _OTHER_STARTS if head.startswith(start)), None)


def document_kind(names: Collection[str]) -> str | None:
    """Return the kind of office document that a zip with members of these names is; None for any other zip."""
    if "[Content_Types].xml" in names:
        return "an Excel workbook" if any(name.startswith("xl/") for name in names) else "an Office document"
    return "a LibreOffice document" if "mimetype" in names and "content.xml" in names else None


_KIB, _MIB = 1024, 1024 * 1024


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits on the contents of an upload; everything is counted while reading.

    entries: number of names in a zip, including folders and ignored files.
    total_bytes: size of all members together, unpacked.
    member_bytes: size of one file, unpacked.
    ratio: unpacked over packed size of a member; checked only above `RATIO_APPLIES_ABOVE_BYTES`, since small honest
    files compress well.
    name_characters: length of a member's whole path.
    repeats: True if a zip may contain a file several times with the same content, as some zip tools write it.
    """

    entries: int = 1_000
    total_bytes: int = 256 * _MIB
    member_bytes: int = 64 * _MIB
    ratio: int = 200
    name_characters: int = 255
    repeats: bool = False


LIMITS = Limits()
RATIO_APPLIES_ABOVE_BYTES = 4 * _MIB

_CHUNK_BYTES = 64 * _KIB
# No honest central directory needs more per entry (46 bytes, the name, times); zipfile reads it in one go.
_DIRECTORY_BYTES_PER_ENTRY = 2 * _KIB
_DIRECTORY_BYTES_AT_LEAST = 128 * _KIB

#: In lower case; what desktop systems, servers of files, notebooks and office programs add by themselves.
_IGNORED_NAMES = {".ds_store", "thumbs.db", "desktop.ini"}
_IGNORED_FOLDERS = {"__macosx", "@eadir", ".ipynb_checkpoints"}
_IGNORED_STARTS = ("._", ".~lock.", "~$")
_PLAIN_TYPES = (0, stat.S_IFREG, stat.S_IFDIR)
# Only these two: every zip tool writes them, and an LZMA header could ask for gigabytes before the first byte.
_COMPRESSIONS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
# What zipfile raises on damaged input. Not OSError: an unreadable disk is not the participant's fault.
_DAMAGED = (zipfile.BadZipFile, zlib.error, struct.error, EOFError, NotImplementedError, RuntimeError, ValueError)


def read_single(
    path: Path | bytes,
    limits: Limits = LIMITS,
    error: type[InvalidFile] = InvalidPrediction,
    *,
    npz: bool = False,
) -> tuple[str | None, bytes]:
    """Return the single uploaded file: `(None, content)` for a plain file, `(name, content)` for the only member of a
    zip.

    path: the upload (any name, no extension needed), or its bytes; the member may lie inside folders. Folders and files
    for which `is_ignored` is true do not count. npz: True if a NumPy .npz, which is itself a zip, counts as one plain
    file. Raises `error` when there is not exactly one file, or when the archive is damaged, dangerous or of another
    kind; OSError when `path` cannot be opened.
    """
    with _opened(path) as file:
        if not _starts_as_zip(file):
            return None, _read_plain(file, limits, error)
        with _zip(file, limits, error) as archive:
            members = _checked_members(archive, limits, error)
            if npz and members and all(name.endswith(".npy") for name in members):
                file.seek(0)
                return None, _read_limited(file, limits.member_bytes, error)
            if len(members) != 1:
                _refuse_count(list(members), error)
            ((name, info),) = members.items()
            return name, _read_member(archive, name, info, limits.total_bytes, limits, error, npz)


def read_members(
    path: Path | bytes, limits: Limits = LIMITS, error: type[InvalidFile] = InvalidPrediction
) -> dict[str, bytes]:
    """Read all files of a zip or folder at once, by their paths; arguments and errors as for `iterate_members`."""
    return dict(iterate_members(path, limits, error))


def iterate_members(
    path: Path | bytes, limits: Limits = LIMITS, error: type[InvalidFile] = InvalidPrediction
) -> Iterator[tuple[str, bytes]]:
    """Yield the files of a zip or folder in sorted order, each as its path inside (with `/`) and its content.

    path: the upload (any name), its bytes, or a folder. Folders and files for which `is_ignored` is true are left out.
    Only one file is held in memory here; a caller that releases it before advancing holds only one in all. Raises
    `error` when the upload is not a zip, or is empty, damaged, dangerous, or larger than `limits`, possibly after some
    files; OSError when it cannot be opened.
    """
    left_bytes = limits.total_bytes
    if isinstance(path, Path) and path.is_dir():
        for name, place in _folder_files(path, limits, error).items():
            with place.open("rb") as plain:
                content = _read_limited(plain, min(limits.member_bytes, left_bytes), error)
            left_bytes -= len(content)
            yield name, content
            del content
        return
    with _opened(path) as file, _zip_of_files(file, limits, error) as (archive, members):
        for name in sorted(members):
            content = _read_member(archive, name, members[name], left_bytes, limits, error)
            left_bytes -= len(content)
            yield name, content
            del content


def member_names(
    path: Path | bytes, limits: Limits = LIMITS, error: type[InvalidFile] = InvalidPrediction
) -> list[str]:
    """List the paths that `iterate_members` will yield, without reading a file; same arguments and errors."""
    if isinstance(path, Path) and path.is_dir():
        return list(_folder_files(path, limits, error))
    with _opened(path) as file, _zip_of_files(file, limits, error) as (_, members):
        return sorted(members)


@dataclass(frozen=True, slots=True)
class Unpacking:
    """An open zip, yielded by `open_zip`, for files too large to hold in memory. names: sorted."""

    names: list[str]
    _archive: zipfile.ZipFile
    _members: dict[str, zipfile.ZipInfo]
    _limits: Limits
    _error: type[InvalidFile]

    def declared_bytes(self, name: str) -> int:
        """Return the size that the zip declares for the file; `pieces` raises if the real size differs."""
        return self._members[name].file_size

    def pieces(self, name: str, left_bytes: int) -> Iterator[bytes]:
        """Yield the file in pieces; left_bytes: how much may still be unpacked within the limit of the whole zip."""
        return _bounded_pieces(self._archive, name, self._members[name], left_bytes, self._limits, self._error)


@contextmanager
def open_zip(path: Path, limits: Limits, error: type[InvalidFile]) -> Iterator[Unpacking]:
    """Open a zip under the limits of `iterate_members`, except that its files may be archives themselves."""
    with path.open("rb") as file, _zip_of_files(file, limits, error) as (archive, members):
        yield Unpacking(sorted(members), archive, members, limits, error)


def begins_as_zip(path: Path) -> bool:
    """Return whether the file starts with a zip signature."""
    with path.open("rb") as file:
        return _starts_as_zip(file)


def is_ignored(name: str) -> bool:
    """Return whether a path inside an archive is a file that desktop systems and programs add by themselves.

    `__MACOSX`, `.DS_Store`, `Thumbs.db`, `Desktop.ini`, Synology's `@eaDir`, Jupyter's `.ipynb_checkpoints`, lock files
    of office programs.
    """
    parts = PurePosixPath(name.replace("\\", "/").lower()).parts
    if not _IGNORED_FOLDERS.isdisjoint(parts):
        return True
    return bool(parts) and (parts[-1] in _IGNORED_NAMES or parts[-1].startswith(_IGNORED_STARTS))


class _OutsideFile(zipfile.BadZipFile, OSError):
    """A seek outside the file; also an OSError, because zipfile seeks before the beginning of small files and expects
    one.
    """


class _BoundedFile(io.RawIOBase):
    """A file object for zipfile, which trusts the sizes declared in a zip: limits the size of a read, and refuses to
    seek outside the file.
    """

    def __init__(self, file: BinaryIO, read_bytes: int) -> None:
        self._file, self._read_bytes = file, read_bytes
        self._size_bytes = file.seek(0, io.SEEK_END)

    def read(self, size: int = -1) -> bytes:
        # read(n) allocates n bytes beforehand: no more than the file can fill.
        left_bytes = max(self._size_bytes - self._file.tell(), 0)
        data = self._file.read(min(size if size >= 0 else left_bytes, left_bytes, self._read_bytes + 1))
        if len(data) > self._read_bytes:
            raise zipfile.BadZipFile("the list of its files is too long")
        return data

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        base = {io.SEEK_SET: 0, io.SEEK_CUR: self._file.tell(), io.SEEK_END: self._size_bytes}[whence]
        if not 0 <= base + offset <= self._size_bytes:
            raise _OutsideFile("it points outside itself")
        return self._file.seek(base + offset)

    def tell(self) -> int:
        return self._file.tell()

    def seekable(self) -> bool:
        return True

    def readable(self) -> bool:
        return True


def _opened(path: Path | bytes) -> BinaryIO:
    return io.BytesIO(path) if isinstance(path, bytes) else path.open("rb")


def _starts_as_zip(file: BinaryIO) -> bool:
    head = file.read(HEAD_BYTES)
    file.seek(0)
    return is_zip(head)


def _read_plain(file: BinaryIO, limits: Limits, error: type[InvalidFile]) -> bytes:
    data = _read_limited(file, limits.member_bytes, error)
    kind = other_kind(data[:HEAD_BYTES])
    if kind:
        _refuse("wrong-archive", f"this is {kind}: send the plain file, or a zip that contains only this file", error)
    return data


def _refuse_plain(file: BinaryIO, error: type[InvalidFile]) -> NoReturn:
    head = file.read(HEAD_BYTES)
    kind = other_kind(head) or ("a plain file" if head else "an empty file")
    _refuse("not-a-zip", f"this is {kind}: send a zip", error)


def _read_limited(file: BinaryIO, limit_bytes: int, error: type[InvalidFile]) -> bytes:
    # read(n) allocates n bytes beforehand: no more than the file can fill.
    size = file.seek(0, io.SEEK_END)
    file.seek(0)
    data = file.read(min(size, limit_bytes) + 1)
    if len(data) > limit_bytes:
        _refuse("file-too-large", f"the file is larger than {_size(limit_bytes)}", error)
    return data


def _zip(file: BinaryIO, limits: Limits, error: type[InvalidFile]) -> zipfile.ZipFile:
    directory_bytes = max(_DIRECTORY_BYTES_AT_LEAST, limits.entries * _DIRECTORY_BYTES_PER_ENTRY)
    try:
        return zipfile.ZipFile(_BoundedFile(file, directory_bytes))
    except _DAMAGED as fault:
        _refuse("damaged-archive", f"the zip is damaged or incomplete ({_reason(fault)}): {_AGAIN}", error)


@contextmanager
def _zip_of_files(
    file: BinaryIO, limits: Limits, error: type[InvalidFile]
) -> Iterator[tuple[zipfile.ZipFile, dict[str, zipfile.ZipInfo]]]:
    """Yield the zip and its members by name, without folders and ignored files; raise `error` if none are left."""
    if not _starts_as_zip(file):
        _refuse_plain(file, error)
    with _zip(file, limits, error) as archive:
        members = _checked_members(archive, limits, error)
        if not members:
            _refuse("empty-archive", "the zip contains no file", error)
        yield archive, members


_AGAIN = "create it again and upload the whole file"


def _reason(fault: Exception) -> str:
    reason = shorten(str(fault)) or "it ends too early"
    return "its end is missing" if reason == "File is not a zip file" else reason


def _checked_members(archive: zipfile.ZipFile, limits: Limits, error: type[InvalidFile]) -> dict[str, zipfile.ZipInfo]:
    """Return the members by normalised name, without folders and ignored files; raise `error` with all problems of
    names, kinds and declared sizes.
    """
    entries = archive.infolist()
    if len(entries) > limits.entries:
        message = f"the zip has {len(entries)} entries, at most {limits.entries} are allowed"
        _refuse("too-many-entries", message, error)
    _refuse_documents([entry.filename for entry in entries], error)
    problems, members = Problems(), dict[str, zipfile.ZipInfo]()
    for entry in entries:
        path = _path(entry)
        if path.endswith("/") and not _name_fault(entry, limits) or is_ignored(path):
            continue
        fault = _name_fault(entry, limits) or _entry_fault(entry, limits)
        name = str(PurePosixPath(path))
        if fault:
            problems.add(*fault, text=entry.orig_filename)
        elif name in members and limits.repeats and _is_repeated(entry, members[name]):
            continue
        elif name in members:
            problems.add("duplicate-member", f"{shorten(name)} occurs twice in the zip", text=name)
        else:
            members[name] = entry
    problems.raise_if_any(error)
    return members


def _path(entry: zipfile.ZipInfo) -> str:
    """Return the path of a member; PowerShell and other tools of Windows separate folders by backslashes."""
    return entry.filename.replace("\\", "/")


def _is_repeated(entry: zipfile.ZipInfo, first: zipfile.ZipInfo) -> bool:
    return (entry.CRC, entry.file_size) == (first.CRC, first.file_size)


def _name_fault(entry: zipfile.ZipInfo, limits: Limits) -> tuple[str, str] | None:
    name, shown = entry.orig_filename.replace("\\", "/"), shorten(entry.orig_filename)
    if len(name) > limits.name_characters or not can_be_name(name):
        message = f"a name in the zip is empty, longer than {limits.name_characters} characters or unprintable: {shown}"
        return "bad-member-name", message
    if name.startswith("/") or name[1:2] == ":" or ".." in PurePosixPath(name).parts:
        return "bad-member-name", f"{shown}: absolute names and names with .. are not allowed in a zip"
    return None


def _entry_fault(entry: zipfile.ZipInfo, limits: Limits) -> tuple[str, str] | None:
    shown = shorten(_path(entry))
    if stat.S_IFMT(entry.external_attr >> 16) not in _PLAIN_TYPES:
        return "not-a-plain-file", f"{shown} is a link or a device, not a file: send the file itself"
    if entry.flag_bits & 0x1:
        return "encrypted", f"{shown} is protected by a password: zip it without one"
    if entry.compress_type not in _COMPRESSIONS:
        return (
            "unsupported-compression",
            f"{shown} is compressed in an unusual way: use ordinary zip compression (Deflate)",
        )
    if entry.file_size > limits.member_bytes:
        return "file-too-large", f"{shown} is larger than {_size(limits.member_bytes)}"
    return None


def _refuse_documents(names: list[str], error: type[InvalidFile]) -> None:
    """Raise `error` for an Office document, which is a zip, too: one problem names its kind instead of listing its
    parts.
    """
    if kind := document_kind(names):
        message = f"this is {kind}: export it as plain text (for a table: CSV, UTF-8) and send that"
        _refuse("wrong-archive", message, error)


def _refuse_count(names: list[str], error: type[InvalidFile]) -> NoReturn:
    if not names:
        _refuse("empty-archive", "the zip contains no file", error)
    listed = ", ".join(shorten(name) for name in names[:5]) + (", …" if len(names) > 5 else "")
    _refuse("several-files", f"the zip must contain exactly one file, it contains {len(names)}: {listed}", error)


def _read_member(
    archive: zipfile.ZipFile,
    name: str,
    entry: zipfile.ZipInfo,
    left_bytes: int,
    limits: Limits,
    error: type[InvalidFile],
    npz: bool = False,
) -> bytes:
    data = io.BytesIO()
    for piece in _bounded_pieces(archive, name, entry, left_bytes, limits, error):
        data.write(piece)
    content = data.getvalue()  # no copy: the buffer itself
    _refuse_nested(name, content[:HEAD_BYTES], error, npz)
    return content


def _bounded_pieces(
    archive: zipfile.ZipFile,
    name: str,
    entry: zipfile.ZipInfo,
    left_bytes: int,
    limits: Limits,
    error: type[InvalidFile],
) -> Iterator[bytes]:
    shown, size = shorten(name), 0
    try:
        for chunk in _chunks(archive, entry):
            size += len(chunk)
            if size > limits.member_bytes:
                _refuse("file-too-large", f"{shown} is larger than {_size(limits.member_bytes)}", error)
            if size > left_bytes:
                _refuse("archive-too-large", f"the zip unpacks to more than {_size(limits.total_bytes)}", error)
            if size > max(RATIO_APPLIES_ABOVE_BYTES, limits.ratio * entry.compress_size):
                message = f"{shown} unpacks to more than {limits.ratio} times its size: this looks like a zip bomb"
                _refuse("zip-bomb", message, error)
            yield chunk
        if size != entry.file_size:
            raise zipfile.BadZipFile("its size is not what the zip says")
    except _DAMAGED as fault:
        message = f"{shown} in the zip is damaged ({_reason(fault)}): {_AGAIN}"
        _refuse("damaged-archive", message, error)


def _chunks(archive: zipfile.ZipFile, entry: zipfile.ZipInfo) -> Iterator[bytes]:
    with archive.open(entry) as member:
        while chunk := member.read(_CHUNK_BYTES):
            yield chunk


def _refuse_nested(name: str, head: bytes, error: type[InvalidFile], npz: bool) -> None:
    if is_zip(head) and not (npz and name.endswith(".npz")):
        kind: str | None = "a zip (or an Office document)"
    else:
        kind = other_kind(head)
    if kind:
        message = f"{shorten(name)} inside the zip is {kind}: put the plain file into the zip"
        _refuse("nested-archive", message, error)


def _folder_files(folder: Path, limits: Limits, error: type[InvalidFile]) -> dict[str, Path]:
    """Return the files of a folder by their paths inside it, sorted, without ignored ones (`is_ignored`).

    Raises `error` if there are none, or too many.
    """
    files: dict[str, Path] = {}
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        if is_ignored(name) or not path.is_file():
            continue
        if len(files) >= limits.entries:
            _refuse("too-many-entries", f"the folder has more than {limits.entries} files", error)
        files[name] = path
    if not files:
        _refuse("empty-archive", "the folder contains no file", error)
    return files


def _size(limit_bytes: int) -> str:
    return f"{limit_bytes / _MIB:g} MiB" if limit_bytes >= _MIB else f"{limit_bytes} bytes"


def _refuse(code: str, message: str, error: type[InvalidFile]) -> NoReturn:
    raise error([Problem(code, message)])
