"""Checks phases.yaml and the files it names, reporting all errors at once, by line.

`load_competitions` returns what `app.declarations.apply.apply` writes to the database, but only if there are no errors.
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
    """A valid declaration, the folder for its relative paths, the document as written, and its published results.

    mark: the first line of its file if that is a comment, in which exports name their revision.
    """

    declaration: CompetitionDeclaration
    folder: Path
    document: dict[str, Any]
    published: PublishedResults
    mark: str = ""


#: Maximum length of the first line of a marked file.
_MARK_CHARACTERS = 1000


class InvalidPhases(Exception):
    """phases.yaml has errors. findings: all of them, including warnings."""

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

    - gold: a folder of plain gold, as workers have it, with which items and baselines are compared.
    - upload_limit_bytes: the limit of the server, None if unknown.
    - sealed: (competition, phase, task) with sealed gold on the server.
    """
    return _check(path, now, gold, upload_limit_bytes, sealed)[1].in_order()


def load_competitions(path: Path, only: Path | None = None) -> list[LoadedCompetition]:
    """Return the competitions in the order of the files. Raises InvalidPhases with all errors.

    only: the file of the wanted competitions; others are not checked or reported.
    """
    if only is None:
        return load_checked(path, now=None)[0]
    wanted = only.resolve()
    competitions, findings = _check(path, None, only=wanted)
    own = [finding for finding in findings.in_order() if Path(finding.file).resolve() == wanted]
    if any(finding.severity == "error" for finding in own):
        raise InvalidPhases(own)
    return [_loaded(node) for node in competitions]


def load_checked(
    path: Path, *, now: datetime | None, sealed: Collection[tuple[str, str, str]] = ()
) -> tuple[list[LoadedCompetition], list[Finding]]:
    """Return the competitions with the warnings of `check_phases`. Raises InvalidPhases."""
    competitions, findings = _check(path, now, sealed=sealed)
    if findings.errors:
        raise InvalidPhases(findings.in_order())
    return [_loaded(node) for node in competitions], findings.in_order()


def _loaded(node: Node) -> LoadedCompetition:
    document, file = node.plain(), Path(node.file)
    declared = CompetitionDeclaration.model_validate(document)
    return LoadedCompetition(declared, file.parent, document, read_published(declared, file.parent), _mark(file))


def _mark(file: Path) -> str:
    with file.open(encoding="utf-8-sig") as lines:
        first = lines.readline(_MARK_CHARACTERS)
    return first.removeprefix("#").strip() if first.startswith("#") else ""


def _check(
    path: Path,
    now: datetime | None,
    gold: Path | None = None,
    upload_limit_bytes: int | None = None,
    sealed: Collection[tuple[str, str, str]] = (),
    only: Path | None = None,
) -> tuple[list[Node], Findings]:
    findings = Findings()
    competitions = [
        node for document in read_phases_files(path, findings) for node in elements(document, "competitions")
    ]
    check_names(competitions, "the competition", findings)
    if only is not None:
        competitions = [node for node in competitions if Path(node.file).resolve() == only]
    for competition in competitions:
        parts = check_competition(competition, now, findings, sealed)
        check_files(parts, findings, warn=now is not None, gold=gold)
        check_programs(parts, findings)
        check_texts(competition, findings)
        check_images(competition, findings)
        if upload_limit_bytes is not None:
            warn_of_server_limit(competition, upload_limit_bytes, findings)
    return competitions, findings
