"""Checks a new declaration like a file, in the helper, because organisers control all of its content."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from app.base.errors import InvalidForm
from app.base.storage import Storage
from app.declarations.check import InvalidPhases, LoadedCompetition, load_checked
from app.declarations.edits.fields import findings_by_path
from app.declarations.edits.texts import declaration_text
from app.declarations.historic import published_document, published_from
from app.declarations.model import CompetitionDeclaration
from app.declarations.revisions.documents import Document
from app.declarations.revisions.folder import linked, main_file
from app.helper.process import Job, TooMuchWork, run
from app.helper.wire import Message
from app.models import RevisionSource

#: Reads items and baselines, which may be large. Further editors wait, a few of them in their request threads.
_CHECK = Job(
    "app.declarations.edits.checking:check_document", processor_seconds=60, seconds=120, mebibytes=2048, waiting=6
)
#: Maximum number of marked values; further mistakes are shown afterwards.
_FAULTS_LIMIT = 200
_TOO_MUCH = "Checking the files takes too long or too much memory. Make them smaller."


@dataclass(frozen=True, slots=True)
class ProposedDeclaration:
    """A declaration to be applied.

    files: sha256 in storage by path. faults: problems of values that could not be set, by name.
    """

    document: Document
    files: Mapping[str, str]
    source: RevisionSource
    faults: Mapping[str, str] = field(default_factory=dict)


@contextmanager
def checked(
    wanted: ProposedDeclaration, storage: Storage, now: datetime, sealed: Collection[tuple[str, str, str]]
) -> Iterator[tuple[LoadedCompetition, list[str]]]:
    """Yield the declaration like a checked file, with warnings. Raises InvalidForm with all errors by path, or Busy."""
    with linked(wanted.files, storage) as folder:
        yield check_in(folder, wanted, now, sealed)


def check_in(
    folder: Path, wanted: ProposedDeclaration, now: datetime, sealed: Collection[tuple[str, str, str]]
) -> tuple[LoadedCompetition, list[str]]:
    """Check the declaration with its files, which are already in this folder; return it with warnings.

    Raises the errors of `checked`.
    """
    head = {
        "document": wanted.document,
        "main": str(folder / main_file(wanted.files)),
        "now": now.isoformat(),
        "sealed": [list(place) for place in sealed],
    }
    try:
        answer, _ = run(_CHECK, head)
    except TooMuchWork:
        answer = {"faults": {"declaration": _TOO_MUCH}}
    faults = {**answer.get("faults", {}), **wanted.faults}
    if faults:
        raise InvalidForm("Please correct the marked fields. Nothing was changed.", fields=faults)
    document, published = answer["document"], published_from(answer["published"])
    declared = CompetitionDeclaration.model_validate(document)
    return LoadedCompetition(declared, folder, document, published), answer["warnings"]


def check_document(head: dict[str, Any], _: bytes) -> Message:
    """Write the document next to its files and check it there. A job of the helper.

    Returns `faults` by path, or the `document` as parsed, its `published` results, and `warnings`.
    """
    main, now = Path(head["main"]), datetime.fromisoformat(head["now"])
    main.write_text(declaration_text(head["document"]), encoding="utf-8", newline="\n")
    try:
        loaded, warnings = load_checked(main, now=now, sealed={tuple(place) for place in head["sealed"]})
    except InvalidPhases as invalid:
        errors = [finding for finding in invalid.findings if finding.severity == "error"]
        faults = findings_by_path(main, errors)
        return {"faults": dict(list(faults.items())[:_FAULTS_LIMIT])}, b""
    competition, sentences = loaded[0], [finding.message for finding in warnings]
    published = published_document(competition.published)
    return {"document": competition.document, "published": published, "warnings": sentences}, b""
