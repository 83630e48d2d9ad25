"""Stores news: a row for each webhook that wants them, in the transaction that causes them.

A row has only ids. `app.news` builds the message from what the webhook's audience sees at that moment.
"""

from __future__ import annotations

import secrets
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, insert, literal_column, or_, select
from sqlalchemy.orm import Session

from app.models import (
    DeliveryStatus,
    GoldVersion,
    NewsKind,
    Phase,
    PhaseTask,
    RunStatus,
    ScoringRun,
    Submission,
    Webhook,
    WebhookDelivery,
)

#: An expression for RETURNING clauses of frequent statements: true if any webhook could want the news.
ANY_WEBHOOK: ColumnElement[bool] = literal_column("EXISTS (SELECT 1 FROM webhooks WHERE webhooks.disabled_at IS NULL)")
#: The kind of news about a run, by the run's final status.
OF_STATUS = {
    RunStatus.SCORED: NewsKind.SUBMISSION_SCORED,
    RunStatus.REJECTED: NewsKind.SUBMISSION_REJECTED,
    RunStatus.FAILED: NewsKind.RUN_FAILED,
}


def note_news(
    session: Session,
    kind: NewsKind,
    about: dict[str, Any],
    now: datetime,
    *,
    competition_id: int,
    team_id: int | None = None,
) -> int:
    """Store the news for every webhook that wants them; return their number.

    about: ids of the subject. team_id: the team that the news belongs to; None: of no team, so that no team gets them.
    """
    own = Webhook.team_id.is_(None) if team_id is None else or_(Webhook.team_id.is_(None), Webhook.team_id == team_id)
    here = or_(Webhook.competition_id.is_(None), Webhook.competition_id == competition_id)
    asking = session.scalars(select(Webhook).where(Webhook.disabled_at.is_(None), here, own))
    wanted = [one.id for one in asking if kind in one.news]
    named = {"competition": competition_id, **about}
    note_for(session, wanted, kind, named, now)
    return len(wanted)


def note_for(session: Session, webhook_ids: list[int], kind: NewsKind, about: dict[str, Any], now: datetime) -> None:
    """Store the news for these webhooks, regardless of the kinds that they select."""
    if webhook_ids:
        session.execute(insert(WebhookDelivery), [_row(one, kind, about, now) for one in webhook_ids])


def _row(webhook_id: int, kind: NewsKind, about: dict[str, Any], now: datetime) -> dict[str, Any]:
    return {
        "webhook_id": webhook_id,
        "message": f"msg_{secrets.token_hex(16)}",
        "kind": kind,
        "about": about,
        "happened_at": now,
        "status": DeliveryStatus.WAITING,
        "attempts": 0,
        "since": now,
        "next_attempt_at": now,
    }


def note_run_ended(session: Session, run_id: int, now: datetime) -> None:
    """Store the news that a run was scored, rejected, or finally failed; for rescoring sets only failures."""
    found = session.execute(
        select(
            ScoringRun.status,
            ScoringRun.is_current,
            Submission.id.label("submission"),
            Submission.team_id,
            Phase.competition_id,
        )
        .join(Submission, Submission.id == ScoringRun.submission_id)
        .join(PhaseTask, PhaseTask.id == Submission.phase_task_id)
        .join(Phase, Phase.id == PhaseTask.phase_id)
        .where(ScoringRun.id == run_id)
    ).one()
    kind = OF_STATUS.get(RunStatus(found.status))
    if kind is None or not found.is_current and kind is not NewsKind.RUN_FAILED:
        return
    about = {"run": run_id, "submission": str(found.submission)}
    team_id = found.team_id if found.is_current else None
    note_news(session, kind, about, now, competition_id=found.competition_id, team_id=team_id)


def note_gold_checked(session: Session, version_id: int, now: datetime) -> None:
    """Store the news that a gold version was checked, with any result."""
    competition_id = session.scalars(
        select(Phase.competition_id)
        .join(PhaseTask, PhaseTask.phase_id == Phase.id)
        .join(GoldVersion, GoldVersion.phase_task_id == PhaseTask.id)
        .where(GoldVersion.id == version_id)
    ).one()
    note_news(session, NewsKind.GOLD_CHECKED, {"gold": version_id}, now, competition_id=competition_id)
