"""Turns a bundle of Codabench or CodaLab into a competition's folder, with IMPORT.md beside the declaration."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path

from app.importers.bundles.archive import Bundle, InvalidBundle, opened
from app.importers.bundles.declaration import NOTES_FILE, Written, note_environments, write_plan
from app.importers.bundles.moments import Assumed
from app.importers.bundles.notes import Fate, Note, text_of
from app.importers.bundles.plan import Plan
from app.importers.bundles.reading import Reading
from app.importers.bundles.report import Source, report_text
from app.importers.codabench.version1 import read_version1
from app.importers.codabench.version2 import read_version2
from app.importers.writing import write_text
from evergold.scoring.errors import Problem

MAIN_FILES = ("competition.yaml", "competition.yml")
_COMMENT = (
    "Imported from {name}, a bundle of {system}; IMPORT.md has what became of each of its keys.\n"
    "Edit it as you like; `evergold check`, then `evergold apply`."
)


@dataclass(frozen=True, slots=True)
class Imported:
    """An import: the competition as planned and as written, notes, and where it came from."""

    plan: Plan
    written: Written
    notes: tuple[Note, ...]
    source: Source

    @property
    def open_notes(self) -> list[Note]:
        """Notes on what somebody has to do."""
        return [one for one in self.notes if one.fate is Fate.OPEN]


def title_of(bundle: Path) -> str:
    """Return the title in a bundle, for naming its folder. Raises InvalidBundle."""
    with opened(bundle, MAIN_FILES) as found:
        node = found.main.entries.get("title")
        return text_of(node) if node is not None else ""


def import_codabench(bundle: Path, folder: Path, gold: Path, assumed: Assumed, *, takes_results: bool) -> Imported:
    """Write the competition below `folder` and its gold below `gold`.

    takes_results: whether tasks that run code of teams take results instead of being closed. Everything is read before
    anything is written. Raises InvalidBundle with all problems, Asked with all questions, OSError.
    """
    with opened(bundle, MAIN_FILES) as found:
        version, is_second = _version(found)
        reading = Reading(found, assumed)
        read = read_version2 if is_second else read_version1
        plan = read(reading, takes_results=takes_results)
        reading.finish()
        comment = _COMMENT.format(name=bundle.name, system="Codabench" if is_second else "CodaLab")
        written = write_plan(plan, folder, gold, comment)
        key = "docker_image" if is_second else "competition_docker_image"
        note_environments(plan, written, reading.notes, reading.program_lines, key)
        source = Source(bundle.name, _sha256(bundle), found.name, f"version {version} of bundles")
        notes = tuple(sorted(reading.notes.notes, key=lambda one: one.line))
        return Imported(plan, written, notes, source)


def write_report(imported: Imported, compared: list[object] | None = None) -> Path:
    """Write IMPORT.md into the competition's folder."""
    text = report_text(imported.plan.title, imported.source, imported.notes, [])
    return write_text(imported.written.folder / NOTES_FILE, text)


def _version(bundle: Bundle) -> tuple[str, bool]:
    """Return the version in words, and whether it is the second."""
    node = bundle.main.entries.get("version")
    written = text_of(node).strip() if node is not None else ""
    if written in ("2", "2.0"):
        return "2", True
    if written in ("", "1", "1.0", "1.5", "1.8"):
        return written or "1.5", False
    line = node.line if node is not None else None
    message = f"version {written[:20]} of bundles is not known: there are 1, 1.5, 1.8 and 2"
    raise InvalidBundle([Problem("version", message, file=bundle.name, line=line)])


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
