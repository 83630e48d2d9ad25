"""Access to the files of a task in a phase: from when and for whom, for all that lists, previews or sends one.

Declared by file name in `PhaseTask.files_from` and `files_for`. By default, a file is available from the start of its
phase, so that nobody has next year's blind test data early. Organisers have all files at any time.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy.orm import Session

from app.base.errors import EvergoldError, NotAuthenticated
from app.base.times import in_utc
from app.competitions.visibility import SeenAs
from app.models import Audience, Competition, Phase, PhaseTask, PublicFile, Right, User
from app.people.rights import may_organise
from app.teams.registration import Missing, registration_needed, standing
from app.teams.registration_rules import rules_of

#: In `PhaseTask.files_from`: available as soon as it is declared.
AT_ONCE = "now"


class NotYetThere(EvergoldError):
    """The file is declared, but not available yet; details: available_from."""

    status = 404
    code = "not_yet_there"


@dataclass(frozen=True, slots=True)
class FileAccess:
    """Access of one viewer to a file.

    available_from: None if it was available at once.
    is_there: True if it is available to those who lack nothing.
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
    """Return the moment from which a file is available; None: at once."""
    said = phase_task.files_from.get(name)
    if said is None:
        return phase.starts_at
    return None if said == AT_ONCE else datetime.fromisoformat(said)


def audience_of(competition: Competition, phase_task: PhaseTask, name: str) -> Audience:
    """Return the declared audience; by default everyone, if participation has no requirements."""
    declared = phase_task.files_for.get(name)
    return rules_of(competition).files_for if declared is None else Audience(declared)


@dataclass(frozen=True, slots=True)
class FileViewer:
    """The viewer of a competition's files; missing: what they lack to take part."""

    organises: bool = False
    is_known: bool = False
    missing: Missing | None = None


def file_viewer(
    session: Session, competition: Competition, user: User | None, *, seen_as: SeenAs | None = None
) -> FileViewer:
    """Return the viewer; seen_as: set for organisers who preview the pages of others."""
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


def check_may_have(access: FileAccess, competition: Competition) -> None:
    """Raise NotYetThere, NotAuthenticated, or RegistrationNeeded with what is missing."""
    if not access.is_there and access.available_from is not None:
        moment = in_utc(access.available_from)
        raise NotYetThere(
            f"'{access.file.name}' is there from {moment}.", available_from=access.available_from.isoformat()
        )
    if access.needs_login:
        raise NotAuthenticated(f"'{access.file.name}' is for participants: log in first.")
    if access.missing is not None:
        raise registration_needed(competition, access.missing)
