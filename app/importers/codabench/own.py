"""Bundles that were exported by Evergold: their declaration is used unless somebody changed the rest of the bundle."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

from app.declarations.bundled import FOLDER, GOLD, KEY, is_unchanged
from app.declarations.edits.texts import declaration_text
from app.importers.bundles.archive import Bundle, InvalidBundle, copy_folder, keep_packed
from app.importers.bundles.declaration import MAIN_FILE, NOTES_FILE, Written
from app.importers.bundles.imported import COMPETITIONS, Imported, Target
from app.importers.bundles.notes import Fate, Note
from app.importers.bundles.plan import Plan, one_line
from app.importers.bundles.report import Source, report_text
from app.importers.writing import refuse_existing, write_text
from evergold.scoring.errors import Problem, Problems
from evergold.yaml_lines import read_yaml

_COMMENT = "Imported from {name}, a bundle that was exported by Evergold: this is the declaration in it."


def own_declaration(bundle: Bundle) -> dict[str, Any] | None:
    """Return the competition as exported; None if the bundle has no declaration or was changed since.

    Raises InvalidBundle if the declaration cannot be read.
    """
    path = bundle.folder / FOLDER / MAIN_FILE
    if not is_unchanged(bundle.main.plain()) or not path.is_file():
        return None
    shown = f"{FOLDER}/{MAIN_FILE}"
    node, faults = read_yaml(path, shown)
    listed = node.entries.get("competitions") if node is not None else None
    if faults or listed is None or len(listed.elements) != 1 or not listed.elements[0].entries:
        problems = [Problem("not-yaml", fault.message, file=shown, line=fault.line) for fault in faults]
        raise InvalidBundle(problems or [Problem("not-yaml", "it must hold exactly one competition", file=shown)])
    document: dict[str, Any] = listed.elements[0].plain()
    return document


def write_own(bundle: Bundle, document: dict[str, Any], target: Target, path: Path) -> Imported:
    """Write the competition as exported, with the gold that the bundle has; return the import.

    Raises InvalidBundle if there already is a competition, OSError.
    """
    document = {**document, "name": target.name or str(document.get("name") or "competition")}
    title = one_line(str(document.get("title") or ""), 200, document["name"])
    folder = target.folder or COMPETITIONS / document["name"]
    problems = Problems()
    refuse_existing(folder, problems)
    problems.raise_if_any(InvalidBundle)
    written = Written(folder, document)
    written.paths = copy_folder(bundle.folder / FOLDER, folder)
    written.paths.remove(folder / MAIN_FILE)
    text = declaration_text(document, _COMMENT.format(name=path.name))
    written.paths.insert(0, write_text(folder / MAIN_FILE, text))
    for phase, task in _places(document):
        found = bundle.find(f"{GOLD}/{phase}/{task}")
        if found is not None and found.is_dir():
            written.gold[phase, task] = _keep_gold(found, target.gold / document["name"] / phase / task, task)
    with path.open("rb") as file:
        sha256 = hashlib.file_digest(file, "sha256").hexdigest()
    source = Source(path.name, sha256, bundle.name, "a bundle that was exported by Evergold")
    words = f"the bundle has not been changed since its export: only `{FOLDER}/{MAIN_FILE}` in it is read"
    notes = (Note(Fate.BECAME, KEY, bundle.main.entries[KEY].line, words),)
    written.paths.append(write_text(folder / NOTES_FILE, report_text(title, source, notes, [])))
    plan = Plan(document["name"], title, "", (), "", "", "", (), (), ())
    return Imported(plan, written, notes, source)


def _keep_gold(found: Path, folder: Path, task: str) -> Path:
    """Write gold as one file and return its path: a single file under its name, several as a zip."""
    files = [one for one in found.iterdir()]
    if len(files) == 1 and files[0].is_file():
        return keep_packed(files[0], folder / files[0].name)
    return keep_packed(found, folder / f"{task}.zip")


def _places(document: dict[str, Any]) -> list[tuple[str, str]]:
    """Return the (phase, task) pairs of a declaration, which may be invalid: `check` reports that."""
    phases = document.get("phases")
    return [
        (str(phase.get("name")), str(task))
        for phase in (phases if isinstance(phases, list) else ())
        if isinstance(phase, dict) and isinstance(phase.get("tasks"), dict)
        for task in phase["tasks"]
    ]
