"""News that nobody causes: a phase opens or closes as time passes, a board looks different to its audience.

The sweep looks. What it saw last is kept with each webhook in the transaction that notes the news, so that nothing is
noted twice, and nothing is lost while no sweep runs. A board is compared as its audience sees it: what is hidden makes
no news, and the moment that lifts an embargo does.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from datetime import datetime

from sqlalchemy import Engine, select
from sqlalchemy.orm import Session

from app.base.config import Settings
from app.base.db import reading, writing
from app.base.errors import NotFound
from app.boards.leaderboard import board_version, build_leaderboard
from app.boards.rows import Leaderboard
from app.competitions.find import boards_of
from app.models import (
    Board,
    Competition,
    DeliveryStatus,
    NewsKind,
    Phase,
    Stage,
    Webhook,
    WebhookBoard,
    WebhookDelivery,
)
from app.news.payloads import Looking, NotSeen, looking
from app.webhooks.due import watching_webhooks
from app.webhooks.events import note_for


def note_watched(engine: Engine, settings: Settings, now: datetime) -> int:
    """Note all news that there is to see now; return their number."""
    with reading(engine) as session:
        watching = watching_webhooks(session)
    return sum(_note_of_one(engine, webhook_id, settings, now) for webhook_id in watching)


def _note_of_one(engine: Engine, webhook_id: int, settings: Settings, now: datetime) -> int:
    with writing(engine) as session:
        webhook = session.scalar(select(Webhook).where(Webhook.id == webhook_id).with_for_update())
        if webhook is None or webhook.disabled_at is not None:
            return 0
        noted = 0
        for competition_id in _competitions(session, webhook):
            try:
                look = looking(session, webhook, competition_id, settings, now)
            except NotSeen:
                continue
            noted += _note_phases(look)
            if NewsKind.BOARD_CHANGED in webhook.news:
                noted += _note_boards(look)
        webhook.looked_at = max(now, webhook.looked_at)
    return noted


def _competitions(session: Session, webhook: Webhook) -> Sequence[int]:
    if webhook.competition_id is not None:
        return [webhook.competition_id]
    return session.scalars(
        select(Competition.id).where(Competition.stage != Stage.DRAFT).order_by(Competition.id)
    ).all()


def _note_phases(look: Looking) -> int:
    """Note the phases that opened or closed since the last look."""
    noted = 0
    for phase in look.competition.phases:
        for kind, moment in ((NewsKind.PHASE_OPENED, phase.starts_at), (NewsKind.PHASE_CLOSED, phase.ends_at)):
            is_new = moment is not None and look.webhook.looked_at < moment <= look.now
            if is_new and kind in look.webhook.news:
                _note(look, kind, {"phase": phase.id})
                noted += 1
    return noted


def _note_boards(look: Looking) -> int:
    """Note the boards whose rows are others than at the last look; the first look only takes them down."""
    session, webhook = look.session, look.webhook
    rows = session.scalars(select(WebhookBoard).where(WebhookBoard.webhook_id == webhook.id))
    known = {(one.phase_id, one.board_id): one for one in rows}
    noted = 0
    for phase, board in _boards(look.competition):
        before = known.get((phase.id, board.id))
        try:
            version = board_version(session, phase, board, look.viewer)
            if before is not None and before.version == version:
                continue
            digest = _digest(build_leaderboard(session, phase, board, look.viewer))
        except NotFound:
            continue
        if before is None:
            place = {"webhook_id": webhook.id, "phase_id": phase.id, "board_id": board.id}
            session.add(WebhookBoard(**place, version=version, digest=digest))
            continue
        is_news = before.digest != digest
        before.version, before.digest = version, digest
        if is_news and not _is_waiting(session, webhook, phase, board):
            _note(look, NewsKind.BOARD_CHANGED, {"phase": phase.id, "board": board.id})
            noted += 1
    return noted


def _boards(competition: Competition) -> Iterator[tuple[Phase, Board]]:
    for phase in competition.phases:
        for board in boards_of(competition, phase):
            yield phase, board


def _digest(shown: Leaderboard) -> str:
    """Return a digest of who stands where with which scores, as it is shown."""
    rows = [(one.rank, one.team, one.kind, one.status, [cell.value for cell in one.cells]) for one in shown.rows]
    return hashlib.sha256(repr(rows).encode()).hexdigest()[:40]


def _is_waiting(session: Session, webhook: Webhook, phase: Phase, board: Board) -> bool:
    """True if news of this board still waits to be sent: it will have what the board shows then."""
    query = select(WebhookDelivery.about).where(
        WebhookDelivery.webhook_id == webhook.id,
        WebhookDelivery.status == DeliveryStatus.WAITING,
        WebhookDelivery.kind == NewsKind.BOARD_CHANGED,
        WebhookDelivery.attempts == 0,
    )
    here = (phase.id, board.id)
    return any((about["phase"], about["board"]) == here for about in session.scalars(query))


def _note(look: Looking, kind: NewsKind, about: dict[str, int]) -> None:
    note_for(look.session, [look.webhook.id], kind, {"competition": look.competition.id, **about}, look.now)
