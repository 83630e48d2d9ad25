"""The check of a gold version before its first use: records the worker's result, and starts what waited for it.

Nothing here opens gold. Two workers may check the same version; only the first result counts.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import or_, select, update
from sqlalchemy.orm import Session, joinedload

from app.base.errors import NotFound
from app.gold.versions import list_gold, newest_in_use, place_of, publish_gold
from app.models import GoldCheck, GoldVersion, Phase, PhaseTask, User
from app.people import audit
from app.webhooks.events import note_gold_checked
from evergold.scoring.errors import Problem

#: Number of problems shown with lines: enough to fix a file, too few to infer gold from its errors.
PROBLEMS_SHOWN = 20
#: A version without a result is announced again after this time.
RESEND = timedelta(seconds=120)
_WAITS = GoldVersion.check_state == GoldCheck.WAITING


def begin_check(session: Session, version_id: int, *, attempts: int, now: datetime) -> GoldVersion | None:
    """Count an attempt and return the version; None if it is already checked or had too many attempts."""
    begun = (
        update(GoldVersion)
        .where(GoldVersion.id == version_id, _WAITS)
        .values(check_attempts=GoldVersion.check_attempts + 1, check_sent_at=now)
        .returning(GoldVersion.check_attempts)
    )
    counted = session.scalar(begun)
    if counted is not None and counted > attempts:
        _give_up(session, version_id, f"its worker was lost {attempts} times", now)
        return None
    return None if counted is None else _get(session, version_id)


def record_valid_gold(
    session: Session, version_id: int, now: datetime, *, description: str | None = None
) -> PhaseTask | None:
    """Record that the version is readable and matches; publish it if it waits for that, and then return its phase task.

    Returns None if the version is not in use: a newer one published in the meantime stays in use. description: see
    `workers.describing`.
    """
    version = _get(session, version_id)
    phase_task = version.phase_task
    list_gold(session, phase_task, lock=True)
    if not _end(session, version_id, now, GoldCheck.VALID, ([], 0, description)):
        return None
    session.refresh(version, ["check_state", "publish_when_valid"])
    if not version.publish_when_valid or newest_in_use(session, phase_task) > version.number:
        return None
    in_use = publish_gold(session, phase_task, version.number, user=version.created_by, now=now)
    return phase_task if in_use else None


def record_invalid_gold(
    session: Session,
    version_id: int,
    problems: Sequence[Problem],
    omitted: int,
    now: datetime,
    *,
    explanation: str | None = None,
) -> bool:
    """Record that the check found this version unusable; return False if it already had a result.

    problems: free of gold, see `workers.faults`; explanation: with values, sealed, see `workers.explaining`; or a
    description, see `workers.describing`.
    """
    shown = [problem.as_dict() for problem in problems[:PROBLEMS_SHOWN]]
    more = omitted + max(0, len(problems) - PROBLEMS_SHOWN)
    return _end(session, version_id, now, GoldCheck.INVALID, (shown, more, explanation))


def note_failed_check(session: Session, version_id: int, failure: str, *, attempts: int, now: datetime) -> None:
    """Record a failure of the server, shown to organisers; after the last attempt the version counts as unusable."""
    session.execute(update(GoldVersion).where(GoldVersion.id == version_id, _WAITS).values(check_failure=failure))
    if _get(session, version_id).check_attempts >= attempts:
        _give_up(session, version_id, failure, now)


def leave_check_to_others(session: Session, version_id: int, reason: str) -> None:
    """Leave the check to workers that have what this one lacks, such as the key; no attempt is counted."""
    values = {"check_failure": reason, "check_attempts": GoldVersion.check_attempts - 1}
    session.execute(update(GoldVersion).where(GoldVersion.id == version_id, _WAITS).values(values))


def _give_up(session: Session, version_id: int, failure: str, now: datetime) -> None:
    record_invalid_gold(session, version_id, [Problem("not-checked", f"no worker could check it: {failure}")], 0, now)


def ask_for_check(
    session: Session, phase_task: PhaseTask, number: int, user: User | None, now: datetime
) -> GoldVersion:
    """Request a (new) check of a version, which stays in use; return the version.

    The caller commits, then notifies the workers. Raises NotFound.
    """
    version = next((one for one in list_gold(session, phase_task, lock=True) if one.number == number), None)
    if version is None:
        raise NotFound(f"There is no gold version {number} of {place_of(phase_task)}.")
    version.check_state, version.check_sent_at, version.check_attempts, version.check_failure = (
        GoldCheck.WAITING,
        now,
        0,
        None,
    )
    session.flush()
    audit.record(session, user, "gold.check", f"gold {place_of(phase_task)}", {"version": number}, now=now)
    return version


def unanswered_checks(session: Session, now: datetime) -> list[int]:
    """Return the versions to announce to workers again, marked as announced."""
    late = or_(GoldVersion.check_sent_at.is_(None), GoldVersion.check_sent_at <= now - RESEND)
    resent = update(GoldVersion).where(_WAITS, late).values(check_sent_at=now).returning(GoldVersion.id)
    return list(session.scalars(resent))


def _end(
    session: Session,
    version_id: int,
    now: datetime,
    state: GoldCheck,
    result: tuple[list[dict[str, Any]], int, str | None],
) -> bool:
    """Record the result unless there is one already; return whether it was recorded.

    result: problems, the number of others, and the sealed explanation.
    """
    values = {"check_state": state, "checked_at": now, "check_failure": None}
    found = dict(zip(("problems", "problems_omitted", "explanation"), result, strict=True))
    ended = update(GoldVersion).where(GoldVersion.id == version_id, _WAITS).values(values | found)
    if session.scalar(ended.returning(GoldVersion.id)) is None:
        return False
    note_gold_checked(session, version_id, now)
    return True


def _get(session: Session, version_id: int) -> GoldVersion:
    to_phase_task = joinedload(GoldVersion.phase_task)
    query = (
        select(GoldVersion)
        .where(GoldVersion.id == version_id)
        .options(
            joinedload(GoldVersion.created_by),
            to_phase_task.joinedload(PhaseTask.phase).joinedload(Phase.competition),
            to_phase_task.joinedload(PhaseTask.task),
        )
        .execution_options(populate_existing=True)
    )
    return session.scalars(query).one()
