"""A declaration as a document: its files, equality in meaning, and values at paths such as `phases.practice.end`.

In a path, a list element is named by its name (`boards.zero-shot.title`), or by its position if it has none.
"""

from __future__ import annotations

import copy
import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from app.declarations.images.texts import declared_images
from app.declarations.model import CompetitionDeclaration

Document = dict[str, Any]
Path = tuple[str, ...]


def declared_files(declared: CompetitionDeclaration) -> list[str]:
    """Return every file that the declaration names, without duplicates.

    Gold is not included: its name is known only to workers.
    """
    tasks = [task for phase in declared.phases for task in phase.tasks.values()]
    named = [task.items for task in tasks if task.items]
    named += [one.file for task in tasks for one in task.downloads]
    named += [one.file for task in tasks for one in task.baselines]
    named += [one.file for board in declared.boards for one in board.historic]
    named += declared_images(declared)
    named += declared_programs(declared)
    return list(dict.fromkeys(named))


def declared_programs(declared: CompetitionDeclaration) -> list[str]:
    """Return the folders and zips of organisers' programs; each is stored as one file (`evergold.scoring.program`)."""
    return [task.program for task in declared.tasks if task.program]


def program_folders(document: Document) -> set[str]:
    """Return the folders of organisers' programs in a document as written, which may be invalid."""
    tasks = document.get("tasks")
    named = [task.get("program") for task in tasks if isinstance(task, dict)] if isinstance(tasks, list) else []
    return {path for path in named if isinstance(path, str) and not path.endswith(".zip")}


def fingerprint(declared: CompetitionDeclaration, files: Mapping[str, str]) -> str:
    """Return a hash that is equal for declarations with the same meaning, in whichever format times are written.

    files: sha256 by path.
    """
    meant = [declared.model_dump(mode="json", exclude_unset=True), sorted(files.items())]
    return hashlib.sha256(json.dumps(meant, sort_keys=True).encode()).hexdigest()


# --------------------------------------------------------------------------------------------------------------- paths


def dotted(path: Path) -> str:
    """Return the path with dots: `phases.practice.end`."""
    return ".".join(path)


def value_at(document: Document, path: Sequence[str]) -> Any:
    """Return the value at the end of the path; None if there is none."""
    value: Any = document
    for step in path:
        value = _child(value, step)
    return value


def with_values(document: Document, values: Mapping[Path, Any]) -> Document:
    """Return a copy with these values; None removes a key, and mappings that become empty are removed."""
    changed = copy.deepcopy(document)
    for path, value in values.items():
        _put(changed, path, value)
    return changed


def _put(value: Any, path: Path, new: Any) -> None:
    step, *rest = path
    if rest:
        inside = _child(value, step)
        if inside is None:
            if new is None:
                return
            inside = value[step] = {}
        _put(inside, tuple(rest), new)
        if inside == {} and isinstance(value, dict):
            del value[step]
    elif new is None:
        value.pop(step, None)
    else:
        value[step] = new


def _child(value: Any, step: str) -> Any:
    if isinstance(value, dict):
        return value.get(step)
    if isinstance(value, list):
        return next((one for place, one in enumerate(value) if name_of(one, place) == step), None)
    return None


def name_of(element: Any, place: int) -> str:
    """Return the name of a list element in a path: its name or its position."""
    named = element.get("name") if isinstance(element, dict) else None
    return named if isinstance(named, str) else str(place + 1)


# --------------------------------------------------------------------------------------------------------- differences


@dataclass(frozen=True, slots=True)
class Difference:
    """A value that differs between two documents, or exists in only one of them (None in the other)."""

    path: str
    before: Any
    after: Any

    def __str__(self) -> str:
        return f"{self.path} from {value_text(self.before)} to {value_text(self.after)}"


def differences(before: Any, after: Any, path: Path = ()) -> list[Difference]:
    """Return all differences between two documents, in the order of the first. path: of both in the whole document."""
    return list(_differences(before, after, path))


def _differences(before: Any, after: Any, path: Path) -> Iterator[Difference]:
    here, there = _inside(before), _inside(after)
    if here is None or there is None:
        if before != after:
            yield Difference(dotted(path), before, after)
        return
    for name in dict.fromkeys([*here, *there]):
        yield from _differences(here.get(name), there.get(name), (*path, name))
    shared = [[name for name in one if name in here and name in there] for one in (here, there)]
    if isinstance(before, list) and shared[0] != shared[1]:
        yield Difference(f"{dotted(path)} (order)", list(here), list(there))


def _inside(value: Any) -> dict[str, Any] | None:
    """Return the children of a mapping, or of a list of mappings, by name; None for anything else."""
    if isinstance(value, dict):
        return value
    if isinstance(value, list) and value and all(isinstance(one, dict) for one in value):
        return {name_of(one, place): one for place, one in enumerate(value)}
    return None


#: Maximum length of a value in a sentence; longer ones are shortened.
_SHOWN_CHARACTERS = 80


def value_text(value: Any) -> str:
    """Return the value as text for quotation in a sentence."""
    if value is None:
        return "nothing"
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    text = " ".join(text.split())
    return f"'{text[: _SHOWN_CHARACTERS - 1]}…'" if len(text) > _SHOWN_CHARACTERS else f"'{text}'"
