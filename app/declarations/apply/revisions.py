"""Records a revision of what was applied, in the same transaction: the declaration as written, and its files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sqlalchemy.orm import Session

from app.base.storage import StoredFile
from app.declarations.apply.changes import Work
from app.declarations.apply.files import keep
from app.declarations.check import LoadedCompetition
from app.declarations.revisions.documents import declared_files, fingerprint
from app.declarations.revisions.kept import newest_revision
from app.models import Competition, Revision, RevisionFile, RevisionSource, User
from app.people.audit import actor_name

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
    files = {path: keep(work, loaded.folder / path) for path in declared_files(loaded.declaration)}
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
