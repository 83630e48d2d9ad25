"""Public files of a task in a phase: copied into storage under their sha256 and listed for download.

These are the declared files, followed by a template generated from the items if the organisers declare none.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path, PurePosixPath

from sqlalchemy import select

from app.base.storage import Storage, StoredFile, keep_young, store_file, store_upload, stored_name
from app.declarations.apply.changes import Work
from app.declarations.apply.templates import TITLE, made_template
from app.declarations.downloads import declared_downloads
from app.declarations.model import DownloadDeclaration, PhaseTaskDeclaration
from app.declarations.values import START
from app.models import Audience, CompetitionTask, PhaseTask, PublicFile, Submission


@dataclass(frozen=True, slots=True)
class _Offered:
    """A download.

    `available` is "now" or a moment as text, None for the start of the phase; `audience` is as declared; `origin` is
    appended to the reported change.
    """

    name: str
    title: str
    file: StoredFile
    available: str | None = None
    audience: Audience | None = None
    origin: str = ""


def apply_public_files(
    work: Work, phase_task: PhaseTask, task: CompetitionTask, declared: PhaseTaskDeclaration, folder: Path, what: str
) -> None:
    """Apply the blind file that predictions are checked against, all downloads, and a template."""
    downloads = declared_downloads(declared)
    stored = {download.file: keep(work, folder / download.file) for download in downloads}
    _apply_items(work, phase_task, stored[declared.items].sha256 if declared.items else None, what)
    offered = [_offered(one, stored[one.file]) for one in downloads]
    offered += _made(work, phase_task, task, declared, folder, offered)
    query = select(PublicFile).where(PublicFile.phase_task_id == phase_task.id)
    existing = {row.name: row for row in work.session.scalars(query)}
    for position, one in enumerate(offered):
        _apply_download(work, existing.pop(one.name, None), phase_task, one, position, what)
    for name, row in existing.items():
        work.session.delete(row)
        work.changes.add(f"removed download '{name}' of {what}")
    _apply_access(work, phase_task, offered, what)


def _offered(declared: DownloadDeclaration, file: StoredFile) -> _Offered:
    return _Offered(
        PurePosixPath(declared.file).name, declared.title, file, _available(declared.available_from), declared.audience
    )


def _available(declared: datetime | str | None) -> str | None:
    """Return the value for `PhaseTask.files_from`."""
    return declared.isoformat() if isinstance(declared, datetime) else None if declared == START else declared


def _apply_access(work: Work, phase_task: PhaseTask, offered: Sequence[_Offered], what: str) -> None:
    """Update availability and audience of the files that declare them."""
    values = {
        "files_from": {one.name: one.available for one in offered if one.available},
        "files_for": {one.name: one.audience.value for one in offered if one.audience},
    }
    work.changes.update(phase_task, what, values)


def keep(work: Work, path: Path) -> StoredFile:
    """Store a declared file, reading it once however often it is named; a plan stores nothing."""
    if path not in work.kept:
        work.kept[path] = _looked_at(path) if work.is_plan else keep_file(path, work.storage)
    return work.kept[path]


def keep_file(path: Path, storage: Storage) -> StoredFile:
    """Like `store_file`, but skip files that are stored already, so that applying again is quick."""
    file = _looked_at(path)
    return file if _is_kept(file, storage) else store_file(path, storage)


def _is_kept(file: StoredFile, storage: Storage) -> bool:
    kept = storage.find(stored_name(file.sha256))
    return kept is not None and kept.size_bytes == file.size_bytes and keep_young(storage, file.sha256)


def _looked_at(path: Path) -> StoredFile:
    with path.open("rb") as file:
        sha256 = hashlib.file_digest(file, "sha256").hexdigest()
    return StoredFile(sha256, path.stat().st_size)


def _made(
    work: Work,
    phase_task: PhaseTask,
    task: CompetitionTask,
    declared: PhaseTaskDeclaration,
    folder: Path,
    offered: list[_Offered],
) -> Iterator[_Offered]:
    """Yield the generated template, unless a declared file has its name or content."""
    if (made := made_template(phase_task, task, declared, folder)) is None:
        return
    name, content = made
    file = StoredFile(hashlib.sha256(content).hexdigest(), len(content))
    if any(one.name == name or one.file == file for one in offered):
        return
    if not work.is_plan and not _is_kept(file, work.storage):
        store_upload([content], work.storage, limit_bytes=len(content))
    items = next(one for one in offered if one.name == PurePosixPath(declared.items or "").name)
    yield _Offered(name, TITLE, file, items.available, items.audience, ", made from the items")


def _apply_items(work: Work, phase_task: PhaseTask, sha256: str | None, what: str) -> None:
    if phase_task.items_sha256 == sha256:
        return
    verb = "replaced" if sha256 and phase_task.items_sha256 else "set" if sha256 else "took away"
    phase_task.items_sha256 = sha256
    has_submissions = select(Submission.id).where(Submission.phase_task_id == phase_task.id).limit(1)
    stay = "; submissions that were scored stay as they are" if work.session.scalar(has_submissions) else ""
    work.changes.add(f"{verb} the items of {what}{stay}")


def _apply_download(
    work: Work, row: PublicFile | None, phase_task: PhaseTask, offered: _Offered, position: int, what: str
) -> None:
    name, title, file = offered.name, offered.title, offered.file
    if row is None:
        work.session.add(
            PublicFile(
                phase_task_id=phase_task.id,
                name=name,
                title=title,
                sha256=file.sha256,
                size_bytes=file.size_bytes,
                position=position,
            )
        )
        work.changes.add(f"added download '{name}' to {what}{offered.origin}")
        return
    if row.sha256 != file.sha256:
        row.sha256, row.size_bytes = file.sha256, file.size_bytes
        work.changes.add(f"replaced download '{name}' of {what}{offered.origin}")
    work.changes.update(row, f"download '{name}' of {what}", {"title": title, "position": position})
