"""Long polling for changes of a submission or a validation, for the API and for live pages."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

from fastapi import Request
from sqlalchemy import Engine, select

from app.base.db import reading
from app.models import CHECKED, TERMINAL, ScoringRun, User, Validation
from app.runs.stages import stamp_of
from app.submissions import find
from app.submissions.validations import get_validation
from app.web.http.context import Server
from app.web.http.waiting import wait_for_news

#: Longest wait of a long poll of the live part of a page.
LIVE_SECONDS = 20.0


def check_visible(server: Server, submission_id: UUID, user: User | None) -> None:
    """Raise NotFound unless this user may see the submission."""
    with reading(server.engine) as session:
        find.check_visible(session, submission_id, user)


def check_own_validation(server: Server, user: User, validation_id: UUID) -> None:
    """Raise NotFound unless this validation belongs to the user and still exists."""
    with reading(server.engine) as session:
        get_validation(session, validation_id, user, server.clock())


async def wait_for_change(
    request: Request, user: User, submission_id: UUID, *, seconds: float, seen: str | None
) -> None:
    """Wait until the submission's state is final, its stamp differs from `seen`, or the time is over."""
    await wait_for_news(
        request,
        user,
        _stamps,
        submission_id,
        lambda stamp: stamp in TERMINAL or (seen is not None and stamp != seen),
        seconds=seconds,
    )


async def wait_for_check(
    request: Request, user: User, validation_id: UUID, *, seconds: float, seen: str | None = None
) -> None:
    """Wait until the check has ended, its status differs from `seen`, or the time is over."""
    await wait_for_news(
        request,
        user,
        _statuses,
        validation_id,
        lambda status: status in CHECKED or not status or (seen is not None and status != seen),
        seconds=seconds,
    )


def _stamps(engine: Engine, submission_ids: Sequence[UUID]) -> dict[UUID, str]:
    columns = select(ScoringRun.submission_id, ScoringRun.status, ScoringRun.checked_at, ScoringRun.items_done)
    current = columns.where(ScoringRun.submission_id.in_(submission_ids), ScoringRun.is_current)
    with reading(engine) as session:
        return {
            row.submission_id: stamp_of(row.status, row.checked_at, row.items_done) for row in session.execute(current)
        }


def _statuses(engine: Engine, validation_ids: Sequence[UUID]) -> dict[UUID, str]:
    """Return the status of each validation that still exists."""
    wanted = select(Validation.id, Validation.status).where(Validation.id.in_(validation_ids))
    with reading(engine) as session:
        return {validation_id: str(status) for validation_id, status in session.execute(wanted)}
