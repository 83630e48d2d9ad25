"""The place of a competition's file below phases.yaml: where it is declared, or where `include` would find it."""

from __future__ import annotations

from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path, PurePosixPath

from app.declarations.check.shape import elements, read_phases_files, text_of
from app.declarations.findings import Findings
from app.declarations.revisions.folder import MAIN_FILE
from evergold.yaml_lines import Node

#: Keys of a file that holds one competition and nothing else.
_OWN_KEYS = frozenset({"version", "competitions"})


@dataclass(frozen=True, slots=True)
class DeclaredIn:
    """The file that declares a competition. is_alone: it declares nothing else."""

    file: Path
    is_alone: bool


def declared_in(phases_file: Path, competition: str) -> DeclaredIn | None:
    """Return the file in which a competition is declared; None if there is none. Errors in files are ignored."""
    for document in _documents(phases_file):
        declared = elements(document, "competitions")
        if competition in [text_of(one, "name") for one in declared]:
            is_alone = len(declared) == 1 and document.entries.keys() <= _OWN_KEYS
            return DeclaredIn(Path(document.file), is_alone)
    return None


def place_for(phases_file: Path, competition: str) -> Path | None:
    """Return the folder in which `include` of phases.yaml would find a new competition; None if it names none."""
    for document in _documents(phases_file)[:1]:
        include = document.entries.get("include")
        for pattern in [one.text for one in include.elements if one.text] if include else []:
            *folders, name = PurePosixPath(pattern).parts
            if (
                folders
                and folders[-1] in ("*", "**")
                and "*" not in "".join(folders[:-1])
                and fnmatchcase(MAIN_FILE, name)
            ):
                return phases_file.parent.joinpath(*folders[:-1], competition)
    return None


def _documents(phases_file: Path) -> list[Node]:
    return read_phases_files(phases_file, Findings()) if phases_file.is_file() else []
