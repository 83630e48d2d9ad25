"""Downloads of a task's files: who may download which file, and the log of downloads."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, StringConstraints
from sqlalchemy import Select, func, select
from sqlalchemy.orm import Session, contains_eager

from app.base.errors import EvergoldError, NotAuthenticated, NotFound
from app.base.text import spreadsheet_safe
from app.competitions.visibility import SeenAs
from app.models import Audience, Competition, FileDownload, Phase, PhaseTask, PublicFile, Right, User
from app.people.rights import may_organise
from app.teams.registration import Missing, registration_needed, rules_of, standing
from evergold.moments import deadline_words


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


class DownloadFilter(BaseModel):
    """The filters of the log of downloads, as in its address; empty: no filter."""

    model_config = ConfigDict(frozen=True)

    username: Annotated[str, StringConstraints(strip_whitespace=True)] = Field(
        "", max_length=100, description="only of this user"
    )
    file: str = Field("", max_length=200, description="only of this file")


def list_downloads(
    session: Session,
    competition: Competition,
    wanted: DownloadFilter,
    *,
    before: int | None = None,
    limit: int = 50,
) -> tuple[list[FileDownload], int | None]:
    """Return a page of the log, newest first, with users loaded, and the start of the next page (None for the last
    page).
    """
    query = _downloads(competition, wanted).order_by(FileDownload.id.desc()).limit(limit + 1)
    if before is not None:
        query = query.where(FileDownload.id < before)
    found = list(session.scalars(query))
    return found[:limit], (found[limit - 1].id if len(found) > limit else None)


def all_downloads(session: Session, competition: Competition) -> list[FileDownload]:
    """List all downloads, oldest first, with users loaded."""
    return list(session.scalars(_downloads(competition, DownloadFilter()).order_by(FileDownload.id)))


def files_downloaded(session: Session, competition: Competition) -> list[str]:
    """List the names of all files in the log."""
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
    if wanted.username:
        query = query.where(User.username == wanted.username.lower())
    if wanted.file:
        query = query.where(FileDownload.file == wanted.file)
    return query


#: A value in `PhaseTask.files_from`: available as soon as it is declared.
AT_ONCE = "now"


class NotYetThere(EvergoldError):
    """The file is declared, but not available yet (details: available_from)."""

    status = 404
    code = "not_yet_there"


@dataclass(frozen=True, slots=True)
class FileAccess:
    """A viewer's access to a file.

    available_from: None if it was available at once.
    is_there: True if it is available to everybody who meets the requirements.
    missing: the requirement that this viewer does not meet; None if there is none.
    """

    file: PublicFile
    available_from: datetime | None
    audience: Audience
    is_there: bool
    needs_login: bool
    missing: Missing | None

    @property
    def is_open(self) -> bool:
        """True if this viewer may download it now."""
        return self.is_there and not self.needs_login and self.missing is None


def available_from(phase: Phase, phase_task: PhaseTask, name: str) -> datetime | None:
    """Return the time from which a file is available; None: at once."""
    declared = phase_task.files_from.get(name)
    if declared is None:
        return phase.starts_at
    return None if declared == AT_ONCE else datetime.fromisoformat(declared)


def audience_of(competition: Competition, phase_task: PhaseTask, name: str) -> Audience:
    """Return the declared audience of a file; by default everyone, unless participation has requirements."""
    declared = phase_task.files_for.get(name)
    return rules_of(competition).files_for if declared is None else Audience(declared)


@dataclass(frozen=True, slots=True)
class FileViewer:
    """The viewer of a competition's files. missing: the requirement for taking part that the viewer does not meet."""

    organises: bool = False
    is_known: bool = False
    missing: Missing | None = None


def file_viewer(
    session: Session, competition: Competition, user: User | None, *, seen_as: SeenAs | None = None
) -> FileViewer:
    """Return the rights of a user to see files. seen_as: set for organisers who preview the pages as somebody else."""
    if user is None or seen_as is SeenAs.PUBLIC:
        return FileViewer()
    if seen_as is None and may_organise(session, user, competition, Right.EDIT):
        return FileViewer(organises=True, is_known=True)
    return FileViewer(is_known=True, missing=None if seen_as else standing(session, competition, user).missing)


def file_access(
    competition: Competition, phase: Phase, phase_task: PhaseTask, viewer: FileViewer, now: datetime
) -> list[FileAccess]:
    """List every file of the task in this phase, in order, for this viewer. `phase_task.files` must be loaded."""
    found = []
    for file in phase_task.files:
        since, audience = available_from(phase, phase_task, file.name), audience_of(competition, phase_task, file.name)
        is_asked = audience is Audience.PARTICIPANTS and not viewer.organises
        found.append(
            FileAccess(
                file,
                since,
                audience,
                is_there=viewer.organises or since is None or since <= now,
                needs_login=is_asked and not viewer.is_known,
                missing=viewer.missing if is_asked else None,
            )
        )
    return found


def file_named(listed: Iterable[FileAccess], place: tuple[str, str, str], name: str) -> FileAccess:
    """Return the file with this name. place: competition, phase and task. Raises NotFound."""
    access = next((one for one in listed if one.file.name == name), None)
    if access is None:
        raise NotFound(f"Task '{place[2]}' has no file '{name}' in phase '{place[1]}'.")
    return access


def check_may_have(access: FileAccess, competition: Competition) -> None:
    """Raise NotYetThere, NotAuthenticated or RegistrationNeeded if the viewer may not download the file."""
    if not access.is_there and access.available_from is not None:
        moment = deadline_words(access.available_from)
        raise NotYetThere(
            f"'{access.file.name}' will be available from {moment}.", available_from=access.available_from.isoformat()
        )
    if access.needs_login:
        raise NotAuthenticated(f"'{access.file.name}' is for participants: log in first.")
    if access.missing is not None:
        raise registration_needed(competition, access.missing)
