"""A declaration as a folder: `competition.yaml` and its files, linked to storage or copied from it."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path, PurePosixPath
from typing import Any

from app.base.storage import Storage, local_file
from app.declarations.edits.texts import declaration_text
from app.declarations.revisions.documents import program_folders
from evergold.scoring.program.packing import unpack

MAIN_FILE = "competition.yaml"


@contextmanager
def linked(files: Mapping[str, str], storage: Storage) -> Iterator[Path]:
    """Yield a temporary folder with links into storage. files: sha256 by path."""
    with tempfile.TemporaryDirectory(prefix="evergold-") as name:
        folder = Path(name)
        for path, sha256 in files.items():
            target = folder / path
            target.parent.mkdir(parents=True, exist_ok=True)
            if not target.is_symlink():  # two spellings of one path
                with suppress(FileNotFoundError):  # the reader of the declaration reports that it is missing
                    target.symlink_to(local_file(storage, sha256).absolute())
        yield folder


def write_out(
    document: dict[str, Any], files: Mapping[str, str], storage: Storage, folder: Path, comment: str
) -> list[Path]:
    """Write a folder like `linked`, but a permanent one with copies; return the files in the order written.

    The caller has checked that the target does not exist.
    """
    written = []
    programs = program_folders(document)
    for path, sha256 in files.items():
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        if path in programs:
            target.mkdir(exist_ok=True)
            unpack(local_file(storage, sha256), target)
        else:
            shutil.copyfile(local_file(storage, sha256), target)
        written.append(target)
    main = folder / main_file(files)
    main.parent.mkdir(parents=True, exist_ok=True)
    main.write_text(declaration_text(document, comment), encoding="utf-8", newline="\n")
    return [*written, main]


def main_file(files: Collection[str]) -> str:
    """Return an unused name for the main file, since a download may have its usual name."""
    taken = {PurePosixPath(path).as_posix() for path in files}
    names = [MAIN_FILE, *(f"competition-{number}.yaml" for number in range(2, len(taken) + 3))]
    return next(name for name in names if name not in taken)
