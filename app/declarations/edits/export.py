"""Export of a competition: YAML with every file it names, as a folder or a zip.

It contains the current declaration (or an earlier one), edits included; `evergold check` and `apply` read it and find
nothing to change.
"""

from __future__ import annotations

import shutil
import zipfile
from pathlib import Path
from typing import IO

from app.base.errors import EvergoldError
from app.base.storage import CHUNK_BYTES, Storage, has_file, local_file
from app.base.times import in_utc
from app.declarations.edits.texts import yaml_of
from app.declarations.revisions.folder import main_file, write_out
from app.models import Revision

#: Fixed time of zip entries: the same revision gives the same zip.
_ZIP_TIME = (1980, 1, 1, 0, 0, 0)


class ExportImpossible(EvergoldError):
    """The target exists already, or a file is missing in storage."""

    status = 409
    code = "export_impossible"


def revision_text(revision: Revision, competition: str) -> str:
    """Return the declaration as YAML, with a comment that identifies it."""
    return yaml_of(revision.document, _comment(revision, competition))


def export_folder(revision: Revision, competition: str, storage: Storage, folder: Path) -> list[Path]:
    """Write the folder. Raises ExportImpossible if it exists and is not empty, or if a file is missing."""
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise ExportImpossible(f"{folder} exists already and is not empty: nothing is written over it.")
    files = stored_files(revision, storage)
    return write_out(revision.document, files, storage, folder, _comment(revision, competition))


def export_zip(revision: Revision, competition: str, storage: Storage, target: IO[bytes]) -> None:
    """Write a zip with one folder, named after the competition. Raises ExportImpossible if a file is missing."""
    files = stored_files(revision, storage)
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(_entry(f"{competition}/{main_file(files)}"), revision_text(revision, competition))
        for path in sorted(files):
            entry = _entry(f"{competition}/{Path(path).as_posix()}")
            with (
                local_file(storage, files[path]).open("rb") as content,
                archive.open(entry, "w", force_zip64=True) as copy,
            ):
                shutil.copyfileobj(content, copy, CHUNK_BYTES)


def stored_files(revision: Revision, storage: Storage) -> dict[str, str]:
    """Return sha256 by path. Raises ExportImpossible unless all files are in storage."""
    files = {file.path: file.sha256 for file in revision.files}
    gone = sorted(path for path, sha256 in files.items() if not has_file(storage, sha256))
    if gone:
        raise ExportImpossible(f"Storage has lost {len(gone)} of the files, {gone[0]} among them: restore a backup.")
    return files


def _comment(revision: Revision, competition: str) -> str:
    when = in_utc(revision.made_at.replace(microsecond=0))
    return (
        f"Revision {revision.number} of '{competition}', of {when}, by {revision.author}.\n"
        "Gold is not here: it is named, and lies with the workers."
    )


def _entry(name: str) -> zipfile.ZipInfo:
    entry = zipfile.ZipInfo(name, _ZIP_TIME)
    entry.compress_type = zipfile.ZIP_DEFLATED
    entry.external_attr = 0o644 << 16
    return entry
