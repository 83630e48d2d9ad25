"""Validations: files that are only checked, without team, quota or score. Results are deleted after a day.

A validation is visible only to its owner, not to organisers. `app.runs.validations` has its lifecycle on workers.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID, uuid4

from sqlalchemy import delete, func, select
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session, joinedload

from app.base.errors import IdempotencyConflict, LimitReached, NotFound
from app.base.storage import CHECKS, Storage, StoredFile, check_name
from app.base.text import readable_size
from app.competitions.access import check_takes_uploads
from app.competitions.limits import check_gold_present, check_open_for
from app.models import CHECKED, Phase, PhaseTask, User, Validation
from app.submissions.accept import Sender, base_name, check_key
from app.teams.find import find_team
from app.teams.registration import check_registered

#: Time for which a result can be read; then everything about it is deleted.
KEPT = timedelta(days=1)
#: Older files cannot belong to a check that is still being accepted.
UNCOMMITTED = timedelta(hours=1)
#: Maximum number of pending or running checks per user.
AT_ONCE = 3
#: Recommended wait before retrying at that limit.
ASK_AGAIN_SECONDS = 10


@dataclass(frozen=True, slots=True)
class FileToCheck:
    """A stored file. filename: as its sender named it. validation_id: under which it is stored; None: a new one."""

    stored: StoredFile
    filename: str = ""
    validation_id: UUID | None = None


@dataclass(frozen=True, slots=True)
class AcceptedValidation:
    """The result of accepting a validation. created: False if an Idempotency-Key returned an earlier one."""

    validation: Validation
    created: bool


def check_may_validate(session: Session, user: User, phase_task: PhaseTask, now: datetime) -> None:
    """Raise every error of an upload except reached quotas: only users who may submit here may validate."""
    check_takes_uploads(phase_task.phase.competition)
    check_registered(session, phase_task.phase.competition, user)
    check_gold_present(phase_task)
    check_open_for(session, find_team(session, user, phase_task.phase.competition_id), phase_task.phase, now)


def accept_validation(
    session: Session, phase_task: PhaseTask, sender: Sender, file: FileToCheck, *, bytes_per_day: int = 0
) -> AcceptedValidation:
    """Create the queued validation; the caller commits, then sends it to the workers.

    phase_task: from `find_phase_task`. bytes_per_day: see `check_bytes_today`.
    """
    user, now, idempotency_key = sender.user, sender.arrived_at, sender.idempotency_key or None
    check_key(idempotency_key)
    session.execute(select(User.id).where(User.id == user.id).with_for_update())  # serialises counting per user
    if idempotency_key and (earlier := find_validation_replay(session, user, idempotency_key, now)):
        return _replayed(earlier, phase_task, file.stored)
    check_may_validate(session, user, phase_task, now)
    _check_at_once(session, user, now)
    check_bytes_today(session, user, bytes_per_day, now, more=file.stored.size_bytes)
    validation = Validation(
        id=file.validation_id or uuid4(),
        user_id=user.id,
        phase_task_id=phase_task.id,
        sha256=file.stored.sha256,
        size_bytes=file.stored.size_bytes,
        filename=base_name(file.filename),
        idempotency_key=idempotency_key,
        asked_at=now,
    )
    try:
        with session.begin_nested():
            session.add(validation)
    except IntegrityError:  # an old one with this key, not deleted by the sweep yet
        raise IdempotencyConflict("This Idempotency-Key was already used; use a new key for a new check.") from None
    return AcceptedValidation(validation, created=True)


def find_validation_replay(session: Session, user: User, idempotency_key: str, now: datetime) -> Validation | None:
    """Return this user's earlier validation with this key; None if there is none."""
    mine = select(Validation).where(Validation.user_id == user.id, Validation.idempotency_key == idempotency_key)
    return session.scalar(mine.where(Validation.asked_at > now - KEPT))


def get_validation(session: Session, validation_id: UUID, user: User | None, now: datetime) -> Validation:
    """Return a validation with its task and phase. Raises NotFound for everybody but its owner, and after a day."""
    above = joinedload(Validation.phase_task)
    found = session.scalar(
        select(Validation)
        .where(Validation.id == validation_id, Validation.asked_at > now - KEPT)
        .options(above.joinedload(PhaseTask.phase).joinedload(Phase.competition), above.joinedload(PhaseTask.task))
    )
    if found is None or user is None or found.user_id != user.id:
        raise NotFound("Check not found: it is older than a day, or not yours.")
    return found


def forget_validations(session: Session, now: datetime) -> int:
    """Delete expired validations; return their number."""
    over = Validation.asked_at <= now - KEPT
    return len(session.scalars(delete(Validation).where(over).returning(Validation.id)).all())


def check_bytes_today(session: Session, user: User, limit_bytes: int, now: datetime, *, more: int = 0) -> None:
    """Raise LimitReached if this user's files of the last 24 hours plus `more` bytes exceed the limit (0: no limit).

    Reliable only under the user's lock.
    """
    mine = (Validation.user_id == user.id, Validation.asked_at > now - KEPT)
    used, first = session.execute(
        select(func.sum(Validation.size_bytes), func.min(Validation.asked_at)).where(*mine)
    ).one()
    if limit_bytes and (used or 0) + max(more, 1) > limit_bytes:
        raise LimitReached(
            f"Within one day this server checks {readable_size(limit_bytes)} of files for each person, and you "
            f"have sent {readable_size(used or 0)}; `evergold validate` checks any number locally.",
            limit=limit_bytes,
            used=used or 0,
            per="day",
            retry_at=((first or now) + KEPT).isoformat(),
        )


def clear_check_files(session: Session, storage: Storage, now: datetime) -> int:
    """Delete the files of finished checks and files that belong to no check; return their number."""
    files = {validation_id: kept for kept in storage.listed(f"{CHECKS}/") if (validation_id := _id_of(kept.name))}
    waiting = select(Validation.id).where(Validation.id.in_(files))
    ended = set(session.scalars(waiting.where(Validation.status.in_(CHECKED))))
    needed = set(session.scalars(waiting)) - ended
    removed = 0
    for validation_id, kept in files.items():
        is_old = kept.kept_at < (now - UNCOMMITTED).timestamp()
        if validation_id in ended or (validation_id not in needed and is_old):
            storage.remove(kept.name)
            removed += 1
    return removed


def _id_of(name: str) -> UUID | None:
    try:
        validation_id = UUID(name.removeprefix(f"{CHECKS}/"))
    except ValueError:
        return None
    return validation_id if check_name(validation_id) == name else None


def _check_at_once(session: Session, user: User, now: datetime) -> None:
    """Raise LimitReached at the limit of concurrent checks; reliable only under the user's lock."""
    waiting = select(func.count()).where(Validation.user_id == user.id, Validation.status.not_in(CHECKED))
    count = session.scalars(waiting).one()
    if count >= AT_ONCE:
        raise LimitReached(
            f"You already have {count} checks running; wait for one to finish.",
            limit=AT_ONCE,
            used=count,
            per="moment",
            retry_at=(now + timedelta(seconds=ASK_AGAIN_SECONDS)).isoformat(),
        )


def _replayed(earlier: Validation, phase_task: PhaseTask, upload: StoredFile) -> AcceptedValidation:
    if (earlier.phase_task_id, earlier.sha256) != (phase_task.id, upload.sha256):
        raise IdempotencyConflict(
            "This Idempotency-Key was already used for another file; use a new one for a new check.",
            validation=str(earlier.id),
        )
    return AcceptedValidation(earlier, created=False)
