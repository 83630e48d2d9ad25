"""Import of a bundle for the web process: the helper reads and writes it, under limits on time and memory.

All files are below one private folder, which the caller removes; gold is separate from files that will be public.
"""

from __future__ import annotations

import os
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from app.helper.process import Job, TooMuchWork, run
from app.helper.wire import Message
from app.importers.bundles.archive import top_names
from app.importers.bundles.declaration import MAIN_FILE, NOTES_FILE
from app.importers.bundles.imported import Imported, Target
from app.importers.bundles.moments import Assumed, DateOrder, Unanswered, find_zone
from app.importers.codabench.importing import import_codabench
from app.importers.evalai.importing import MAIN_FILES as EVALAI_FILES, import_evalai
from evergold.scoring.errors import InvalidFile
from evergold.scoring.program.packing import pack

_READ = Job("app.importers.in_helper:read", processor_seconds=60, seconds=120, mebibytes=512, at_once=1, waiting=4)
_PROBLEMS_SHOWN = 20


@dataclass(frozen=True, slots=True)
class Wish:
    """Choices for a bundle. zone, order: of its dates, "" if not given; takes_results: accept results, not code."""

    zone: str = ""
    order: str = ""
    takes_results: bool = False


@dataclass(frozen=True, slots=True)
class Brought:
    """The content of a bundle.

    - document: the declaration; files: public files by path in the declaration.
    - gold: files with gold, by phase and task.
    - notes: result, key, line and text of each note.
    """

    document: dict[str, Any]
    files: dict[str, Path]
    gold: dict[tuple[str, str], Path]
    notes: list[tuple[str, str, int, str]]


class NotImported(Exception):
    """The bundle cannot be imported; the message has one sentence per line."""


def read_bundle(bundle: Path, folder: Path, wish: Wish, limit_bytes: int) -> Brought:
    """Read a bundle in the helper, which writes below `folder`; return its content.

    limit_bytes: of all unpacked files. Raises NotImported, Busy.
    """
    head = {
        "bundle": str(bundle),
        "folder": str(folder),
        "zone": wish.zone,
        "order": wish.order,
        "results": wish.takes_results,
        "limit_bytes": limit_bytes,
        "path": os.environ.get("PATH", ""),
    }
    try:
        answer, _ = run(_READ, head)
    except TooMuchWork:
        raise NotImported("Reading the file takes too long or too much memory.") from None
    if "refused" in answer:
        raise NotImported("\n".join(answer["refused"]))
    return Brought(
        answer["document"],
        {path: Path(place) for path, place in answer["files"]},
        {(phase, task): Path(place) for phase, task, place in answer["gold"]},
        [(fate, path, line, text) for fate, path, line, text in answer["notes"]],
    )


def read(head: dict[str, Any], _: bytes) -> Message:
    """Return the parts of `Brought`, or sentences as `refused`. A job of the helper."""
    folder = Path(head["folder"])
    os.environ["PATH"] = head["path"]  # to find the Pythons of this machine; the helper has no PATH
    tempfile.tempdir = str(folder)  # files of a run ended by a limit are removed with the folder
    try:
        imported = _imported(head, folder)
        return _document(imported), b""
    except Unanswered as unclear:
        return {"refused": [f"{one}." for one in unclear.questions[:_PROBLEMS_SHOWN]]}, b""
    except InvalidFile as invalid:
        return {"refused": [f"{one}." for one in invalid.problems[:_PROBLEMS_SHOWN]]}, b""
    except OSError as fault:
        return {"refused": [f"The file cannot be unpacked: {fault.strerror}."]}, b""


def _imported(head: dict[str, Any], folder: Path) -> Imported:
    bundle = Path(head["bundle"])
    zone = find_zone(head["zone"]) if head["zone"] else None
    assumed = Assumed(zone, DateOrder(head["order"]) if head["order"] else None)
    target = Target(folder / "competition", folder / "gold", size_bytes=head["limit_bytes"])
    if top_names(bundle, head["limit_bytes"]) & set(EVALAI_FILES):
        return import_evalai(bundle, target, assumed)
    return import_codabench(bundle, target, assumed, takes_results=head["results"])


def _document(imported: Imported) -> dict[str, Any]:
    folder, document = imported.written.folder, imported.written.document
    folders = {task["program"] for task in document["tasks"] if task.get("program")}
    apart = {folder / MAIN_FILE, folder / NOTES_FILE}
    public = {
        path.relative_to(folder).as_posix(): str(path)
        for path in imported.written.paths
        if path not in apart and not any(path.is_relative_to(folder / place) for place in folders)
    }
    for task in document["tasks"]:
        if task.get("program"):
            task["program"] = _packed(folder, task["program"])
    programs = {task["program"] for task in document["tasks"] if task.get("program")}
    return {
        "document": document,
        "files": [*public.items(), *((name, str(folder / name)) for name in sorted(programs))],
        "gold": [[phase, task, str(path)] for (phase, task), path in imported.written.gold.items()],
        "notes": [[note.fate.value, note.path, note.line, note.text] for note in imported.notes],
    }


def _packed(folder: Path, place: str) -> str:
    """Pack a program's folder into a zip next to it, unless that exists, and return the zip's path."""
    if not (folder / place).is_dir():
        return place
    target = folder / f"{place}.zip"
    if not target.exists():
        pack(folder / place, target)
    return f"{place}.zip"
