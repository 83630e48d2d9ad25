"""Imports a competition from a zip, as written by `evergold export yaml`.

The zip is unpacked and read in the helper, under the same limits as predictions.
"""

from __future__ import annotations

import secrets
import tempfile
from collections.abc import Collection
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from typing import Any

from app.base.errors import InvalidForm
from app.base.permissions import make_folder
from app.base.storage import Storage, StoredFile, store_file
from app.base.stores.interface import INCOMING
from app.declarations.blueprints.build import without_plain_gold
from app.declarations.blueprints.kept import MOST_FILES
from app.declarations.edits.texts import read_text
from app.declarations.revisions.documents import Document, program_folders
from app.helper.process import Job, TooMuchWork, run
from app.helper.wire import Message
from evergold.scoring.archives import LIMITS, Unpacking, open_zip
from evergold.scoring.errors import InvalidFile
from evergold.scoring.program.packing import pack
from evergold.yaml_lines import FILE_LIMIT_BYTES

_UNPACK = Job("app.declarations.blueprints.zips:unpack", processor_seconds=30, seconds=60, mebibytes=512, waiting=6)
_MAIN_SUFFIXES = (".yaml", ".yml")
#: Folders are entries as well.
_ENTRIES = 2 * MOST_FILES


@dataclass(frozen=True, slots=True)
class Brought:
    """Content of a zip: the declaration, and its stored files by path."""

    document: Document
    files: dict[str, StoredFile]


def read_zip(path: Path, storage: Storage, limit_bytes: int) -> Brought:
    """Store the files of a zip and return them with its declaration.

    limit_bytes: of all unpacked files together. Raises InvalidForm, StorageFull, Busy.
    """
    incoming = storage.folder.absolute() / INCOMING
    make_folder(incoming, storage.folder)
    name = f"zip-{secrets.token_hex(8)}-"
    try:
        head = {"zip": str(path.absolute()), "into": str(incoming / name), "limit_bytes": limit_bytes}
        answer, _ = run(_UNPACK, head)
        if "refused" in answer:
            raise _wrong(answer["refused"])
        files = {inside: store_file(Path(unpacked), storage) for inside, unpacked in answer["files"]}
        return Brought(without_plain_gold(answer["document"]), files)
    except TooMuchWork:
        raise _wrong("Unpacking the zip takes too long or too much memory.") from None
    finally:
        for unpacked in incoming.glob(f"{name}*"):
            unpacked.unlink(missing_ok=True)


class _InvalidZip(InvalidFile):
    """The zip is damaged, dangerous, or not a competition."""


def unpack(head: dict[str, Any], _: bytes) -> Message:
    """Return `document` and `files` as (path, unpacked path), or the reason as `refused`. A job of the helper."""
    limit_bytes = max(int(head["limit_bytes"]), 1)
    limits = replace(LIMITS, entries=_ENTRIES, total_bytes=limit_bytes, member_bytes=limit_bytes)
    try:
        with open_zip(Path(head["zip"]), limits, _InvalidZip) as archive:
            return _unpacked(archive, head["into"], limit_bytes), b""
    except InvalidFile as invalid:
        return {"refused": _sentence(invalid.problems[0].message)}, b""
    except OSError as fault:
        return {"refused": f"The zip cannot be unpacked: {fault.strerror}."}, b""


def _unpacked(archive: Unpacking, into: str, limit_bytes: int) -> dict[str, Any]:
    if len(archive.names) > MOST_FILES + 1:
        return {"refused": f"The zip has more than {MOST_FILES} files."}
    main = _main(archive.names)
    if main is None:
        return {"refused": "The zip has no competition.yaml at the top or in its only folder."}
    if archive.declared_bytes(main) > FILE_LIMIT_BYTES:
        return {"refused": f"Its declaration is larger than {FILE_LIMIT_BYTES // 1024} KiB."}
    text = b"".join(archive.pieces(main, limit_bytes))
    try:
        read, _ = read_text({}, text)
    except UnicodeDecodeError:
        return {"refused": "Its declaration is not UTF-8 text."}
    if "refused" in read:
        return {"refused": f"The declaration: {read['refused']}"}
    programs = program_folders(read["document"])
    return {"document": read["document"], "files": _write_files(archive, main, into, limit_bytes - len(text), programs)}


def _write_files(
    archive: Unpacking, main: str, into: str, left_bytes: int, programs: Collection[str]
) -> list[tuple[str, str]]:
    """Write the non-empty files next to or below the declaration; return (path, written path). A program becomes one
    file.
    """
    folder, written = PurePosixPath(main).parent, []
    with tempfile.TemporaryDirectory(prefix="evergold-program-") as unpacked:
        found = dict[str, Path]()
        for number, name in enumerate(archive.names):
            inside = PurePosixPath(name)
            if name == main or not inside.is_relative_to(folder):
                continue
            path = inside.relative_to(folder).as_posix()
            program = next((one for one in programs if path.startswith(f"{one}/")), None)
            if program is None and not archive.declared_bytes(name):
                continue
            target = Path(f"{into}{number}") if program is None else Path(unpacked, path)
            target.parent.mkdir(parents=True, exist_ok=True)
            with target.open("wb") as file:
                left_bytes -= sum(map(file.write, archive.pieces(name, left_bytes)))
            if program is None:
                written.append((path, file.name))
            else:
                found[program] = Path(unpacked, program)
        for number, (program, place) in enumerate(found.items()):
            pack(place, Path(f"{into}program-{number}"))
            written.append((program, f"{into}program-{number}"))
    return written


def _main(names: list[str]) -> str | None:
    found = [one for one in names if one.endswith(_MAIN_SUFFIXES) and one.count("/") <= 1]
    if len(found) > 1:
        found = [one for one in found if PurePosixPath(one).name.startswith("competition")] or found
    return min(found, key=lambda one: (one.count("/"), one), default=None)


def _sentence(message: str) -> str:
    return f"{message[:1].upper()}{message[1:]}."


def _wrong(sentence: str) -> InvalidForm:
    return InvalidForm("This zip cannot be imported.", fields={"file": sentence})
