"""An import that is written: its folder, its gold, its notes, and IMPORT.md."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from app.importers.bundles.declaration import NOTES_FILE, Written, note_environments, write_plan
from app.importers.bundles.notes import Fate, Note
from app.importers.bundles.plan import Plan
from app.importers.bundles.reading import Reading
from app.importers.bundles.report import Compared, Source, report_text
from app.importers.writing import write_text

#: Where competitions lie unless a folder is given.
COMPETITIONS = Path("competitions")
_COMMENT = (
    "Imported from {name}, {system}; IMPORT.md has what became of each of its keys.\n"
    "Edit it as you like; `evergold check`, then `evergold apply`."
)


@dataclass(frozen=True, slots=True)
class Target:
    """Where an import goes: a folder (None: below COMPETITIONS, named after the competition), and one for gold."""

    folder: Path | None
    gold: Path


@dataclass(frozen=True, slots=True)
class Imported:
    """An import: the competition as planned and as written, notes, where it came from, and scores of its baselines."""

    plan: Plan
    written: Written
    notes: tuple[Note, ...]
    source: Source
    compared: tuple[Compared, ...] = ()

    @property
    def open_notes(self) -> list[Note]:
        """Notes on what somebody has to do."""
        return [one for one in self.notes if one.fate is Fate.OPEN]


def write_import(reading: Reading, plan: Plan, target: Target, bundle: Path, system: str) -> Imported:
    """Write a planned competition with IMPORT.md.

    system: the kind of the bundle in words. Raises InvalidBundle if there is a competition already, OSError.
    """
    folder = target.folder or COMPETITIONS / plan.name
    comment = _COMMENT.format(name=bundle.name, system=system)
    written = write_plan(plan, folder, target.gold, comment)
    note_environments(plan, written, reading.notes, reading.program_keys)
    notes = tuple(sorted(reading.notes.notes, key=lambda one: one.line))
    imported = Imported(plan, written, notes, Source(bundle.name, _sha256(bundle), reading.bundle.name, system))
    written.paths.append(_write_report(imported))
    return imported


def samples_of(imported: Imported) -> list[dict[str, Any]]:
    """Return the baselines that have gold: where they stand, and what `workers.sample_scores` needs to score them."""
    folder, document = imported.written.folder, imported.written.document
    tasks = {one["name"]: one for one in document["tasks"]}
    return [
        {
            "phase": phase["name"],
            "task": name,
            "name": baseline["name"],
            "program": str(folder / tasks[name]["program"]),
            "options": {**tasks[name]["options"], **asked.get("options", {})},
            "reference": str(imported.written.gold[phase["name"], name]),
            "submission": str(folder / baseline["file"]),
        }
        for phase in document["phases"]
        for name, asked in phase["tasks"].items()
        for baseline in asked.get("baselines", ())
        if (phase["name"], name) in imported.written.gold
    ]


def with_scores(imported: Imported, found: Sequence[Mapping[str, Any]]) -> Imported:
    """Add scores of the baselines, also to IMPORT.md; one without scores is open.

    found: `scores` and `words` of each of `samples_of`, in their order.
    """
    compared, notes = [], list(imported.notes)
    for sample, one in zip(samples_of(imported), found, strict=True):
        compared.append(Compared(sample["phase"], sample["task"], sample["name"], one["scores"], one["words"]))
        if one["words"]:
            text = f"baseline '{sample['name']}' of {sample['task']} in {sample['phase']}: {one['words']}"
            notes.append(Note(Fate.OPEN, "solutions", 1, text))
    changed = replace(imported, compared=tuple(compared), notes=tuple(notes))
    _write_report(changed)
    return changed


def _write_report(imported: Imported) -> Path:
    text = report_text(imported.plan.title, imported.source, imported.notes, imported.compared)
    return write_text(imported.written.folder / NOTES_FILE, text)


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
