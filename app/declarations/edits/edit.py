"""Editing a declaration on the server, and restoring an earlier one, with the same checks and effects as for a file.

An edit names the revision that it is based on. If there is a newer one, nothing is changed, and the editor gets a
report of the changes made in the meantime, with their authors.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime

from pydantic import ValidationError
from sqlalchemy import Engine, select
from sqlalchemy.orm import Session

from app.base.db import reading, writing
from app.base.errors import EvergoldError, InvalidForm
from app.base.storage import Storage
from app.competitions.find import find_competition
from app.competitions.visibility import is_gold_hidden
from app.declarations.apply.apply import Change, apply_declaration, lock_declarations
from app.declarations.apply.changes import Changes, Work
from app.declarations.check import LoadedCompetition
from app.declarations.edits.checking import ProposedDeclaration, checked
from app.declarations.edits.effects import RolledBack, effects, standings
from app.declarations.edits.export import stored_files
from app.declarations.edits.fields import Value, sorted_values
from app.declarations.model import CompetitionDeclaration
from app.declarations.revisions.documents import (
    Difference,
    declared_files,
    differences,
    fingerprint,
    with_values,
)
from app.declarations.revisions.kept import find_revision, present_revision, revisions_since
from app.declarations.views import EffectOut, OutcomeOut
from app.gold.versions import places_with_gold
from app.models import Competition, CompetitionTask, Phase, PhaseTask, Revision, RevisionSource, Right, User
from app.people import audit
from app.people.rights import RightMissing, check_may_organise, may_organise
from evergold.moments import moment_words
from evergold.value_words import listed

#: Phase, task, name of the baseline, sha256 of its file, track: a difference here means scoring again.
Scored = tuple[str, str, str, str | None, str | None]


def check_new_baselines(
    session: Session, user: User, competition: Competition, wanted: Mapping[Scored, None], present: Revision
) -> None:
    """Raise RightMissing if a user without permission for gold adds or changes baselines on hidden gold.

    wanted: `declared_baselines` of the new declaration; present: the current revision.
    """
    if may_organise(session, user, competition, Right.GOLD):
        return
    there = _baselines_of(present)
    places = _hidden_places(session, competition)
    new = [one for one in wanted if one not in there and one[:2] in places]
    if not new:
        return
    names = listed(dict.fromkeys(f"'{one[2]}'" for one in new))
    try:
        check_may_organise(session, user, competition, Right.GOLD)
    except RightMissing as missing:
        raise RightMissing(
            f"Baselines on hidden gold are scored as soon as they are declared, and scores reveal something about the "
            f"gold: {names}. {missing} Or do not change them.",
            **missing.details,
        ) from None


def declared_baselines(declared: CompetitionDeclaration, files: Mapping[str, str]) -> dict[Scored, None]:
    """Return the baselines of a declaration in its order. files: sha256 by path."""
    return dict.fromkeys(_scored(declared, files))


def _scored(declared: CompetitionDeclaration, files: Mapping[str, str]) -> Iterator[Scored]:
    for phase in declared.phases:
        for task, declaration in phase.tasks.items():
            for one in declaration.baselines:
                yield phase.name, task, one.name, files.get(one.file), one.track


def _baselines_of(revision: Revision) -> dict[Scored, None]:
    try:
        declared = CompetitionDeclaration.model_validate(revision.document)
    except ValidationError:  # from another version of Evergold
        return {}
    return declared_baselines(declared, {file.path: file.sha256 for file in revision.files})


def _hidden_places(session: Session, competition: Competition) -> set[tuple[str, str]]:
    """Return (phase, task) for all gold that is hidden or not yet uploaded."""
    query = (
        select(PhaseTask, Phase.name, CompetitionTask.name)
        .join(Phase, Phase.id == PhaseTask.phase_id)
        .join(CompetitionTask, CompetitionTask.id == PhaseTask.task_id)
        .where(Phase.competition_id == competition.id)
    )
    return {
        (phase, task)
        for phase_task, phase, task in session.execute(query)
        if is_gold_hidden(phase_task, trusts_declaration=False)
    }


NOTE_CHARACTERS = 500


class EditConflict(EvergoldError):
    """Somebody else saved first.

    details: base, revision, revisions as [{number, by, at, source, note}], and their changes as differences: [{path,
    before, after}].
    """

    status = 409
    code = "edit_conflict"


@dataclass(frozen=True, slots=True)
class Edit:
    """A requested edit.

    - base: number of the revision that it is based on; None for the current one.
    - by: as for `app.people.audit.record`; a user must organise the competition.
    - is_preview: change nothing.
    - previewed: change nothing unless the result has this fingerprint, which is that of the previewed declaration.
    """

    competition: str
    base: int | None
    by: User | None
    note: str = ""
    is_preview: bool = False
    previewed: str | None = None


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result or preview of an edit.

    base: the revision that it is based on. revision: the new one, None in a preview or if the meaning is unchanged.
    fingerprint: of the resulting declaration.
    """

    base: int
    revision: int | None
    changes: list[Change]
    effects: list[EffectOut]
    warnings: list[str]
    fingerprint: str

    @property
    def changes_something(self) -> bool:
        """True if anything changes."""
        return any(change.counts for change in self.changes)

    def describe(self) -> OutcomeOut:
        """Return the API object of the result, with changes and notes as separate sentences."""
        return OutcomeOut(
            base=self.base,
            revision=self.revision,
            changes=[str(change) for change in self.changes if change.counts],
            notes=[str(change) for change in self.changes if not change.counts],
            warnings=self.warnings,
            effects=self.effects,
        )


def edit_values(engine: Engine, storage: Storage, edit: Edit, values: Mapping[str, Value], now: datetime) -> Outcome:
    """Set values by name, None to remove them (see `app.declarations.edits.fields`); return the outcome.

    Raises NotFound, Forbidden, EditConflict, InvalidForm (fields: name -> sentence), and the errors of `apply_phases`.
    """
    with reading(engine) as session:
        present = _base(session, edit)
    accepted, faults = sorted_values(present.document, values)
    files = stored_files(present, storage)
    wanted = ProposedDeclaration(with_values(present.document, accepted), files, RevisionSource.EDIT, faults)
    return _bring(engine, storage, edit, present.number, wanted, now)


def go_back(engine: Engine, storage: Storage, edit: Edit, number: int, now: datetime) -> Outcome:
    """Apply an earlier revision with its files as a new one; return the outcome. Raises the same errors as
    `edit_values`.
    """
    with reading(engine) as session:
        present = _base(session, edit)
        earlier = find_revision(session, find_competition(session, edit.competition), number)
    wanted = ProposedDeclaration(earlier.document, stored_files(earlier, storage), RevisionSource.UNDO)
    return _bring(engine, storage, edit, present.number, wanted, now)


def edit_whole(engine: Engine, storage: Storage, edit: Edit, wanted: ProposedDeclaration, now: datetime) -> Outcome:
    """Replace the whole declaration and return the outcome; its files must be in storage.

    Raises the same errors as `edit_values`.
    """
    with reading(engine) as session:
        present = _base(session, edit)
    return _bring(engine, storage, edit, present.number, wanted, now)


def _base(session: Session, edit: Edit) -> Revision:
    """Check permission and note of the editor; return the current revision. Raises Forbidden, InvalidForm,
    EditConflict.
    """
    competition = find_competition(session, edit.competition)
    if edit.by is not None:
        check_may_organise(session, edit.by, competition, Right.EDIT)
    if len(edit.note) > NOTE_CHARACTERS:
        raise InvalidForm("The note is too long.", fields={"note": f"At most {NOTE_CHARACTERS} characters."})
    present = present_revision(session, competition)
    if edit.base is not None and edit.base != present.number:
        raise _conflict(session, competition, edit.base, present)
    return present


def _bring(
    engine: Engine, storage: Storage, edit: Edit, base: int, wanted: ProposedDeclaration, now: datetime
) -> Outcome:
    """Check the declaration, apply it and return the outcome.

    base: the revision that the edit is based on, which is checked again under the lock.
    """
    files = wanted.files
    with reading(engine) as session:
        sealed = places_with_gold(session)
    with checked(wanted, storage, now, sealed) as (loaded, warnings):
        named = {path: files[path] for path in declared_files(loaded.declaration)}
        meant = fingerprint(loaded.declaration, named)
        is_preview = edit.is_preview or (edit.previewed is not None and edit.previewed != meant)
        try:
            with writing(engine) as session:
                lock_declarations(session)
                is_operator = edit.by is None or edit.by.is_administrator
                work = Work(session, storage, now, Changes(), edit.by, is_preview, trusts_declaration=is_operator)
                number, found = _apply(work, edit, base, loaded, wanted)
                outcome = Outcome(base, number, work.changes.made, found, warnings, meant)
                if is_preview:
                    raise RolledBack
        except RolledBack:
            return replace(outcome, revision=None)
        return outcome


def _apply(
    work: Work, edit: Edit, base: int, loaded: LoadedCompetition, wanted: ProposedDeclaration
) -> tuple[int | None, list[EffectOut]]:
    """Apply under the lock; return the number of the new revision, None if it means the same, and the effects."""
    competition = find_competition(work.session, edit.competition)
    newest = present_revision(work.session, competition)
    if newest.number != base:
        raise _conflict(work.session, competition, base, newest)
    before = standings(work.session, [competition.name], work.now)
    revision = apply_declaration(work, competition, loaded, wanted.source, edit.note)
    work.session.flush()
    if edit.by is not None:
        baselines = declared_baselines(loaded.declaration, wanted.files)
        check_new_baselines(work.session, edit.by, competition, baselines, newest)
    if revision is not None:
        details = {"revision": revision.number, "changes": revision.changes, "note": edit.note}
        subject = f"competition {competition.name}"
        audit.record(work.session, edit.by, f"competition.{wanted.source}", subject, details, now=work.now)
    after = standings(work.session, [competition.name], work.now)
    return revision.number if revision else None, effects(before, after)


def _conflict(session: Session, competition: Competition, base: int, present: Revision) -> EvergoldError:
    """Return the error with all changes made since the edit's base."""
    seen = find_revision(session, competition, base)
    made = revisions_since(session, competition, base)
    authors = ", ".join(dict.fromkeys(revision.author for revision in made))
    changed = differences(seen.document, present.document)
    what = f" What changed: {'; '.join(str(one) for one in changed)}." if changed else ""
    return EditConflict(
        f"Meanwhile this was changed by {authors}, the last time on {moment_words(present.made_at)}. "
        f"Your changes were not applied.{what}",
        base=base,
        revision=present.number,
        revisions=[_revision_words(revision) for revision in made],
        differences=[_difference_words(one) for one in changed],
    )


def _revision_words(revision: Revision) -> dict[str, object]:
    return {
        "number": revision.number,
        "by": revision.author,
        "at": revision.made_at.isoformat(),
        "source": revision.source,
        "note": revision.note,
    }


def _difference_words(one: Difference) -> dict[str, object]:
    return {"path": one.path, "before": one.before, "after": one.after}
