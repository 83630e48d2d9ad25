"""A written import: its folder, its gold, its notes, and IMPORT.md."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from app.importers.bundles.archive import TOTAL_BYTES
from app.importers.bundles.declaration import NOTES_FILE, Written, note_environments, write_plan
from app.importers.bundles.exposed import note_exposed_gold
from app.importers.bundles.notes import Fate, Note
from app.importers.bundles.plan import Plan
from app.importers.bundles.reading import Reading
from app.importers.bundles.report import Compared, Source, report_text
from app.importers.writing import write_text

#: The default folder of imported competitions.
COMPETITIONS = Path("competitions")
_COMMENT = (
    "Imported from {name}, {system}; IMPORT.md lists what became of each key.\n"
    "Edit it as you like; `evergold check`, then `evergold apply`."
)


@dataclass(frozen=True, slots=True)
class Target:
    """The folders of an import: of the competition (None: below COMPETITIONS, under its name), and for gold.

    name: of the competition, "" to derive it from its title; size_bytes: limit of the unpacked bundle.
    """

    folder: Path | None
    gold: Path
    name: str = ""
    size_bytes: int = TOTAL_BYTES


@dataclass(frozen=True, slots=True)
class Imported:
    """An import: the competition as planned and as written, notes, its source, and scores of its baselines."""

    plan: Plan
    written: Written
    notes: tuple[Note, ...]
    source: Source
    compared: tuple[Compared, ...] = ()

    @property
    def open_notes(self) -> list[Note]:
        """The notes that require somebody to do something."""
        return [one for one in self.notes if one.fate is Fate.OPEN]


def write_import(reading: Reading, plan: Plan, target: Target, bundle: Path, system: str) -> Imported:
    """Write a planned competition with IMPORT.md, and return the import.

    system: the kind of the bundle in words. Raises InvalidBundle if the folder already has a competition; OSError.
    """
    plan = replace(plan, name=target.name or plan.name)
    folder = target.folder or COMPETITIONS / plan.name
    comment = _COMMENT.format(name=bundle.name, system=system)
    written = write_plan(plan, folder, target.gold, comment)
    note_environments(plan, written, reading.notes, reading.program_keys)
    note_exposed_gold(reading, plan)
    notes = tuple(sorted(reading.notes.notes, key=lambda one: one.line))
    imported = Imported(plan, written, notes, Source(bundle.name, _sha256(bundle), reading.bundle.name, system))
    written.paths.append(_write_report(imported))
    return imported


@dataclass(frozen=True, slots=True)
class Placed:
    """A baseline that can be scored: its phase and task, its file, and the gold."""

    phase: str
    task: str
    name: str
    submission: Path
    gold: Path


def samples_of(imported: Imported) -> list[Placed]:
    """Return the baselines of programs with gold, in the order of the declaration."""
    folder, gold = imported.written.folder, imported.written.gold
    programs = {one["name"] for one in imported.written.document["tasks"] if one.get("program")}
    return [
        Placed(phase["name"], task, one["name"], folder / one["file"], gold[phase["name"], task])
        for phase in imported.written.document["phases"]
        for task, phase_task in phase["tasks"].items()
        for one in phase_task.get("baselines", ())
        if (phase["name"], task) in gold and task in programs
    ]


def with_compared(imported: Imported, compared: Sequence[Compared]) -> Imported:
    """Add scores of baselines to the import and to IMPORT.md; a baseline without scores becomes an open note."""
    without: dict[str, list[str]] = {}
    for one in compared:
        if one.words:
            without.setdefault(one.words, []).append(f"'{one.name}' of {one.task} in {one.phase}")
    notes = [
        Note(Fate.OPEN, "solutions", 1, f"no score of {', '.join(named)}: {words}") for words, named in without.items()
    ]
    changed = replace(imported, compared=tuple(compared), notes=(*imported.notes, *notes))
    _write_report(changed)
    return changed


def _write_report(imported: Imported) -> Path:
    text = report_text(imported.plan.title, imported.source, imported.notes, imported.compared)
    return write_text(imported.written.folder / NOTES_FILE, text)


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
