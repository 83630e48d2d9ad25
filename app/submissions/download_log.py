"""The log of downloads of files restricted to participants, for organisers: who, when, which.

Downloads of public files are not logged: they need no account.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime

from sqlalchemy import Select, func, select
from sqlalchemy.orm import Session, contains_eager

from app.base.text import spreadsheet_safe
from app.models import Competition, FileDownload, PhaseTask, PublicFile, User


def record_download(session: Session, phase_task: PhaseTask, file: PublicFile, user: User, now: datetime) -> None:
    """Log a download. phase_task: with its phase and task loaded."""
    session.add(
        FileDownload(
            competition_id=phase_task.phase.competition_id,
            user_id=user.id,
            phase=phase_task.phase.name,
            task=phase_task.task.name,
            file=file.name,
            sha256=file.sha256,
            downloaded_at=now,
        )
    )


@dataclass(frozen=True, slots=True)
class DownloadFilter:
    """A filter for downloads; empty: all."""

    user: str = ""
    file: str = ""


def list_downloads(
    session: Session,
    competition: Competition,
    wanted: DownloadFilter,
    *,
    before: int | None = None,
    limit: int = 50,
) -> tuple[list[FileDownload], int | None]:
    """Return a page, newest first, with users loaded, and the start of the next page (None: this is the last)."""
    query = _downloads(competition, wanted).order_by(FileDownload.id.desc()).limit(limit + 1)
    if before is not None:
        query = query.where(FileDownload.id < before)
    found = list(session.scalars(query))
    return found[:limit], (found[limit - 1].id if len(found) > limit else None)


def all_downloads(session: Session, competition: Competition) -> list[FileDownload]:
    """List all downloads, oldest first, with users loaded."""
    return list(session.scalars(_downloads(competition, DownloadFilter()).order_by(FileDownload.id)))


def files_downloaded(session: Session, competition: Competition) -> list[str]:
    """List the names of files in the log."""
    here = select(func.min(FileDownload.file)).where(FileDownload.competition_id == competition.id)
    found: list[str] = []
    following = session.scalar(here)
    while following is not None:  # from name to name through the index, since each may have very many rows
        found.append(following)
        following = session.scalar(here.where(FileDownload.file > following))
    return found


def downloads_csv(downloads: Iterable[FileDownload]) -> str:
    """Return the downloads as CSV."""
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow(["downloaded_at", "username", "email", "phase", "task", "file", "sha256"])
    for one in downloads:
        words = (one.user.username, one.user.email, one.phase, one.task, one.file)
        writer.writerow([one.downloaded_at.astimezone(UTC).isoformat(), *map(spreadsheet_safe, words), one.sha256])
    return text.getvalue()


def _downloads(competition: Competition, wanted: DownloadFilter) -> Select[FileDownload]:
    query = (
        select(FileDownload)
        .join(FileDownload.user)
        .options(contains_eager(FileDownload.user))
        .where(FileDownload.competition_id == competition.id)
    )
    if wanted.user:
        query = query.where(User.username == wanted.user.lower())
    if wanted.file:
        query = query.where(FileDownload.file == wanted.file)
    return query
