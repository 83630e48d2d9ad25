"""Precedence when a file is applied: the file is merged with edits made on the server since (decisions 018, 098).

If both changed a key to different values, the current declaration is applied again and the conflict is reported.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from enum import StrEnum

from pydantic import ValidationError
from sqlalchemy import select
from sqlalchemy.orm import Session

from app.base.errors import InvalidForm
from app.base.storage import StoredFile
from app.declarations.apply.changes import Work
from app.declarations.apply.files import keep_declared
from app.declarations.check import LoadedCompetition
from app.declarations.edits.checking import ProposedDeclaration, check_in
from app.declarations.historic import read_published
from app.declarations.model import CompetitionDeclaration
from app.declarations.revisions.documents import (
    Difference,
    Document,
    declared_files,
    declared_programs,
    differences,
    fingerprint,
    value_text,
)
from app.declarations.revisions.folder import linked
from app.declarations.revisions.kept import edits_since_file, last_from_file, marked_revision, newest_revision
from app.declarations.revisions.merging import Conflict, Merge, Side, merge_documents, merge_files
from app.gold.versions import places_with_gold
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
    changes: Sequence[str],
    note: str = "",
) -> Revision | None:
    """Add a revision and return it; return None if the latest one has the same meaning.

    A file that has caught up with edits is recorded even then.
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
        author_id=work.by.id if isinstance(work.by, User) else None,
        author=actor_name(work.by),
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


class OnEdits(StrEnum):
    """The way to apply a file over edits made on the server: merge both; if both changed a key, prefer one side or
    report it.
    """

    ASK = "ask"
    FILE = "file"
    SERVER = "server"
    OVERWRITE = "overwrite"  # drops every edit

    @property
    def preferred(self) -> Side | None:
        """The side whose values resolve conflicts; None to report them."""
        return Side(self.value) if self in (OnEdits.FILE, OnEdits.SERVER) else None


@dataclass(frozen=True, slots=True)
class ChosenDeclaration:
    """The declaration to apply, None for nothing, and its source: None for the current one again.

    read: the file that was merged, which is stored as a revision before the merge.
    """

    loaded: LoadedCompetition | None
    source: RevisionSource | None
    read: LoadedCompetition | None = None


@dataclass(frozen=True, slots=True)
class _Sides:
    """The revision that a file was made from, the current one, and the file itself, for merging.

    contents: sha256 by path.
    """

    base: Revision
    server: Revision
    file: LoadedCompetition
    contents: dict[str, str]

    def merge(self, prefer: Side | None) -> Merge:
        """Return the merged documents; conflicts between contents of files are among those of the result."""
        merge = merge_documents(self.base.document, self.file.document, self.server.document, prefer)
        before, there = _contents(self.base), _contents(self.server)
        chosen, conflicts = merge_files(before, self.contents, there, prefer)
        for path, side in chosen.items():
            what = f"the content of {path}"
            shown = [_digest_text(one.get(path)) for one in (before, self.contents, there)]
            if path in conflicts:
                merge.conflicts.append(Conflict(what, *shown))
            elif side is Side.SERVER and path in self.contents:
                merge.kept.append(Difference(what, *shown[1:]))
        return merge


def choose_declaration(work: Work, loaded: LoadedCompetition, stack: ExitStack, on_edits: OnEdits) -> ChosenDeclaration:
    """Return what to apply: the file, the file merged with edits, or the current declaration again.

    Its folder exists until `stack` is closed.
    """
    competition = work.session.scalar(select(Competition).where(Competition.name == loaded.declaration.name))
    newest = newest_revision(work.session, competition) if competition else None
    if competition is None or newest is None or newest.source == RevisionSource.FILE:
        return ChosenDeclaration(loaded, RevisionSource.FILE)
    contents = _contents_of(work, loaded)
    if _same_meaning(loaded, contents, newest.document, _contents(newest)):
        return ChosenDeclaration(loaded, RevisionSource.FILE)
    edits = edits_words(work.session, competition)
    if on_edits is OnEdits.OVERWRITE:
        work.changes.note(f"overwrote edits: {edits}. They stay in the history")
        return ChosenDeclaration(loaded, RevisionSource.FILE)
    base = _base(work.session, competition, loaded)
    if base is None:
        work.changes.keep_edits(
            f"left alone: {edits}. Evergold does not know which revision the file was made from: begin with "
            f"`evergold export yaml {competition.name}`"
        )
        return ChosenDeclaration(_present(work, newest, stack), None)
    return _merged(work, _Sides(base, newest, loaded, contents), (competition, stack), on_edits)


def _merged(work: Work, sides: _Sides, place: tuple[Competition, ExitStack], on_edits: OnEdits) -> ChosenDeclaration:
    """Return the file merged with the edits; if that is impossible, the current declaration, with the reason noted."""
    competition, stack = place
    edits = edits_words(work.session, competition)
    merge, present = sides.merge(on_edits.preferred), _present(work, sides.server, stack)
    if present is None:
        work.changes.keep_edits(
            f"left alone: {edits}. The current declaration cannot be read again: a file is lost, or too new"
        )
        return ChosenDeclaration(None, None)
    if merge.conflicts and on_edits is OnEdits.ASK:
        work.changes.keep_edits(_conflict_words(competition.name, edits, merge.conflicts))
        return ChosenDeclaration(present, None)
    if _same_meaning(sides.file, sides.contents, sides.base.document, _contents(sides.base)):
        work.changes.note(f"{_describe_merge(competition.name, edits, merge)}; the file has not changed")
        return ChosenDeclaration(present, None)
    try:
        merged = _check_merged(work, sides, merge, stack, on_edits.preferred)
    except InvalidForm as invalid:
        faults = "; ".join(f"{path}: {sentence}" for path, sentence in list(invalid.fields.items())[:_NAMED])
        work.changes.keep_edits(f"left alone: {edits}. Together with these edits the file is not valid: {faults}")
        return ChosenDeclaration(present, None)
    if _same_meaning(sides.file, sides.contents, merged.document, _contents_of(work, merged)):
        return ChosenDeclaration(sides.file, RevisionSource.FILE)
    work.changes.note(_describe_merge(competition.name, edits, merge))
    return ChosenDeclaration(merged, RevisionSource.MERGE, sides.file)


def _check_merged(work: Work, sides: _Sides, merge: Merge, stack: ExitStack, prefer: Side | None) -> LoadedCompetition:
    """Return the merged declaration, laid out with its files and checked like any other. Raises InvalidForm."""
    there = _contents(sides.server)
    chosen = merge_files(_contents(sides.base), sides.contents, there, prefer)[0]
    folder = stack.enter_context(
        linked({path: there[path] for path, side in chosen.items() if side is Side.SERVER}, work.storage)
    )
    for path in (path for path, side in chosen.items() if side is Side.FILE):
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).symlink_to((sides.file.folder / path).absolute())
    wanted = ProposedDeclaration(merge.document, dict.fromkeys(chosen, ""), RevisionSource.MERGE)
    return check_in(folder, wanted, work.now, places_with_gold(work.session))[0]


def _base(session: Session, competition: Competition, loaded: LoadedCompetition) -> Revision | None:
    """Return the revision that the file was made from: that of its export, or of the last applied file."""
    known = [marked_revision(session, competition, loaded.mark), last_from_file(session, competition)]
    return max((one for one in known if one is not None), key=lambda one: one.number, default=None)


def _digest_text(sha256: str | None) -> str | None:
    return f"sha256 {sha256[:12]}…" if sha256 else None


def _contents(revision: Revision) -> dict[str, str]:
    return {file.path: file.sha256 for file in revision.files}


def _contents_of(work: Work, loaded: LoadedCompetition) -> dict[str, str]:
    programs = declared_programs(loaded.declaration)
    paths = declared_files(loaded.declaration)
    return {path: keep_declared(work, loaded.folder, path, programs).sha256 for path in paths}


def _same_meaning(
    loaded: LoadedCompetition, contents: Mapping[str, str], document: Document, there: Mapping[str, str]
) -> bool:
    try:
        declared = CompetitionDeclaration.model_validate(document)
    except ValidationError:
        return False
    return fingerprint(loaded.declaration, contents) == fingerprint(declared, there)


def edits_words(session: Session, competition: Competition) -> str:
    """Return `'demo' was edited since its file was last applied, by grace on …: title from 'Demo' to 'A demo'`."""
    newest, last = newest_revision(session, competition), last_from_file(session, competition)
    made = edits_since_file(session, competition)
    if newest is None or last is None or not made:
        return f"'{competition.name}' was edited on the server"
    authors = ", ".join(dict.fromkeys(revision.author for revision in made))
    what = _listed([str(one) for one in differences(last.document, newest.document)])
    when = moment_words(made[-1].made_at)
    return (
        f"'{competition.name}' was edited since its file was last applied, by {authors}, the last time on {when} "
        f"(revision {made[-1].number}){f': {what}' if what else ''}"
    )


def _listed(found: Sequence[str]) -> str:
    more = f"; and {len(found) - _NAMED} more" if len(found) > _NAMED else ""
    return f"{'; '.join(found[:_NAMED])}{more}"


def _conflict_words(name: str, change: str, conflicts: Sequence[Conflict]) -> str:
    return (
        f"left alone: {change.partition(': ')[0]}, and the file changes the same: "
        f"{_listed([str(one) for one in conflicts])}. "
        f"`evergold apply --conflicts file` takes the file's values there, `--conflicts server` those of the server; "
        f"all other changes of both are kept"
    )


def _describe_merge(name: str, change: str, merge: Merge) -> str:
    """Return a sentence on what the server has and the file lacks, with who edited it."""
    kept = [f"{one.path} stays {value_text(one.after)}, in the file {value_text(one.before)}" for one in merge.kept]
    return f"kept edits: {change.partition(': ')[0]}{f': {_listed(kept)}' if kept else ''}"


def _present(work: Work, newest: Revision, stack: ExitStack) -> LoadedCompetition | None:
    """Return the edited declaration with its stored files; None if this version of the server cannot read it."""
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
