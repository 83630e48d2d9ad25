"""Check phases.yaml and the files it names, reporting all mistakes at once, by line.

`load_competitions` returns what `app.declarations.apply.apply` writes to the database, only if there are no errors.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from app.declarations.check.competition import check_competition, check_names, warn_of_server_limit
from app.declarations.check.files import check_files
from app.declarations.check.images import check_images
from app.declarations.check.programs import check_programs
from app.declarations.check.shape import elements, read_phases_files
from app.declarations.check.texts import check_texts
from app.declarations.findings import Finding, Findings
from app.declarations.historic import PublishedResults, read_published
from app.declarations.model import CompetitionDeclaration
from evergold.yaml_lines import Node

__all__ = ["Finding", "InvalidPhases", "LoadedCompetition", "check_phases", "load_checked", "load_competitions"]


@dataclass(frozen=True, slots=True)
class LoadedCompetition:
    """A valid declaration, the folder its paths are relative to, the document as written, and its published results."""

    declaration: CompetitionDeclaration
    folder: Path
    document: dict[str, Any]
    published: PublishedResults


class InvalidPhases(Exception):
    """phases.yaml has errors; `findings` has them, warnings included."""

    def __init__(self, findings: list[Finding]) -> None:
        self.findings = findings
        errors = [finding for finding in findings if finding.severity == "error"]
        more = f" (and {len(errors) - 1} more)" if len(errors) > 1 else ""
        super().__init__(f"{errors[0]}{more}")


def check_phases(
    path: Path,
    *,
    now: datetime,
    gold: Path | None = None,
    upload_limit_bytes: int | None = None,
    sealed: Collection[tuple[str, str, str]] = (),
) -> list[Finding]:
    """Return all errors and warnings about phases.yaml, its includes and their files, by file and line.

    - gold: a folder of plain gold, as workers have it, to compare items and baselines with.
    - upload_limit_bytes: the limit of the server, None if unknown.
    - sealed: (competition, phase, task) with sealed gold on the server.
    """
    return _check(path, now, gold, upload_limit_bytes, sealed)[1].in_order()


def load_competitions(path: Path) -> list[LoadedCompetition]:
    """Return the competitions in the order of the files. Raises InvalidPhases with all errors."""
    return load_checked(path, now=None)[0]


def load_checked(
    path: Path, *, now: datetime | None, sealed: Collection[tuple[str, str, str]] = ()
) -> tuple[list[LoadedCompetition], list[Finding]]:
    """Return the competitions with the warnings of `check_phases`. Raises InvalidPhases."""
    competitions, findings = _check(path, now, sealed=sealed)
    if findings.errors:
        raise InvalidPhases(findings.in_order())
    return [_loaded(node.plain(), Path(node.file).parent) for node in competitions], findings.in_order()


def _loaded(document: dict[str, Any], folder: Path) -> LoadedCompetition:
    declared = CompetitionDeclaration.model_validate(document)
    return LoadedCompetition(declared, folder, document, read_published(declared, folder))


def _check(
    path: Path,
    now: datetime | None,
    gold: Path | None = None,
    upload_limit_bytes: int | None = None,
    sealed: Collection[tuple[str, str, str]] = (),
) -> tuple[list[Node], Findings]:
    findings = Findings()
    competitions = [
        node for document in read_phases_files(path, findings) for node in elements(document, "competitions")
    ]
    check_names(competitions, "the competition", findings)
    for competition in competitions:
        parts = check_competition(competition, now, findings, sealed)
        check_files(parts, findings, warn=now is not None, gold=gold)
        check_programs(parts, findings)
        check_texts(competition, findings)
        check_images(competition, findings)
        if upload_limit_bytes is not None:
            warn_of_server_limit(competition, upload_limit_bytes, findings)
    return competitions, findings
