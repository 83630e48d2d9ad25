"""What a blueprint begins with: a few answers, another competition, or a zip as `evergold export yaml` writes it."""

from __future__ import annotations

import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path, PurePosixPath
from typing import Any

from app.base.errors import InvalidForm
from app.base.storage import CHUNK_BYTES, Storage, StoredFile, UploadWriter
from app.base.text import readable_size
from app.declarations.blueprints.build import without_plain_gold
from app.declarations.blueprints.kept import MOST_FILES
from app.declarations.blueprints.stories import STORIES, with_story
from app.declarations.model import HIDDEN_GOLD_PER_DAY, HIDDEN_GOLD_TOTAL
from app.declarations.revisions.documents import Document
from evergold.scoring.tasks import TASKS
from evergold.yaml_lines import read_yaml_text

#: A declaration is no longer.
YAML_LIMIT_BYTES = 4 * 1024 * 1024
#: How long the phase lasts that a blueprint begins with.
_LASTS = timedelta(days=14)


def first_document(name: str, title: str, task_type: str, now: datetime) -> Document:
    """One task of this type, one phase that asks it, a board with the first scores that the task has.

    Who sees what is the first story: a live board with a private part, wherever the task type scores parts.
    """
    try:
        columns = TASKS[task_type].columns(TASKS[task_type].options())
        shown = [{"metric": one.metric, "split": one.split} for one in columns[:2]]
    except (KeyError, ValueError):  # options without which it has none
        shown = []
    start = (now.astimezone(UTC) + timedelta(days=7)).replace(hour=12, minute=0)
    document = {
        "name": name,
        "title": title,
        "tasks": [{"name": "main", "type": task_type, "title": title}],
        "boards": [{"name": "main", "title": title, "task": "main", "columns": shown}],
        "phases": [
            {
                "name": "evaluation",
                "title": "Evaluation",
                "start": f"{start:%Y-%m-%d %H:%M} UTC",
                "end": f"{start + _LASTS:%Y-%m-%d} 23:59 AoE",
                "limits": {"per_day": HIDDEN_GOLD_PER_DAY, "total": HIDDEN_GOLD_TOTAL},
                "tasks": {"main": {}},
            }
        ],
    }
    return with_story(document, 0, STORIES[0].name)


def copied_document(document: Document, name: str, title: str) -> Document:
    """Another competition's, under another name; gold is nobody's to copy."""
    return {**without_plain_gold(document), "name": name, "title": title}


# ---------------------------------------------------------------------------------------------------------------- zip


@dataclass(frozen=True, slots=True)
class Brought:
    """What a zip had in it: the declaration, and its files, stored, by path."""

    document: Document
    files: dict[str, StoredFile]


def read_zip(path: Path, storage: Storage, limit_bytes: int) -> Brought:
    """limit_bytes: of all files together, unpacked. Raises InvalidForm, UploadTooLarge, StorageFull."""
    try:
        with zipfile.ZipFile(path) as archive:
            return _read(archive, storage, limit_bytes)
    except (zipfile.BadZipFile, NotImplementedError, RuntimeError, EOFError) as fault:
        raise _wrong(f"This is no zip that can be read: {fault}.") from None


def read_declaration(text: str) -> Document:
    """The one competition that a text declares, as a file of the form of phases.yaml; raises InvalidForm."""
    node, faults = read_yaml_text(text, "declaration")
    if faults or node is None:
        said = "; ".join(f"line {fault.line}: {fault.message}" for fault in faults) or "it is empty"
        raise InvalidForm("This is no declaration.", fields={"yaml": f"{said}."})
    whole: Any = node.plain()
    competitions = whole.get("competitions") if isinstance(whole, dict) else None
    if not isinstance(competitions, list) or len(competitions) != 1 or not isinstance(competitions[0], dict):
        sentence = "A declaration has the key 'competitions' with one competition, as `evergold export yaml` writes it."
        raise InvalidForm("This is no declaration.", fields={"yaml": sentence})
    return dict(competitions[0])


def _read(archive: zipfile.ZipFile, storage: Storage, limit_bytes: int) -> Brought:
    entries = list(_entries(archive))
    if len(entries) > MOST_FILES:
        raise _wrong(f"It has more than {MOST_FILES} files.")
    total = sum(entry.file_size for entry in entries)
    if total > limit_bytes:
        raise _wrong(f"Unpacked it is {readable_size(total)}; at most {readable_size(limit_bytes)} fit.")
    main = _main(entries)
    if main.file_size > YAML_LIMIT_BYTES:
        raise _wrong(f"Its declaration is larger than {readable_size(YAML_LIMIT_BYTES)}.")
    folder = PurePosixPath(main.filename).parent
    try:
        document = read_declaration(archive.read(main).decode("utf-8"))
    except UnicodeDecodeError:
        raise _wrong("Its declaration is not UTF-8 text.") from None
    except InvalidForm as invalid:
        raise _wrong(f"Of its declaration: {invalid.details['fields']['yaml']}") from None
    files = {}
    for entry in entries:
        inside = PurePosixPath(entry.filename)
        if entry is not main and entry.file_size and inside.is_relative_to(folder):
            files[inside.relative_to(folder).as_posix()] = _stored(archive, entry, storage)
    return Brought(without_plain_gold(document), files)


def _entries(archive: zipfile.ZipFile) -> Iterator[zipfile.ZipInfo]:
    for entry in archive.infolist():
        parts = PurePosixPath(entry.filename.replace("\\", "/")).parts
        if entry.filename.startswith("/") or ".." in parts or not entry.filename.isprintable():
            raise _wrong("A name in it leads out of its folder.")
        if not entry.is_dir() and "__MACOSX" not in parts and parts[-1] != ".DS_Store":
            yield entry


def _main(entries: list[zipfile.ZipInfo]) -> zipfile.ZipInfo:
    found = [one for one in entries if one.filename.endswith((".yaml", ".yml")) and one.filename.count("/") <= 1]
    if len(found) > 1:
        found = [one for one in found if PurePosixPath(one.filename).name.startswith("competition")] or found
    if not found:
        raise _wrong("There is no competition.yaml in it, at its top or in its one folder.")
    return min(found, key=lambda one: (one.filename.count("/"), one.filename))


def _stored(archive: zipfile.ZipFile, entry: zipfile.ZipInfo, storage: Storage) -> StoredFile:
    """No longer than its entry says, whatever is inside."""
    writer = UploadWriter(storage, entry.file_size)
    try:
        with archive.open(entry) as content:
            while piece := content.read(CHUNK_BYTES):
                writer.write(piece)
        return writer.finish()
    finally:
        writer.discard()


def _wrong(sentence: str) -> InvalidForm:
    return InvalidForm("This zip cannot be taken.", fields={"file": sentence})
