"""Export of a competition: YAML with every file it names, as a folder or a zip.

It contains the current declaration (or an earlier one) including edits; `evergold check` finds no errors in it, and
`apply` nothing to change.
"""

from __future__ import annotations

import filecmp
import shutil
import tempfile
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path

from app.base.errors import EvergoldError
from app.base.storage import Storage, has_file, local_file
from app.base.zip_stream import EARLIEST, ZipStream
from app.declarations.edits.texts import yaml_of
from app.declarations.revisions.documents import program_folders
from app.declarations.revisions.folder import main_file, write_out
from app.declarations.revisions.kept import revision_mark
from app.models import Revision
from evergold.scoring.program.packing import unpack


class ExportImpossible(EvergoldError):
    """The target already exists, or a file is missing in storage."""

    status = 409
    code = "export_impossible"


def revision_text(revision: Revision, competition: str) -> str:
    """Return the declaration as YAML, with a comment that identifies it."""
    return yaml_of(revision.document, _comment(revision, competition))


def export_folder(revision: Revision, competition: str, storage: Storage, folder: Path) -> list[Path]:
    """Write the folder and return the files. Raises ExportImpossible if it exists and is not empty, or a file is
    missing.
    """
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise ExportImpossible(f"{folder} exists already and is not empty; nothing was overwritten.")
    files = stored_files(revision, storage)
    return write_out(revision.document, files, storage, folder, _comment(revision, competition))


def update_folder(revision: Revision, competition: str, storage: Storage, main: Path) -> list[Path]:
    """Write the revision into the folder of its main file; replaced files are kept next to it as `….before`.

    Returns the files. Files that are no longer named are kept. Raises ExportImpossible if a file is missing in storage.
    """
    files = stored_files(revision, storage)
    with tempfile.TemporaryDirectory(prefix=".export-", dir=main.parent) as name:
        *written, text = write_out(revision.document, files, storage, Path(name), _comment(revision, competition))
        targets = [main.parent / path.relative_to(name) for path in written]
        for source, target in zip(written, targets, strict=True):
            _replace(source, target)
        _replace(text, main)
    return [*targets, main]


def _replace(source: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    before = target.with_name(f"{target.name}.before")
    if target.is_dir():  # a program: its folder is one file for us
        shutil.rmtree(before, ignore_errors=True)
        target.replace(before)
    elif target.is_file() and not filecmp.cmp(source, target, shallow=False):
        target.replace(before)
    source.replace(target)


def export_zip(revision: Revision, competition: str, storage: Storage) -> Iterator[bytes]:
    """Return the chunks of a zip with one folder, named after the competition; the same revision gives the same zip.

    Raises ExportImpossible immediately if a file is missing.
    """
    files, text = stored_files(revision, storage), revision_text(revision, competition)
    programs = program_folders(revision.document)
    stored = {path: local_file(storage, sha256) for path, sha256 in files.items()}
    return (piece for piece in _pieces(stored, text, competition, programs) if piece)


def _pieces(files: Mapping[str, Path], text: str, competition: str, programs: Collection[str]) -> Iterator[bytes]:
    """Yield the chunks of the zip. files: by path in the zip; programs: paths of packed ones, which are unpacked."""
    target = ZipStream()
    yield target.text(f"{competition}/{main_file(files)}", text, EARLIEST)
    for path in sorted(files):
        inside = f"{competition}/{Path(path).as_posix()}"
        if path not in programs:
            yield from target.file(inside, files[path], EARLIEST)
            continue
        with tempfile.TemporaryDirectory(prefix="evergold-program-") as name:
            unpack(files[path], Path(name))
            for file in sorted(one for one in Path(name).rglob("*") if one.is_file()):
                yield from target.file(f"{inside}/{file.relative_to(name).as_posix()}", file, EARLIEST)
    yield target.end()


def stored_files(revision: Revision, storage: Storage) -> dict[str, str]:
    """Return sha256 by path. Raises ExportImpossible unless all files are in storage."""
    files = {file.path: file.sha256 for file in revision.files}
    gone = sorted(path for path, sha256 in files.items() if not has_file(storage, sha256))
    if gone:
        raise ExportImpossible(f"Storage has lost {len(gone)} of the files, {gone[0]} among them: restore a backup.")
    return files


def _comment(revision: Revision, competition: str) -> str:
    return (
        f"{revision_mark(revision, competition)}\n`apply` reads the line above: leave it. Gold is not in this "
        "folder: it is named here and stored with the workers."
    )
