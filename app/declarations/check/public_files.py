"""The declared files that can be downloaded at a given moment, with their audience: a check for organisers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import PurePosixPath

from app.declarations.downloads import declared_downloads
from app.declarations.model import CompetitionDeclaration, PhaseDeclaration
from app.declarations.values import NOW
from app.models import Audience
from app.teams.questions import question_of
from app.teams.registration import Rules


@dataclass(frozen=True, slots=True)
class OpenFile:
    """A file that can be downloaded. is_early: True if its phase has not started."""

    competition: str
    phase: str
    task: str
    name: str
    audience: Audience
    is_early: bool

    def __str__(self) -> str:
        whom = "everyone" if self.audience is Audience.EVERYONE else "participants"
        early = ", before the phase starts" if self.is_early else ""
        return f"{self.competition}/{self.phase}/{self.task}: {self.name} ({whom}{early})"


def open_files(declared: CompetitionDeclaration, now: datetime) -> Iterator[OpenFile]:
    """Yield open files in the order of the declaration, without generated templates, which are not declared."""
    questions = tuple(question_of(question.model_dump()) for question in declared.registration.questions)
    usual = Rules(declared.registration_mode, terms=declared.registration.terms, questions=questions).files_for
    for phase in declared.phases:
        for task, declaration in phase.tasks.items():
            for download in declared_downloads(declaration):
                if _is_there(download.available_from, phase, now):
                    name = PurePosixPath(download.file).name
                    audience = download.audience or usual
                    yield OpenFile(declared.name, phase.name, task, name, audience, is_early=now < phase.start)


def _is_there(available_from: datetime | str | None, phase: PhaseDeclaration, now: datetime) -> bool:
    if isinstance(available_from, datetime):
        return available_from <= now
    return available_from == NOW or phase.start <= now
