"""Scheduling of boards' statistics: which are due, which worker computes them, and their storage.

The boards of a task in a phase are computed together once they have not changed for a while, or have waited long
enough. Storing statistics increases the boards' version like every visible change, and they belong to the new version.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import and_, delete, exists, or_, select, update
from sqlalchemy.orm import Session, aliased

from app.boards.power import lacks_power
from app.competitions.changed import boards_changed
from app.models import BoardStatistics, Phase, PhaseTask, ScoringRun, Standing, StatisticsWork, Submission

#: A board is computed after it has been unchanged for the first time, or after the second if it keeps changing.
QUIET = timedelta(seconds=5)
LONGEST_WAIT = timedelta(minutes=5)
#: Workers are notified again after this time, or when a worker that had begun stopped renewing its lease.
RESEND = timedelta(minutes=10)
LEASE = timedelta(minutes=2)
#: Maximum time that official results wait for statistics of the boards to freeze.
PATIENCE = timedelta(minutes=20)
#: Number of latest submissions, besides entries, that are searched for outcomes to compute with.
NEWEST_LOOKED_AT = 500


def statistics_due(session: Session, now: datetime, *, attempts: int, quiet: timedelta = QUIET) -> list[int]:
    """Return the phase tasks to announce to workers now; record the versions seen, and the announcement.

    quiet: how long a board must not have changed; zero if no more changes are expected.
    """
    works = {work.phase_task_id: work for work in session.scalars(select(StatisticsWork))}
    due = []
    for phase_task_id, versions in _versions(session).items():
        work = works.get(phase_task_id)
        if work is not None and work.computed_for == versions:
            work.waiting_since = None
            continue
        if work is None:
            work = StatisticsWork(phase_task_id=phase_task_id, seen="", seen_at=now, attempts=0)
            session.add(work)
        _see(session, work, versions, now)
        if work.computed_for != versions and _is_due(work, now, attempts, quiet):
            work.sent_at, work.lease_expires_at = now, None
            due.append(phase_task_id)
    return due


def versions_of(session: Session, phase_task_id: int) -> str | None:
    """Return the versions that statistics computed now would belong to; None if there is no such task."""
    return _versions(session, phase_task_id).get(phase_task_id)


def is_settled(session: Session, phase_task_id: int, now: datetime) -> bool:
    """Return True if the statistics are current, or were waited for long enough."""
    work = session.get(StatisticsWork, phase_task_id)
    if work is None or work.computed_for == versions_of(session, phase_task_id):
        return True
    return work.seen_at <= now - PATIENCE


def begin_statistics(session: Session, phase_task_id: int, now: datetime, *, attempts: int) -> str | None:
    """Return the versions to compute; None if another worker computes them, they exist, or they failed too often."""
    work = session.scalar(select(StatisticsWork).where(StatisticsWork.phase_task_id == phase_task_id).with_for_update())
    versions = versions_of(session, phase_task_id)
    if work is None or versions is None or versions == work.computed_for or work.attempts >= attempts:
        return None
    if work.lease_expires_at is not None and work.lease_expires_at > now:
        return None
    work.lease_expires_at, work.attempts = now + LEASE, work.attempts + 1
    return versions


def renew_statistics(session: Session, phase_task_id: int, now: datetime) -> bool:
    """Renew the lease of the computing worker; return False if it no longer holds one."""
    renewed = (
        update(StatisticsWork)
        .where(StatisticsWork.phase_task_id == phase_task_id, StatisticsWork.lease_expires_at.is_not(None))
        .values(lease_expires_at=now + LEASE)
        .returning(StatisticsWork.phase_task_id)
    )
    return session.scalar(renewed) is not None


def interrupt_statistics(session: Session, phase_task_id: int) -> None:
    """Release the lease of a stopped worker without counting an attempt; the next sweep notifies another worker."""
    session.execute(
        update(StatisticsWork)
        .where(StatisticsWork.phase_task_id == phase_task_id)
        .values(lease_expires_at=None, sent_at=None, attempts=StatisticsWork.attempts - 1)
    )


def leave_statistics(session: Session, phase_task_id: int, reason: str, *, to_others: bool = False) -> None:
    """Release the lease without results, after a fault.

    to_others: do not count the attempt, because this worker lacks something that another one may have.
    """
    session.execute(
        update(StatisticsWork)
        .where(StatisticsWork.phase_task_id == phase_task_id)
        .values(
            failure=reason,
            lease_expires_at=None,
            sent_at=StatisticsWork.sent_at if to_others else None,
            attempts=StatisticsWork.attempts - (1 if to_others else 0),
        )
    )


def record_statistics(
    session: Session, phase_task_id: int, versions: str, documents: Mapping[int, Any], *, is_all: bool = True
) -> bool:
    """Store the statistics computed for these versions, by board; return True if they differ from the previous ones.

    is_all: False if statistics of single runs are missing, which a worker computes when notified again. The statistics
    belong to the version that this change creates. If another change came in between, they are recomputed, but only for
    what it changed.
    """
    # First, as in every change of boards; without a change no lock is needed.
    kept = _documents(session, phase_task_id)
    is_new = kept != dict(documents)
    if is_new:
        boards_changed(session, [phase_task_id])
        session.execute(delete(BoardStatistics).where(BoardStatistics.phase_task_id == phase_task_id))
        session.add_all(
            BoardStatistics(phase_task_id=phase_task_id, board_id=board_id, document=document)
            for board_id, document in documents.items()
        )
    session.execute(
        update(StatisticsWork)
        .where(StatisticsWork.phase_task_id == phase_task_id)
        .values(
            computed_for=None if not is_all else _after(versions) if is_new else versions,
            lease_expires_at=None,
            failure=None,
            waiting_since=None,
            attempts=0,
            sent_at=StatisticsWork.sent_at if is_all else None,
        )
    )
    return is_new


def forget_statistics(session: Session, board_id: int) -> None:
    """Delete the statistics of a board that no longer exists."""
    session.execute(delete(BoardStatistics).where(BoardStatistics.board_id == board_id))


def _documents(session: Session, phase_task_id: int) -> dict[int, Any]:
    here = select(BoardStatistics.board_id, BoardStatistics.document)
    return {
        board: document
        for board, document in session.execute(here.where(BoardStatistics.phase_task_id == phase_task_id))
    }


def _after(versions: str) -> str:
    """Return the board versions after one change; concurrent changes increase them further."""
    own, *carried = versions.split("-")
    return "-".join([str(int(own) + 1), *carried])


def _see(session: Session, work: StatisticsWork, versions: str, now: datetime) -> None:
    if work.seen != versions:
        work.seen, work.seen_at, work.attempts, work.sent_at = versions, now, 0, None
        work.waiting_since = work.waiting_since or now
    place = work.phase_task_id
    if not (_has_outcomes(session, place) or _has_statistics(session, place) or lacks_power(session, place)):
        work.computed_for, work.waiting_since = versions, None  # nothing for workers to do


def _is_due(work: StatisticsWork, now: datetime, attempts: int, quiet: timedelta) -> bool:
    if work.attempts >= attempts:
        return False
    if work.lease_expires_at is not None:
        return work.lease_expires_at <= now  # its worker was lost
    if work.sent_at is not None:
        return work.sent_at <= now - RESEND
    waits_long = work.waiting_since is not None and work.waiting_since <= now - LONGEST_WAIT
    return waits_long or work.seen_at <= now - quiet


def _versions(session: Session, phase_task_id: int | None = None) -> dict[int, str]:
    """Return the versions by phase task: of its own boards, and of those of the phase whose entries it carries over."""
    other_phase, other = aliased(Phase), aliased(PhaseTask)
    same = and_(other_phase.competition_id == Phase.competition_id, other_phase.name == Phase.carry_over)
    query = (
        select(PhaseTask.id, PhaseTask.board_version, other.board_version)
        .join(Phase, Phase.id == PhaseTask.phase_id)
        .outerjoin(other_phase, same)
        .outerjoin(other, and_(other.phase_id == other_phase.id, other.task_id == PhaseTask.task_id))
        .order_by(PhaseTask.id)
    )
    if phase_task_id is not None:
        query = query.where(PhaseTask.id == phase_task_id)
    return {key: str(own) if carried is None else f"{own}-{carried}" for key, own, carried in session.execute(query)}


def _has_outcomes(session: Session, phase_task_id: int) -> bool:
    """Return True if there are stored outcomes to compute statistics from.

    They may belong to an entry in a phase of the same task, whose entries may be carried over, or to one of the latest
    submissions here, because boards with all entries have no standings.
    """
    of_same_task = select(PhaseTask.task_id).where(PhaseTask.id == phase_task_id).scalar_subquery()
    places = select(PhaseTask.id).where(PhaseTask.task_id == of_same_task)
    standing = select(Standing.run_id).where(Standing.phase_task_id.in_(places))
    newest = (
        select(Submission.id)
        .where(Submission.phase_task_id == phase_task_id)
        .order_by(Submission.submitted_at.desc())
        .limit(NEWEST_LOOKED_AT)
    )
    has = ScoringRun.outcomes_id.is_not(None)
    stands = exists().where(has, ScoringRun.id.in_(standing))
    came = exists().where(has, ScoringRun.submission_id.in_(select(newest.subquery().c.id)))
    return bool(session.scalar(select(or_(stands, came))))


def _has_statistics(session: Session, phase_task_id: int) -> bool:
    return bool(session.scalar(select(exists().where(BoardStatistics.phase_task_id == phase_task_id))))
