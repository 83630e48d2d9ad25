"""Low priority of rescoring runs: only the sweep announces them, a few at a time and after all others (see
`app.runs.claims`).

The module also notifies organisers when a set is ready.
"""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime, timedelta

from sqlalchemy import and_, exists, func, select, update
from sqlalchemy.orm import Session, aliased

from app.base.addresses import public_address
from app.base.config import Settings
from app.base.logs import continuing
from app.models import Competition, CompetitionTask, Rescoring, RescoringState, Right, RunStatus, ScoringRun
from app.people.mail import send_mail
from app.people.rights import organisers_of
from app.rescoring.sets import add_missing_runs, progress_of
from app.runs.claims import RESEND_SECONDS, with_task
from app.runs.sweep import unclaimed

#: Maximum of announced, unstarted runs: a broker without priorities passes them all on before the next upload.
ANNOUNCED_LATER = 200


def rescoring_runs_to_announce(
    session: Session, now: datetime, *, unserved: Collection[str] = (), forgotten: Collection[str] = ()
) -> list[tuple[int, str]]:
    """Return (run id, task type) of the rescoring runs to announce to workers, after all other runs."""
    lately = now - timedelta(seconds=RESEND_SECONDS)
    announced = session.scalars(
        with_task(select(func.count())).where(
            ScoringRun.status == RunStatus.QUEUED,
            ~ScoringRun.is_current,
            ScoringRun.sent_at > lately,
            CompetitionTask.task_type.not_in(forgotten),  # the broker has no message of those
        )
    ).one()
    limit = max(0, ANNOUNCED_LATER - announced)
    return unclaimed(session, now, unserved, forgotten, among=~ScoringRun.is_current, limit=limit)


def advance_rescorings(session: Session, settings: Settings, now: datetime) -> int:
    """Add later submissions to open sets, and notify organisers of ready sets; return the number of ready sets."""
    notified = 0
    open_sets = select(Rescoring).where(Rescoring.state == RescoringState.OPEN).order_by(Rescoring.id)
    for rescoring in session.scalars(open_sets.with_for_update()).all():
        with continuing("rescoring_not_advanced", rescoring_id=rescoring.id), session.begin_nested():
            add_missing_runs(session, rescoring, now)
            if rescoring.told_at is None and not _has_unfinished(session, rescoring):
                _notify_ready(session, rescoring, settings, now)
                notified += 1
    return notified


def _has_unfinished(session: Session, rescoring: Rescoring) -> bool:
    ours = aliased(ScoringRun)
    waits = exists().where(
        and_(ours.rescoring_id == rescoring.id, ours.status.in_((RunStatus.QUEUED, RunStatus.RUNNING)))
    )
    return bool(session.scalar(select(waits)))


_READY = """\
Rescoring set {number} of {competition} is ready:

  {note}

  {scored} scored, {rejected} rejected, {failed} failed on our side

No board has changed yet. See who would move, then publish or drop the set:

{page}
"""


def _notify_ready(session: Session, rescoring: Rescoring, settings: Settings, now: datetime) -> None:
    competition = session.get_one(Competition, rescoring.competition_id)
    progress = progress_of(session, rescoring)
    body = _READY.format(
        number=rescoring.id,
        competition=competition.title,
        note=rescoring.note,
        scored=progress.scored,
        rejected=progress.rejected,
        failed=progress.failed,
        page=public_address(settings, f"/competitions/{competition.name}/rescoring/{rescoring.id}"),
    )
    subject = f"Rescoring set {rescoring.id} of {competition.title} is ready"
    for organiser in organisers_of(session, competition.name, Right.SUBMISSIONS):
        send_mail(session, organiser, subject, body, now=now, competition_id=competition.id)
    session.execute(
        update(Rescoring)
        .where(Rescoring.id == rescoring.id)
        .values(told_at=now)
        .execution_options(synchronize_session=False)
    )
