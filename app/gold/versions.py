"""Gold versions: sealed to the workers' public keys, numbered, committed to, published. Nothing here opens them.

A version never changes. Runs use the latest published version of their task and phase or, if there is none, the plain
gold named in phases.yaml (see `app.runs.claims.claim_run`). Only workers open gold.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime

from sqlalchemy import Engine, bindparam, select
from sqlalchemy.orm import Session, joinedload

from app.base.db import writing
from app.base.errors import EvergoldError, NotFound
from app.base.storage import Storage, local_file
from app.competitions.changed import boards_changed
from app.competitions.find import find_competition, find_phase_task
from app.competitions.organisers import OrganiserLimits, check_owner_bytes_left
from app.gold.binding import LINE_BYTES, Binding, GoldPlace, options_digest, program_digest, read_binding
from app.gold.recorded import record_sealed
from app.gold.sealing import Sealed, forget_sealed
from app.models import (
    AuditEntry,
    Competition,
    CompetitionTask,
    GoldCheck,
    GoldVersion,
    Phase,
    PhaseTask,
    Right,
    SealedFile,
    User,
)
from app.people import audit
from app.people.rights import check_may_organise
from evergold.scoring.characters import printable_name

#: Name of a phase task's gold if phases.yaml names no plain file.
SEALED_NAME = "sealed"
FILENAME_CHARACTERS = 200
#: Limit for uploads through the web; the command line has none.
UPLOAD_LIMIT_BYTES = 1024 * 1024 * 1024


class VersionTaken(EvergoldError):
    """Another version was recorded after sealing, so the number that this version is bound to is taken."""

    status = 409
    code = "version_taken"


class NewerGoldPublished(EvergoldError):
    status = 409
    code = "newer_gold_published"


class GoldUnusable(EvergoldError):
    """A worker found that no run can be scored with this version."""

    status = 409
    code = "gold_unusable"


#: The key in the audit entry of a version for the digest of the program that may open it; see `program_digest`.
_PROGRAM = "program"

# ---------------------------------------------------------------------------------------------------------- versions


def bind_gold(session: Session, phase_tasks: Sequence[PhaseTask], *, is_public: bool) -> Binding:
    """Return the binding for gold sealed now for these phase tasks, which share one task.

    phase_tasks: from `find_phase_task`.
    """
    first = phase_tasks[0]
    versions = {one.phase.name: _next_number(list_gold(session, one)) for one in phase_tasks}
    options = {one.phase.name: options_digest(one.options_of(one.task)) for one in phase_tasks}
    type_ = first.task.task_type
    digests = {one.phase.name: program_digest(type_, one.options_of(one.task)) for one in phase_tasks}
    programs = {phase: digest for phase, digest in digests.items() if digest}
    return Binding(first.phase.competition.name, first.task.name, type_, versions, options, is_public, programs)


def put_gold(
    session: Session,
    phase_tasks: Sequence[PhaseTask],
    sealed: Sealed,
    *,
    filename: str,
    publish: bool | None = None,
    user: User | None,
    now: datetime,
) -> list[GoldVersion]:
    """Record a version for each of these phase tasks (from `find_phase_task`), all with this sealed file.

    publish: use it for new runs once it passes the check; None: only if no version is in use yet.
    user: None for the command line. The caller commits, then notifies workers (`send_gold_check`). Raises VersionTaken,
    KeysChanged.
    """
    file_id = record_sealed(session, sealed, now)
    versions = []
    for phase_task in phase_tasks:
        before = list_gold(session, phase_task, lock=True)
        number = _next_number(before)
        if sealed.binding is None or not sealed.binding.covers(gold_place(phase_task, number)):
            raise VersionTaken(
                "Another version of this gold was uploaded at the same moment. Please upload yours again."
            )
        version = GoldVersion(
            phase_task_id=phase_task.id,
            number=number,
            commitment=sealed.commitment,
            filename=_shown_name(filename),
            content_bytes=sealed.content_bytes,
            sealed_file_id=file_id,
            created_by_id=user.id if user else None,
            created_at=now,
            is_public=sealed.binding.is_public,
            publish_when_valid=publish if publish is not None else not _any_in_use(before),
            check_sent_at=now,
        )
        session.add(version)
        session.flush()
        opened_by = sealed.binding.programs.get(phase_task.phase.name)
        more = {_PROGRAM: opened_by} if opened_by else {}
        _audit(session, user, "gold.put", phase_task, version, now, more)
        versions.append(version)
    return versions


def keep_gold(
    engine: Engine,
    storage: Storage,
    sealed: Sealed,
    *,
    filename: str,
    publish: bool | None = None,
    user: User | None,
    now: datetime,
    limits: OrganiserLimits | None = None,
) -> list[GoldVersion]:
    """Record the sealed file as a version for every phase that it is bound to, see `put_gold`; delete it on any error.

    user: must organise the competition; None: the command line, which has no limits.
    """
    try:
        with writing(engine) as session:
            phase_tasks = _bound_to(session, sealed)
            for phase_task in phase_tasks if user else []:
                check_may_organise(session, user, phase_task.phase.competition, Right.GOLD)
            if limits is not None and phase_tasks:  # all of one competition
                more = sealed.content_bytes * len(phase_tasks)
                check_owner_bytes_left(session, phase_tasks[0].phase.competition, more, limits)
            return put_gold(session, phase_tasks, sealed, filename=filename, publish=publish, user=user, now=now)
    except BaseException:
        forget_sealed(sealed, storage)
        raise


def _bound_to(session: Session, sealed: Sealed) -> list[PhaseTask]:
    """Return the phase tasks of the binding; phases that were named in advance may not exist yet."""
    bound = sealed.binding
    if bound is None:
        return []
    there = {phase.name for phase in find_competition(session, bound.competition).phases}
    return [find_phase_task(session, bound.competition, name, bound.task) for name in bound.versions if name in there]


def use_gold_put_ahead(
    session: Session, storage: Storage, phase_task: PhaseTask, *, user: User, now: datetime
) -> GoldVersion | None:
    """Record gold of another phase as the first version of a new one, if it was sealed for that phase as well.

    phase_task: from `find_phase_task`. The caller commits, then notifies workers (`send_gold_check`).
    """
    if list_gold(session, phase_task):
        return None
    phases = find_competition(session, phase_task.phase.competition.name).phases
    place = gold_place(phase_task, 1)
    for other in phases_with_same_task(phase_task, phases):
        for version in list_gold(session, other)[-1:]:
            sealed = session.get_one(SealedFile, version.sealed_file_id)
            with local_file(storage, sealed.sha256).open("rb") as file:
                bound = read_binding(file.readline(LINE_BYTES))
            if bound is None or not bound.covers(place):
                continue
            new = GoldVersion(
                phase_task_id=phase_task.id,
                number=1,
                commitment=version.commitment,
                filename=version.filename,
                content_bytes=version.content_bytes,
                sealed_file_id=version.sealed_file_id,
                created_by_id=user.id,
                created_at=now,
                is_public=bound.is_public,
                publish_when_valid=True,
                check_sent_at=now,
            )
            session.add(new)
            session.flush()
            _audit(session, user, "gold.put", phase_task, new, now, {})
            return new
    return None


def gold_place(phase_task: PhaseTask, number: int) -> GoldPlace:
    """Return the place to which gold of this version is bound."""
    phase, task = phase_task.phase, phase_task.task
    options = phase_task.options_of(task)
    digests = options_digest(options), program_digest(task.task_type, options)
    return GoldPlace(phase.competition.name, phase.name, task.name, task.task_type, number, *digests)


def _any_in_use(versions: Sequence[GoldVersion]) -> bool:
    return any(one.published_at is not None for one in versions)


def _next_number(versions: Sequence[GoldVersion]) -> int:
    return max((one.number for one in versions), default=0) + 1


def publish_gold(session: Session, phase_task: PhaseTask, number: int, *, user: User | None, now: datetime) -> bool:
    """Use this version for new runs and show its commitment; return False if it is already in use or waits for its
    check.

    Raises NotFound, GoldUnusable, or NewerGoldPublished: to use an older version again, upload it again.
    """
    versions = list_gold(session, phase_task, lock=True)
    version = next((one for one in versions if one.number == number), None)
    if version is None:
        raise NotFound(f"There is no gold version {number} of {place_of(phase_task)}.")
    if version.published_at is not None:
        return False
    newest = max((one.number for one in versions if one.published_at is not None), default=0)
    if newest > number:
        raise NewerGoldPublished(f"Version {newest} is in use already; to go back, upload the older gold again.")
    if version.check_state == GoldCheck.INVALID:
        raise GoldUnusable(f"Version {number} cannot be used: {problem_words(version)}. Upload a corrected one.")
    if version.check_state == GoldCheck.WAITING:
        version.publish_when_valid = True
        return False
    version.published_at, version.publish_when_valid = now, False
    if phase_task.gold is None:
        phase_task.gold = SEALED_NAME
    session.flush()
    boards_changed(session, [phase_task.id])
    _audit(session, user, "gold.publish", phase_task, version, now)
    return True


def list_gold(session: Session, phase_task: PhaseTask, *, lock: bool = False) -> list[GoldVersion]:
    """List all versions, oldest first. lock: block adding and publishing versions until the transaction ends."""
    if lock:
        session.execute(select(PhaseTask.id).where(PhaseTask.id == phase_task.id).with_for_update())
    query = (
        select(GoldVersion)
        .where(GoldVersion.phase_task_id == phase_task.id)
        .options(joinedload(GoldVersion.created_by))
        .order_by(GoldVersion.number)
    )
    return list(session.scalars(query))


def published_gold(session: Session, phase_id: int, task_id: int) -> list[GoldVersion]:
    """List the versions that are or were in use, oldest first; boards may name these."""
    return list(session.scalars(_PUBLISHED, {"phase": phase_id, "task": task_id}))


#: Built once, since every board needs it.
_PUBLISHED = (
    select(GoldVersion)
    .join(PhaseTask, PhaseTask.id == GoldVersion.phase_task_id)
    .where(
        PhaseTask.phase_id == bindparam("phase"),
        PhaseTask.task_id == bindparam("task"),
        GoldVersion.published_at.is_not(None),
    )
    .order_by(GoldVersion.number)
)


def newest_in_use(session: Session, phase_task: PhaseTask) -> int:
    """Return the number of the latest version in use; 0 if there is none."""
    return max((one.number for one in published_gold(session, phase_task.phase_id, phase_task.task_id)), default=0)


def places_with_gold(session: Session) -> set[tuple[str, str, str]]:
    """Return (competition, phase, task) for all sealed gold in use."""
    query = (
        select(Competition.name, Phase.name, CompetitionTask.name)
        .join(Phase, Phase.competition_id == Competition.id)
        .join(PhaseTask, PhaseTask.phase_id == Phase.id)
        .join(CompetitionTask, CompetitionTask.id == PhaseTask.task_id)
        .join(GoldVersion, GoldVersion.phase_task_id == PhaseTask.id)
        .where(GoldVersion.published_at.is_not(None))
    )
    return {(competition, phase, task) for competition, phase, task in session.execute(query.distinct())}


def gold_identity(session: Session, phase_task: PhaseTask) -> str | None:
    """Return a key that is equal for phase tasks with the same gold: the commitment, or the name of plain gold. None
    without gold.
    """
    published = published_gold(session, phase_task.phase_id, phase_task.task_id)
    return published[-1].commitment if published else phase_task.gold


def name_in_use(session: Session, phase_task_id: int | None, declared: str | None) -> str | None:
    """Return the name of a phase task's gold; None if there is no gold yet. declared: the name in phases.yaml."""
    if declared not in (None, SEALED_NAME):
        return declared
    query = select(GoldVersion.id).where(
        GoldVersion.phase_task_id == phase_task_id, GoldVersion.published_at.is_not(None)
    )
    return SEALED_NAME if session.scalar(query.limit(1)) is not None else None


def phases_with_same_task(phase_task: PhaseTask, phases: Sequence[Phase]) -> list[PhaseTask]:
    """List the phase tasks of the same task in other phases. phases: from `find_competition`."""
    phase_tasks = [one for phase in phases for one in phase.phase_tasks]
    return [one for one in phase_tasks if one.task_id == phase_task.task_id and one.id != phase_task.id]


def problem_words(version: GoldVersion) -> str:
    """Return a sentence with the first problem and the number of others."""
    first = str(version.problems[0]["sentence"]) if version.problems else "it cannot be read"
    others = len(version.problems) - 1 + version.problems_omitted
    return f"{first} (and {others} more)" if others > 0 else first


def place_of(phase_task: PhaseTask) -> str:
    """Return COMPETITION/PHASE/TASK, as on the command line."""
    phase = phase_task.phase
    return f"{phase.competition.name}/{phase.name}/{phase_task.task.name}"


def _shown_name(filename: str) -> str:
    last = filename.replace("\\", "/").rstrip("/").rsplit("/", 1)[-1]
    return printable_name(last)[:FILENAME_CHARACTERS]


def is_for_another_program(session: Session, phase_task: PhaseTask, versions: Sequence[GoldVersion]) -> bool:
    """Return whether the gold in use was sealed for another program, command or environment than the task has now.

    versions: all of the phase task. False if no program opens gold, no gold is in use, or its program is unknown.
    """
    used = max((one for one in versions if one.published_at is not None), key=lambda one: one.number, default=None)
    now_opened_by = program_digest(phase_task.task.task_type, phase_task.options_of(phase_task.task))
    if used is None or not now_opened_by:
        return False
    put = select(AuditEntry.details).where(AuditEntry.subject == _subject(phase_task), AuditEntry.action == "gold.put")
    sealed_for = [
        details[_PROGRAM]
        for details in session.scalars(put)
        if details.get("commitment") == used.commitment and _PROGRAM in details
    ]
    return bool(sealed_for) and now_opened_by not in sealed_for


def _subject(phase_task: PhaseTask) -> str:
    return f"gold {place_of(phase_task)}"


def _audit(
    session: Session,
    user: User | None,
    action: str,
    phase_task: PhaseTask,
    version: GoldVersion,
    now: datetime,
    more: Mapping[str, str] | None = None,
) -> None:
    details = {"version": version.number, "commitment": version.commitment, **(more or {})}
    audit.record(session, user, action, _subject(phase_task), details, now=now)
