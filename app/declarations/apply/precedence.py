"""Precedence when a file is applied: the file, unless the competition was edited on the server since (018).

In that case the current declaration is applied again, and the changes the file would have undone are reported.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError
from sqlalchemy import select
from sqlalchemy.orm import Session

from app.base.storage import StoredFile
from app.declarations.apply.changes import Work
from app.declarations.apply.files import keep_declared
from app.declarations.check import LoadedCompetition
from app.declarations.historic import read_published
from app.declarations.model import CompetitionDeclaration
from app.declarations.revisions.documents import declared_files, declared_programs, differences, fingerprint
from app.declarations.revisions.folder import linked
from app.declarations.revisions.kept import last_from_file, newest_revision, revisions_since
from app.models import Competition, Revision, RevisionFile, RevisionSource, User
from app.people.audit import actor_name
from evergold.moments import moment_words
from evergold.scoring.errors import InvalidFile

#: Maximum number of sentences per revision.
CHANGES_KEPT = 200


def keep_revision(
    work: Work,
    competition: Competition,
    loaded: LoadedCompetition,
    *,
    source: RevisionSource,
    by: User | str | None,
    changes: Sequence[str],
    note: str = "",
) -> Revision | None:
    """Add a revision; return None if the latest one has the same meaning.

    A file that caught up with edits is recorded even then.
    """
    programs = declared_programs(loaded.declaration)
    files = {path: keep_declared(work, loaded.folder, path, programs) for path in declared_files(loaded.declaration)}
    meant = fingerprint(loaded.declaration, {path: file.sha256 for path, file in files.items()})
    newest = newest_revision(work.session, competition)
    if newest and newest.fingerprint == meant and not (source == RevisionSource.FILE and newest.source != source):
        return None
    revision = Revision(
        competition_id=competition.id,
        number=newest.number + 1 if newest else 1,
        source=source,
        made_at=work.now,
        author_id=by.id if isinstance(by, User) else None,
        author=actor_name(by),
        note=note,
        document=loaded.document,
        fingerprint=meant,
        changes=list(changes[:CHANGES_KEPT]),
    )
    work.session.add(revision)
    work.session.flush()
    _add_files(work.session, revision, files)
    return revision


def _add_files(session: Session, revision: Revision, files: Mapping[str, StoredFile]) -> None:
    session.add_all(
        RevisionFile(revision_id=revision.id, path=path, sha256=file.sha256, size_bytes=file.size_bytes)
        for path, file in files.items()
    )
    session.flush()


#: Number of edited values named in one sentence.
_NAMED = 6


@dataclass(frozen=True, slots=True)
class ChosenDeclaration:
    """The declaration to apply, None for nothing; `is_file` is True if it comes from the file."""

    loaded: LoadedCompetition | None
    is_file: bool


def choose_declaration(
    work: Work, loaded: LoadedCompetition, stack: ExitStack, *, overwrite_edits: bool
) -> ChosenDeclaration:
    """Choose the file's declaration, or the edited one if edits would be lost; its folder lives as long as `stack`."""
    competition = work.session.scalar(select(Competition).where(Competition.name == loaded.declaration.name))
    newest = newest_revision(work.session, competition) if competition else None
    if competition is None or newest is None or newest.source == RevisionSource.FILE:
        return ChosenDeclaration(loaded, True)
    if _keeps_edits(work, competition, newest, loaded):
        return ChosenDeclaration(loaded, True)
    said = edits_words(work.session, competition)
    if overwrite_edits:
        work.changes.note(f"overwrote edits: {said}. They stay in the history")
        return ChosenDeclaration(loaded, True)
    work.changes.keep_edits(f"left alone: {said}")
    return ChosenDeclaration(_present(work, newest, stack), False)


def edits_words(session: Session, competition: Competition) -> str:
    """Return `'demo' was edited since its file was last applied, by grace on …: title from 'Demo' to 'A demo'`."""
    newest, last = newest_revision(session, competition), last_from_file(session, competition)
    if newest is None or last is None:
        return f"'{competition.name}' was edited on the server"
    made = revisions_since(session, competition, last.number)
    authors = ", ".join(dict.fromkeys(revision.author for revision in made))
    found = [str(one) for one in differences(last.document, newest.document)]
    more = f"; and {len(found) - _NAMED} more" if len(found) > _NAMED else ""
    what = f": {'; '.join(found[:_NAMED])}{more}" if found else ""
    when = moment_words(newest.made_at)
    return (
        f"'{competition.name}' was edited since its file was last applied, by {authors}, the last time on {when} "
        f"(revision {newest.number}){what}"
    )


def _keeps_edits(work: Work, competition: Competition, newest: Revision, loaded: LoadedCompetition) -> bool:
    """True if the file contains the edits: the same declaration, and the same content of files that edits replaced."""
    try:
        edited = CompetitionDeclaration.model_validate(newest.document)
    except ValidationError:
        return False
    there, here = (one.model_dump(mode="json", exclude_unset=True) for one in (edited, loaded.declaration))
    last = last_from_file(work.session, competition)
    if there != here and not (last and _changes_only_what_nobody_edited(last, there, here)):
        return False
    before = {file.path: file.sha256 for file in last.files} if last else {}
    replaced = [file for file in newest.files if before.get(file.path, file.sha256) != file.sha256]
    paths = [loaded.folder / file.path for file in replaced]
    if not all(path.exists() for path in paths):  # a file that an edit added and that is no longer declared
        return False
    programs = declared_programs(loaded.declaration)
    return all(keep_declared(work, loaded.folder, file.path, programs).sha256 == file.sha256 for file in replaced)


def _changes_only_what_nobody_edited(last: Revision, there: dict[str, Any], here: dict[str, Any]) -> bool:
    """True if the file contains every edit and differs only elsewhere, like an export with some changed lines.

    there, here: the documents on the server and in the file.
    """
    try:
        before = CompetitionDeclaration.model_validate(last.document).model_dump(mode="json", exclude_unset=True)
    except ValidationError:
        return False
    edited = [_steps(one.path) for one in differences(before, there)]
    changed = [_steps(one.path) for one in differences(there, here)]
    return not any(_overlap(one, other) for one in edited for other in changed)


def _steps(path: str) -> list[str]:
    return path.removesuffix(" (order)").split(".")


def _overlap(one: list[str], other: list[str]) -> bool:
    """True if one of two paths contains the other."""
    shorter = min(len(one), len(other))
    return one[:shorter] == other[:shorter]


def _present(work: Work, newest: Revision, stack: ExitStack) -> LoadedCompetition | None:
    """Return the edited declaration with its stored files; None if this version can no longer read it."""
    try:
        declared = CompetitionDeclaration.model_validate(newest.document)
    except ValidationError:
        return None
    files = {file.path: file.sha256 for file in newest.files}
    folder = stack.enter_context(linked(files, work.storage))
    if not all((folder / path).exists() for path in files):
        return None
    try:
        published = read_published(declared, folder)
    except InvalidFile:
        return None
    return LoadedCompetition(declared, folder, newest.document, published)
