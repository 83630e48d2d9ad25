"""Finds gold that a bundle also offers for download, by its content."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path

from app.importers.bundles.notes import Fate
from app.importers.bundles.plan import Plan
from app.importers.bundles.reading import Reading
from evergold.scoring.archives import is_ignored

_NAMES_SHOWN = 3


def note_exposed_gold(reading: Reading, plan: Plan) -> None:
    """Add an open note for each download that contains a file of the gold."""
    parts = [(phase, part) for phase in plan.phases for part in phase.parts]
    gold = {
        digest: f"{phase.name}/{part.task}"
        for phase, part in parts
        if part.gold is not None
        for digest, _ in _files(reading, part.gold)
    }
    for _, part in parts:
        for given in part.downloads:
            found = list(_files(reading, given.place)) if given.place is not None else []
            places = {name: gold[digest] for digest, name in found if digest in gold}
            if places:
                names = ", ".join(f"`{name}`" for name in list(places)[:_NAMES_SHOWN])
                more = f" and {len(places) - _NAMES_SHOWN} more" if len(places) > _NAMES_SHOWN else ""
                where = ", ".join(sorted(set(places.values())))
                words = f"it contains gold of {where}, so everybody could download the answers: {names}{more}"
                reading.notes.add(Fate.OPEN, *_key_of(reading, given.name), words)


def _files(reading: Reading, place: Path) -> Iterator[tuple[str, str]]:
    """Yield digest and name of each non-empty file in a zip or folder."""
    folder = reading.bundle.contents(place)
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        if path.is_file() and path.stat().st_size and not is_ignored(name):
            with path.open("rb") as file:
                yield hashlib.file_digest(file, "sha256").hexdigest(), name


def _key_of(reading: Reading, download: str) -> tuple[str, int]:
    """Return path and line of the key that offers a download; the download has the name of its key."""
    key = download.removesuffix(".zip")
    found = [note for note in reading.notes.notes if note.path.rpartition(".")[2] == key]
    return (found[0].path, found[0].line) if found else (key, 1)
