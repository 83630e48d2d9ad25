"""Converts a bundle of Codabench or CodaLab to a competition's folder, with IMPORT.md next to the declaration."""

from __future__ import annotations

from pathlib import Path

from app.importers.bundles.archive import Bundle, InvalidBundle, opened
from app.importers.bundles.imported import Imported, Target, write_import
from app.importers.bundles.moments import Assumed
from app.importers.bundles.notes import text_of
from app.importers.bundles.reading import Reading
from app.importers.codabench.own import own_declaration, write_own
from app.importers.codabench.version1 import read_version1
from app.importers.codabench.version2 import read_version2
from evergold.scoring.errors import Problem

MAIN_FILES = ("competition.yaml", "competition.yml")


def import_codabench(bundle: Path, target: Target, assumed: Assumed, *, takes_results: bool) -> Imported:
    """Write the competition and its gold, and return the import.

    takes_results: whether tasks that run code of teams accept results instead of being closed. Everything is read
    before anything is written. Raises InvalidBundle with all problems, Unanswered with all questions, OSError.
    """
    with opened(bundle, MAIN_FILES, target.size_bytes) as found:
        version = _version(found)
        if (own := own_declaration(found)) is not None:
            return write_own(found, own, target, bundle)
        reading = Reading(found, assumed)
        read = read_version2 if version == "2" else read_version1
        plan = read(reading, takes_results=takes_results)
        reading.finish()
        system = "Codabench" if version == "2" else "CodaLab"
        return write_import(reading, plan, target, bundle, f"a bundle of {system}, version {version}")


def _version(bundle: Bundle) -> str:
    """Return the declared version; without one, the version that matches the keys."""
    node = bundle.main.entries.get("version")
    written = text_of(node).strip() if node is not None else ""
    if written in ("2", "2.0"):
        return "2"
    if written in ("", "1", "1.0", "1.5", "1.8"):
        phases = bundle.main.entries.get("phases")
        keys = {key for phase in (phases.entries.values() if phases is not None else ()) for key in phase.entries}
        return "1.8" if keys & {"is_parallel_parent", "parent_phasenumber"} else written or "1.5"
    line = node.line if node is not None else None
    message = f"bundle version {written[:20]} is not known; known are 1, 1.5, 1.8 and 2"
    raise InvalidBundle([Problem("version", message, file=bundle.name, line=line)])
