"""The files of a task in a phase: from when they are there, and for whom. What lists, previews or sends one asks here.

What is declared is `PhaseTask.files_from` and `files_for`, by file name. A file is there from the start of its phase on
unless something else is said: blind test data of next year are nobody's before. Organisers have all files at any time.
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

#: In `PhaseTask.files_from`: as soon as it is declared.
AT_ONCE = "now"


class NotYetThere(EvergoldError):
    """The file is declared, and will be there later; details: available_from."""

    status = 404
    code = "not_yet_there"


@dataclass(frozen=True, slots=True)
class FileAccess:
    """A file for one viewer. available_from: the moment, None where it was there at once; missing: what this viewer
    lacks of what is asked, None for nothing, and for whom nothing is asked; is_there: for those who lack nothing."""

    file: PublicFile
    available_from: datetime | None
    audience: Audience
    is_there: bool
    needs_login: bool
    missing: Missing | None

    @property
    def is_open(self) -> bool:
        """Whether this viewer may have it now."""
        return self.is_there and not self.needs_login and self.missing is None


def available_from(phase: Phase, phase_task: PhaseTask, name: str) -> datetime | None:
    """The moment from which a file is there; None: it was at once."""
    said = phase_task.files_from.get(name)
    if said is None:
        return phase.starts_at
    return None if said == AT_ONCE else datetime.fromisoformat(said)


def audience_of(competition: Competition, phase_task: PhaseTask, name: str) -> Audience:
    """As declared; else everyone where nobody is asked anything before they take part."""
    declared = phase_task.files_for.get(name)
    return rules_of(competition).files_for if declared is None else Audience(declared)


@dataclass(frozen=True, slots=True)
class FileViewer:
    """Who looks at the files of a competition; missing: what they lack of taking part."""

    organises: bool = False
    is_known: bool = False
    missing: Missing | None = None


def file_viewer(
    session: Session, competition: Competition, user: User | None, *, seen_as: SeenAs | None = None
) -> FileViewer:
    """seen_as: of organisers who look through others' eyes."""
    if user is None or seen_as is SeenAs.PUBLIC:
        return FileViewer()
    if seen_as is None and may_organise(session, user, competition, Right.EDIT):
        return FileViewer(organises=True, is_known=True)
    return FileViewer(is_known=True, missing=None if seen_as else standing(session, competition, user).missing)


def file_access(
    competition: Competition, phase: Phase, phase_task: PhaseTask, viewer: FileViewer, now: datetime
) -> list[FileAccess]:
    """Every file of the task in this phase, in its order, for this viewer. `phase_task.files` must be loaded."""
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
    """Raises NotYetThere, NotAuthenticated, or RegistrationNeeded with what is missing."""
    if not access.is_there and access.available_from is not None:
        moment = in_utc(access.available_from)
        raise NotYetThere(
            f"'{access.file.name}' is there from {moment}.", available_from=access.available_from.isoformat()
        )
    if access.needs_login:
        raise NotAuthenticated(f"'{access.file.name}' is for participants: log in first.")
    if access.missing is not None:
        raise registration_needed(competition, access.missing)
