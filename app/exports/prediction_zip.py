"""Predictions as one streamed zip: a manifest, then TEAM/SUBMISSION-ID/FILE with the method card next to each.

Only the metadata is held in memory. Names are safe on every file system: no parent folders, no separators, no names
reserved by Windows, no two that differ only in case.
"""

from __future__ import annotations

import csv
import io
import json
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import Any

from app.base.logs import log
from app.base.storage import Storage, has_file, lent_file
from app.base.text import spreadsheet_safe
from app.base.zip_stream import ZipStream
from app.exports.predictions import ExportedSubmission

CARD = "card.json"
_NAME_CHARACTERS = 60
_KEPT_BY_WINDOWS = {"con", "prn", "aux", "nul"} | {f"{name}{n}" for name in ("com", "lpt") for n in range(10)}


@dataclass(frozen=True, slots=True)
class Packed:
    """A submission with its path in the zip; empty if the stored file is missing."""

    submission: ExportedSubmission
    path: str
    storage: Storage


def packed(submissions: Sequence[ExportedSubmission], storage: Storage) -> list[Packed]:
    """Assign each file its path in the zip."""
    folders = team_folders({one.team_id: one.team for one in submissions})
    found = []
    for one in submissions:
        name = safe_name(one.filename) or "predictions"
        path = f"{folders[one.team_id]}/{one.id}/{'file-' if name.lower() == CARD else ''}{name}"
        found.append(Packed(one, path if has_file(storage, one.sha256) else "", storage))
    return found


def zip_chunks(files: Sequence[Packed], made_at: datetime) -> Iterator[bytes]:
    """Yield the zip in pieces."""
    target = ZipStream()
    yield target.text("manifest.csv", manifest_csv(files), made_at)
    yield target.text("manifest.json", manifest_json(files, made_at), made_at)
    for file in files:
        if not file.path:
            log.error("stored_file_missing", sha256=file.submission.sha256)
            continue
        at = file.submission.submitted_at
        with lent_file(file.storage, file.submission.sha256) as path:
            yield from target.file(file.path, path, at)
        yield target.text(f"{file.path.rpartition('/')[0]}/{CARD}", _card_json(file.submission), at)
    yield target.end()


def manifest_csv(files: Sequence[Packed]) -> str:
    """Write a row for each submission; scores have columns of their own, named `metric split`."""
    columns = list(dict.fromkeys(f"{score.metric} {score.split}" for file in files for score in file.submission.scores))
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow([*_COLUMNS, *(spreadsheet_safe(column) for column in columns)])
    for file in files:
        values = {f"{score.metric} {score.split}": score.value for score in file.submission.scores}
        said = [_cell(value) for value in _said(file).values()]
        writer.writerow([*said, *(values.get(column) for column in columns)])
    return text.getvalue()


def manifest_json(files: Sequence[Packed], made_at: datetime) -> str:
    """Write the manifest as JSON, with reasons of undefined scores and with method cards."""
    listed = [
        {
            **_said(file),
            "notes": file.submission.notes,
            "scores": [asdict(score) for score in file.submission.scores],
            "card": file.submission.card,
        }
        for file in files
    ]
    document = {"made_at": made_at.astimezone(UTC).isoformat(), "submissions": listed}
    return json.dumps(document, ensure_ascii=False, indent=1) + "\n"


def team_folders(names: Mapping[int, str]) -> dict[int, str]:
    """Return a folder for each team by id: its name if that is safe and unique."""
    safe = {team_id: safe_name(name) or "team" for team_id, name in names.items()}
    taken: dict[str, int] = {}
    for name in safe.values():
        taken[name.casefold()] = taken.get(name.casefold(), 0) + 1
    folders, used = {}, set()
    for team_id, name in sorted(safe.items()):
        folder = name if taken[name.casefold()] == 1 else f"{name}-{team_id}"
        while folder.casefold() in used:  # a team whose name equals another one's name with its id
            folder = f"{folder}-{team_id}"
        used.add(folder.casefold())
        folders[team_id] = folder
    return folders


def safe_name(name: str) -> str:
    """Return the name as part of a path; empty if no character is left."""
    composed = unicodedata.normalize("NFC", name)
    kept = "".join(c if c.isalnum() or unicodedata.category(c).startswith("M") or c in "-_." else "_" for c in composed)
    short = kept[-_NAME_CHARACTERS:] if "." in kept[-10:] else kept[:_NAME_CHARACTERS]  # keep the file extension
    bare = short.strip("._")
    return f"_{bare}" if bare.partition(".")[0].lower() in _KEPT_BY_WINDOWS else bare


_COLUMNS = (
    "team",
    "kind",
    "submission",
    "username",
    "phase",
    "task",
    "submitted_at",
    "withdrawn_at",
    "state",
    "track",
    "method",
    "stands_on",
    "row_status",
    "file",
    "filename",
    "size_bytes",
    "sha256",
)


def _said(file: Packed) -> dict[str, Any]:
    one = file.submission
    known = {
        **asdict(one),
        "submission": str(one.id),
        "submitted_at": one.submitted_at.astimezone(UTC).isoformat(),
        "withdrawn_at": one.withdrawn_at.astimezone(UTC).isoformat() if one.withdrawn_at else "",
        "stands_on": list(one.stands_on),
        "file": file.path,
    }
    return {name: known[name] for name in _COLUMNS}


def _cell(value: Any) -> Any:
    if isinstance(value, list):
        value = " ".join(value)
    return spreadsheet_safe(value) if isinstance(value, str) else value


def _card_json(one: ExportedSubmission) -> str:
    document = {
        "submission": str(one.id),
        "team": one.team,
        "phase": one.phase,
        "task": one.task,
        "track": one.track or None,
        "card": one.card,
        "notes": one.notes,
    }
    return json.dumps(document, ensure_ascii=False, indent=1) + "\n"
