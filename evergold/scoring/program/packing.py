"""A program as one file: a zip with sorted names, without times and permissions, so that its sha256 identifies it.

A folder and a zip of the same files give the same bytes. Files are stored, not compressed: what compresses differs from
one machine to the next. Everything in an unpacked program may be executed; nothing of it is run here.
"""

from __future__ import annotations

import zipfile
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from evergold.scoring.archives import Limits, begins_as_zip, is_ignored, iterate_members, open_zip
from evergold.scoring.errors import InvalidFile, Problem
from evergold.scoring.program.options import Contract, ProgramOptions
from evergold.yaml_lines import read_yaml_text

METADATA = ("metadata.yaml", "metadata")
#: A description of a program is a few lines.
METADATA_BYTES = 64 * 1024
#: Programs come from organisers, so these limits guard against mistakes: models, and data that belong elsewhere.
LIMITS = Limits(entries=2_000, total_bytes=256 << 20, member_bytes=128 << 20, ratio=1_000)
_EPOCH = (1980, 1, 1, 0, 0, 0)
_LEFT_OUT = frozenset({"__pycache__", "__MACOSX"})


class InvalidProgram(InvalidFile):
    """The program cannot be used: no zip or folder, damaged, too large, or without what its contract needs."""


def pack(path: Path, into: Path) -> None:
    """Write the program in a folder or zip as one file; the same files give the same bytes, on every machine.

    Hidden files and those of desktop systems and of Python are left out. Where everything lies in one folder that has
    a `metadata` (or a package), that folder is the program. Raises InvalidProgram, OSError.
    """
    names = [name for name, _ in _files(path)]
    if not names:
        raise InvalidProgram([Problem("empty-program", "the program has no file")])
    outer = _outer_folder(names)
    with zipfile.ZipFile(into, "w", zipfile.ZIP_STORED) as archive:
        for name, content in _files(path):
            archive.writestr(zipfile.ZipInfo(name.removeprefix(outer), _EPOCH), content)


def unpack(path: Path, folder: Path) -> None:
    """Write the files of a packed program below an empty folder, all of them executable; raises InvalidProgram."""
    for name, content in files_of(path, LIMITS, InvalidProgram):
        target = folder.joinpath(*PurePosixPath(name).parts)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content)
        target.chmod(0o755)


def files_of(path: Path, limits: Limits, error: type[InvalidFile]) -> Iterator[tuple[str, bytes]]:
    """Yield names and contents of a folder or zip as `iterate_members` does; files may be archives themselves."""
    if path.is_dir():
        yield from iterate_members(path, limits, error)
        return
    left_bytes = limits.total_bytes
    with open_zip(path, limits, error) as archive:
        for name in archive.names:
            content = b"".join(archive.pieces(name, left_bytes))
            left_bytes -= len(content)
            yield name, content


def _files(path: Path) -> Iterator[tuple[str, bytes]]:
    if not path.is_dir() and not begins_as_zip(path):
        raise InvalidProgram([Problem("no-program", "a program must be a folder or a zip")])
    found = files_of(path, LIMITS, InvalidProgram)
    return ((name, content) for name, content in found if not is_left_out(name))


def is_left_out(name: str) -> bool:
    """Return whether this file of a program is not part of it."""
    parts = PurePosixPath(name).parts
    return is_ignored(name) or any(part.startswith(".") or part in _LEFT_OUT for part in parts)


def _outer_folder(names: list[str]) -> str:
    first = {name.partition("/")[0] for name in names}
    if len(first) != 1 or not all("/" in name for name in names):
        return ""
    outer = first.pop()
    return f"{outer}/" if any(f"{outer}/{name}" in names for name in (*METADATA, "__init__.py")) else ""


def command_of(path: Path) -> str | None:
    """Return the command in the metadata of a packed program; None if there is none."""
    for wanted in METADATA:
        for name, content in _files(path):
            if name == wanted and (command := command_in(content[:METADATA_BYTES])) is not None:
                return command
    return None


def command_in_folder(folder: Path) -> str | None:
    """Return the command in the metadata in the folder of an unpacked program; None if there is none."""
    for wanted in METADATA:
        path = folder / wanted
        if path.is_file() and (command := command_in(path.read_bytes()[:METADATA_BYTES])) is not None:
            return command
    return None


def command_in(content: bytes) -> str | None:
    """Return the command in the content of a metadata file."""
    try:
        node, _ = read_yaml_text(content.decode(), "metadata")
    except UnicodeDecodeError:
        return None
    command = node.entries.get("command") if node is not None else None
    return command.text if command is not None else None


def program_fault(path: Path, options: ProgramOptions) -> str | None:
    """Return why a packed program cannot be run with these options, worded to follow "the program"; None if it can."""
    try:
        names = {name for name, _ in _files(path)}
        if options.contract is Contract.EVALAI:
            inner = {name for name in names if name.count("/") == 1 and name.endswith("/__init__.py")}
            is_package = names & {"__init__.py", "main.py"} or len(inner) == 1
            return None if is_package else "has no __init__.py: an EvalAI program is a package"
        if options.command is None and command_of(path) is None:
            return "has no command: declare `command`, or name it in its metadata.yaml"
    except InvalidFile as invalid:
        return f"cannot be read: {invalid}"
    return None
