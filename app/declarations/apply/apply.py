"""Applies phases.yaml to the database: adds and changes rows, reports the changes; idempotent.

Rows with submissions are never deleted: if they are no longer declared, they are kept and reported. Scores never change
here: new gold or options apply to future runs. Boards, files, baselines and missing parts are in separate modules.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any

from sqlalchemy import ColumnElement, delete, func, select, text
from sqlalchemy.orm import Session

from app.base.errors import EvergoldError
from app.base.storage import Storage, StoredFile, store_upload
from app.competitions.changed import boards_changed
from app.competitions.tracks import tracks_of
from app.competitions.visibility import CLOSE
from app.declarations.apply.baselines import apply_baselines
from app.declarations.apply.boards import apply_boards
from app.declarations.apply.changes import Change, Changes, Work
from app.declarations.apply.files import (
    DeclaredPhaseTask,
    apply_public_files,
    handle_removed,
    keep,
    keep_program,
    note_missing_competitions,
)
from app.declarations.apply.official import note_superseded, phase_ends
from app.declarations.apply.precedence import ChosenDeclaration, OnEdits, choose_declaration, keep_revision
from app.declarations.apply.programs import bound_programs, note_gold_to_put_again
from app.declarations.check import LoadedCompetition
from app.declarations.images.making import InvalidImage, make_image
from app.declarations.images.texts import declared_images
from app.declarations.model import (
    CompetitionDeclaration,
    MethodCardDeclaration,
    PhaseDeclaration,
    PhaseTaskDeclaration,
    TaskDeclaration,
)
from app.gold.versions import name_in_use
from app.models import (
    Competition,
    CompetitionTask,
    ImageFile,
    Phase,
    PhaseTask,
    Revision,
    RevisionSource,
    Stage,
    Submission,
    Team,
    TeamKind,
    User,
)
from app.runs.report import forget_results
from app.standings.renew import renew_all


def registration_values(declared: CompetitionDeclaration) -> dict[str, Any]:
    """Return the values of the columns `registration` and `teams`."""
    registration = declared.registration.model_dump(mode="json", exclude_defaults=True)
    return {
        "registration": registration | {"mode": declared.registration_mode},
        "teams": declared.teams.model_dump(mode="json", exclude_defaults=True),
    }


def note_unknown_names(work: Work, declared: CompetitionDeclaration) -> None:
    """Note user names in the declaration that do not exist, because anybody who registers one would be admitted."""
    names = {one for one in declared.registration.allowed if "@" not in one}
    known = set(work.session.scalars(select(User.username).where(User.username.in_(names))))
    for name in sorted(names - known):
        work.changes.note(
            f"'{declared.name}' lets in '{name}', but no account has this user name yet: anybody could register it "
            "and get in"
        )


def note_other_tracks(work: Work, competition: Competition) -> None:
    """Note each track, or lack of one, that submissions have but the competition no longer declares."""
    declared: set[str | None] = {track.name for track in tracks_of(competition)} or {None}
    counted = work.session.execute(
        select(Submission.track, func.count())
        .join(PhaseTask, PhaseTask.id == Submission.phase_task_id)
        .join(Phase, Phase.id == PhaseTask.phase_id)
        .join(Team, Team.id == Submission.team_id)
        .where(Phase.competition_id == competition.id, Team.kind == TeamKind.TEAM)
        .group_by(Submission.track)
        .order_by(Submission.track)
    )
    for track, count in counted:
        if track not in declared:
            what = f"in the track '{track}'" if track else "without a track"
            stay = f"{count}; they stay so, and only boards of all tracks show them"
            work.changes.note(f"submissions of '{competition.name}' {what}: {stay}")


def method_card_values(declared: MethodCardDeclaration) -> dict[str, Any]:
    """Return the value for `Competition.method_card`, which `app.cards.form.card_form` reads."""
    if declared == MethodCardDeclaration():
        return {}
    return declared.model_dump(mode="json")


def apply_images(work: Work, row: Competition, declared: CompetitionDeclaration, folder: Path) -> None:
    """Create missing images. Raises InvalidImage with the name of the file."""
    shown = {path: _shown(work, row, folder, path) for path in declared_images(declared)}
    if shown == row.images:
        return
    for path in shown.keys() - row.images.keys():
        work.changes.add(f"added the image '{path}' of '{declared.name}'")
    for path in row.images.keys() - shown.keys():
        work.changes.add(f"removed the image '{path}' of '{declared.name}'")
    for path in shown.keys() & row.images.keys():
        if shown[path] != row.images[path]:
            work.changes.add(f"replaced the image '{path}' of '{declared.name}'")
    row.images = shown
    work.session.execute(delete(ImageFile).where(ImageFile.competition_id == row.id))
    named = {one["sha256"] for one in shown.values()}
    work.session.add_all(ImageFile(competition_id=row.id, sha256=sha256) for sha256 in sorted(named))


def _shown(work: Work, row: Competition, folder: Path, path: str) -> dict[str, Any]:
    """Return the entry of an image in `Competition.images`."""
    source = keep(work, folder / path).sha256
    there: dict[str, Any] = row.images.get(path, {})
    if there.get("source") == source:
        return there
    try:
        made = make_image(folder / path)
    except InvalidImage as invalid:
        raise InvalidImage(f"The image {path} cannot be shown. {invalid.message}") from None
    sha256 = source
    if not work.is_plan:
        sha256 = store_upload([made.content], work.storage, limit_bytes=len(made.content)).sha256
    values = {"type": made.media_type, "width": made.width, "height": made.height}
    return {"source": source, "sha256": sha256, **values}


__all__ = ["Change", "ImpossibleChange", "apply_declaration", "apply_phases", "lock_declarations"]

#: Our key among PostgreSQL's advisory locks: the letters "appl".
LOCK_NUMBER = 0x6170706C


class ImpossibleChange(EvergoldError):
    """The declaration would make existing scores meaningless."""

    status = 409
    code = "impossible_change"


@dataclass(slots=True)
class Applied:
    """Rows of a competition by name, as declared.

    new: ids of phase tasks created now; stale: ids of those whose boards changed.
    """

    row: Competition
    tasks: dict[str, CompetitionTask] = field(default_factory=dict)
    phases: dict[str, Phase] = field(default_factory=dict)
    phase_tasks: dict[tuple[str, str], PhaseTask] = field(default_factory=dict)
    new: set[int] = field(default_factory=set)
    stale: set[int] = field(default_factory=set)


def apply_phases(
    session: Session,
    loaded: Sequence[LoadedCompetition],
    *,
    storage: Storage,
    now: datetime,
    by: User | str | None = None,
    on_edits: OnEdits = OnEdits.ASK,
    is_plan: bool = False,
    is_whole: bool = True,
    stage: Stage = Stage.PUBLISHED,
) -> list[Change]:
    """Apply the competitions and return the changes and notes; the caller commits, then sends the runs.

    - by: as for `app.people.audit.record`.
    - on_edits: what to do if a competition was edited on the server since.
    - is_plan: the caller rolls back, and no file is stored.
    - is_whole: these are all that are declared; otherwise others keep their position, and are not mentioned.
    - stage: of new competitions.

    Raises ImpossibleChange, StorageFull, OSError; the caller must roll back then as well.
    """
    lock_declarations(session)
    work = Work(session, storage, now, Changes(), by, is_plan, stage)
    for position, competition in enumerate(loaded):
        if not is_whole:
            position = _position(session, competition.declaration.name)
        with ExitStack() as stack:
            chosen = choose_declaration(work, competition, stack, on_edits)
            ends = phase_ends(session, competition.declaration.name)
            _apply_chosen(work, chosen, position)
            note_superseded(work, competition.declaration.name, ends)
    if is_whole:
        note_missing_competitions(work, {one.declaration.name for one in loaded})
    session.flush()
    return work.changes.made


def _apply_chosen(work: Work, chosen: ChosenDeclaration, position: int) -> None:
    """Apply a declaration; a merge adds two revisions: the file as it was read, and the result of the merge."""
    if chosen.loaded is None:
        return
    if chosen.read is not None:
        row = work.session.scalars(select(Competition).where(Competition.name == chosen.read.declaration.name)).one()
        keep_revision(work, row, chosen.read, source=RevisionSource.FILE, changes=[], note=_READ_NOTE)
    _apply_and_keep(work, chosen.loaded, position, chosen.source)


_READ_NOTE = "The file as read; the next revision, merged from this file and the edits on the server, replaces it."


def apply_declaration(
    work: Work, competition: Competition, loaded: LoadedCompetition, source: RevisionSource, note: str
) -> Revision | None:
    """Apply one competition under `lock_declarations`; return the new revision, or None if the meaning is unchanged.

    The changes are in `work.changes`. Raises the same errors as `apply_phases`.
    """
    return _apply_and_keep(work, loaded, competition.position, source, note)


def apply_new_declaration(work: Work, loaded: LoadedCompetition) -> Competition:
    """Create a competition, positioned after all others, under `lock_declarations`.

    Raises the same errors as `apply_phases`.
    """
    _apply_and_keep(work, loaded, _position(work.session, loaded.declaration.name), RevisionSource.EDIT)
    return work.session.scalars(select(Competition).where(Competition.name == loaded.declaration.name)).one()


def _position(session: Session, name: str) -> int:
    """Return the position of a competition; for a new one, the position after all others."""
    own = session.scalar(select(Competition.position).where(Competition.name == name))
    if own is not None:
        return own
    last = session.scalar(select(func.max(Competition.position)))
    return 0 if last is None else last + 1


def _apply_and_keep(
    work: Work,
    loaded: LoadedCompetition,
    position: int,
    source: RevisionSource | None,
    note: str = "",
) -> Revision | None:
    """Apply a declaration, add a revision and return it. source: None if the latest revision is applied again."""
    before = len(work.changes.made)
    row = _apply_competition(work, loaded, position)
    if source is None:
        return None
    changes = [str(change) for change in work.changes.made[before:] if change.counts]
    return keep_revision(work, row, loaded, source=source, changes=changes, note=note)


def lock_declarations(session: Session) -> None:
    """Serialise concurrent applying; SQLite serialises write transactions in any case."""
    if session.get_bind().dialect.name == "postgresql":
        session.execute(text("SELECT pg_advisory_xact_lock(:number)"), {"number": LOCK_NUMBER})


def _apply_competition(work: Work, loaded: LoadedCompetition, position: int) -> Competition:
    declared = loaded.declaration
    before = bound_programs(work.session, declared.name)
    applied = _competition(work, declared, position)
    _apply_tasks(work, loaded, applied)
    _apply_phases(work, declared, applied)
    note_gold_to_put_again(work, applied.row, applied.phase_tasks, before)
    apply_images(work, applied.row, declared, loaded.folder)
    for (phase, task), phase_task in applied.phase_tasks.items():
        quiet = replace(work, changes=Changes())  # a new row was already reported as a whole
        declaration = next(one for one in declared.phases if one.name == phase).tasks[task]
        what = _phase_task_words(declared.name, phase, task)
        here = DeclaredPhaseTask(phase_task, applied.tasks[task], declaration, loaded.folder, what)
        apply_public_files(quiet if phase_task.id in applied.new else work, here)
    applied.stale |= apply_boards(work, loaded, applied.tasks, applied.phases, applied.phase_tasks)
    handle_removed(work, applied.row, declared)
    for (phase, task), phase_task in applied.phase_tasks.items():
        declaration = next(one for one in declared.phases if one.name == phase).tasks[task]
        what = _phase_task_words(declared.name, phase, task)
        stored = partial(_stored, work, loaded.folder)
        apply_baselines(work, applied.row, phase_task, declaration.baselines, stored, what)
    work.session.flush()
    boards_changed(work.session, applied.stale - applied.new)
    renew_all(work.session, applied.stale | applied.new, only_outdated=True)
    return applied.row


def _stored(work: Work, folder: Path, file: str) -> StoredFile:
    return keep(work, folder / file)


def _phase_task_words(competition: str, phase: str, task: str) -> str:
    return f"'{task}' in phase '{phase}' of '{competition}'"


def _competition(work: Work, declared: CompetitionDeclaration, position: int) -> Applied:
    values = {**declared.model_dump(include=_COMPETITION_TEXTS), "position": position}
    values["tracks"] = [track.model_dump() for track in declared.tracks]
    values |= registration_values(declared)
    note_unknown_names(work, declared)
    values["method_card"] = method_card_values(declared.method_card)
    values["rankings"] = [one.model_dump(mode="json", exclude_defaults=True) for one in declared.rankings]
    values["citation"] = declared.citation.model_dump(mode="json", exclude_defaults=True)
    row = work.session.scalar(select(Competition).where(Competition.name == declared.name))
    if row is None:
        stage = Stage.DRAFT if declared.confirm_scores else work.stage
        row = Competition(name=declared.name, created_at=work.now, stage=stage, **values)
        work.session.add(row)
        work.session.flush()
        as_draft = ", as a draft" if stage is Stage.DRAFT else ""
        work.changes.add(f"added competition '{declared.name}'{as_draft}")
        return Applied(row)
    applied = Applied(row)
    if changed := work.changes.update(row, f"'{declared.name}'", values):
        if "tracks" in changed:
            note_other_tracks(work, row)
        everything = select(PhaseTask.id).join(Phase, Phase.id == PhaseTask.phase_id)
        applied.stale |= set(work.session.scalars(everything.where(Phase.competition_id == row.id)))
    return applied


_COMPETITION_TEXTS = {"title", "summary", "description", "website", "contact"}


# ------------------------------------------------------------------------------------------------------------- tasks


def _apply_tasks(work: Work, loaded: LoadedCompetition, applied: Applied) -> None:
    declared = loaded.declaration
    query = select(CompetitionTask).where(CompetitionTask.competition_id == applied.row.id)
    existing = {row.name: row for row in work.session.scalars(query)}
    for position, task in enumerate(declared.tasks):
        what = f"task '{task.name}' of '{declared.name}'"
        values = {
            "task_type": task.type,
            "title": task.title,
            "description": task.description,
            "options": task.options,
            "program_sha256": keep_program(work, loaded.folder / task.program).sha256 if task.program else None,
            "position": position,
        }
        row = existing.get(task.name)
        if row is None:
            row = CompetitionTask(competition_id=applied.row.id, name=task.name, **values)
            work.session.add(row)
            work.session.flush()
            work.changes.add(f"added {what}")
        else:
            _change_task(work, row, task, values, what, applied)
        applied.tasks[task.name] = row


def _change_task(
    work: Work, row: CompetitionTask, declared: TaskDeclaration, values: dict[str, Any], what: str, applied: Applied
) -> None:
    submissions = _count_submissions(work.session, PhaseTask.task_id == row.id)
    if submissions and row.task_type != declared.type:
        raise ImpossibleChange(
            f"The {what} has submissions ({submissions}) and is '{row.task_type}'; it cannot become '{declared.type}', "
            "because their scores would become meaningless. Give the new task another name."
        )
    changed = work.changes.update(row, what, values)
    if changed:
        applied.stale |= set(work.session.scalars(select(PhaseTask.id).where(PhaseTask.task_id == row.id)))
    if submissions and "program_sha256" in changed:
        work.changes.note(f"existing scores of {what} stay as they are until they are rescored with the new program")
    if submissions and "options" in changed:
        work.changes.note(f"existing scores of {what} stay as they are until they are rescored with the new options")


def _count_submissions(session: Session, where: ColumnElement[bool]) -> int:
    counted = select(func.count()).select_from(Submission).join(PhaseTask, PhaseTask.id == Submission.phase_task_id)
    return session.scalars(counted.where(where)).one()


# ------------------------------------------------------------------------------------------------------------ phases


def _apply_phases(work: Work, declared: CompetitionDeclaration, applied: Applied) -> None:
    query = select(Phase).where(Phase.competition_id == applied.row.id)
    existing = {row.name: row for row in work.session.scalars(query)}
    for position, phase in enumerate(declared.phases):
        what = f"phase '{phase.name}' of '{declared.name}'"
        values = phase_values(phase, position)
        row = existing.get(phase.name)
        if row is None:
            row = Phase(competition_id=applied.row.id, name=phase.name, **values)
            work.session.add(row)
            work.session.flush()
            work.changes.add(f"added {what}")
        elif work.changes.update(row, what, values):
            applied.stale |= set(work.session.scalars(select(PhaseTask.id).where(PhaseTask.phase_id == row.id)))
        applied.phases[phase.name] = row
        for task, declaration in phase.tasks.items():
            _apply_phase_task(work, applied, phase.name, task, declaration)


def phase_values(phase: PhaseDeclaration, position: int) -> dict[str, Any]:
    limits = phase.effective_limits
    return {
        "title": phase.title,
        "description": phase.description,
        "starts_at": phase.start,
        "ends_at": phase.end,
        "entry_rule": phase.entry,
        "choose_until": None if phase.choose_until == CLOSE else phase.choose_until,
        "without_choice": phase.without_choice,
        "ladder_step": phase.ladder_step,
        "visibility": phase.visibility.model_dump(mode="json", exclude_unset=True),
        "carry_over": phase.carry_over,
        "has_snapshot": phase.snapshot,
        "submissions_per_day": limits.per_day,
        "submissions_per_week": limits.per_week,
        "submissions_per_month": limits.per_month,
        "submissions_total": limits.total,
        "rejected_per_hour": limits.rejected_per_hour,
        "upload_limit_bytes": limits.upload_bytes,
        "position": position,
    }


def _apply_phase_task(work: Work, applied: Applied, phase: str, task: str, declared: PhaseTaskDeclaration) -> None:
    what = _phase_task_words(applied.row.name, phase, task)
    ids = {"phase_id": applied.phases[phase].id, "task_id": applied.tasks[task].id}
    row = work.session.scalar(select(PhaseTask).filter_by(**ids))
    values = phase_task_values(declared)
    if row is None:
        row = PhaseTask(**ids, gold=name_in_use(work.session, None, declared.gold), **values)
        work.session.add(row)
        work.session.flush()
        gold = f"gold {row.gold}" if row.gold else "no gold yet: submissions are refused until gold is uploaded"
        work.changes.add(f"added task {what}, {gold}")
        applied.new.add(row.id)
    else:
        _change_gold(work, row, name_in_use(work.session, row.id, declared.gold), what)
        changed = work.changes.update(row, what, values)
        if changed:
            applied.stale.add(row.id)
        if "gold_is_public" in changed:
            _tell_items(work, row, what)
        for column, words in (("options", "options"), ("private_part", "private part")):
            if column in changed and _count_submissions(work.session, PhaseTask.id == row.id):
                work.changes.note(
                    f"existing scores of {what} stay as they are until they are rescored with the new {words}"
                )
    applied.phase_tasks[phase, task] = row


def _tell_items(work: Work, row: PhaseTask, what: str) -> None:
    """Delete item results if the gold is no longer public; note that newly public gold applies to future runs only."""
    work.session.flush()  # first the declaration, whose row lock makes ending runs wait; then their results
    if not row.gold_is_public and (runs := forget_results(work.session, row.id)):
        work.changes.add(f"deleted the item results of {runs} run{'' if runs == 1 else 's'} of {what}")
    elif row.gold_is_public and _count_submissions(work.session, PhaseTask.id == row.id):
        work.changes.note(f"submissions to {what} that were scored already show their items once they are rescored")


def phase_task_values(declared: PhaseTaskDeclaration) -> dict[str, Any]:
    """Return the columns of a phase task except for the gold, with only the declared deviations from the phase."""
    own = declared.model_dump(mode="json", exclude_unset=True, include=_OF_ENTRY | {"limits", "visibility"})
    return {
        "options": declared.options,
        "gold_version": declared.gold_version,
        "gold_is_public": declared.gold_is_public,
        "private_part": declared.private_part.model_dump(mode="json") if declared.private_part else {},
        "entry": {name: own[name] for name in sorted(_OF_ENTRY & own.keys())},
        "limits": own.get("limits", {}),
        "visibility": own.get("visibility", {}),
    }


_OF_ENTRY = {"entry", "choose_until", "without_choice", "ladder_step"}


def _change_gold(work: Work, row: PhaseTask, gold: str | None, what: str) -> None:
    if row.gold == gold:
        return
    before, row.gold = row.gold, gold
    if gold is None:
        work.changes.add(f"removed the gold of {what}: submissions are refused")
    elif before is None:
        work.changes.add(f"gold of {what} is now {gold}: submissions are accepted while the phase is open")
    else:
        has_scores = _count_submissions(work.session, PhaseTask.id == row.id) > 0
        stay = "; existing scores stay as they are until they are rescored" if has_scores else ""
        work.changes.add(f"gold of {what} is now {gold}, no longer {before}{stay}")
