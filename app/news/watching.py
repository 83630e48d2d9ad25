"""News that no request causes: a phase opens or closes as time passes, or a board changes for its audience.

The sweep looks for it. The last state seen is stored with each webhook, in the transaction that stores the news, so
that nothing is stored twice, and nothing is lost while no sweep runs. A board is compared as its audience sees it:
hidden changes are not news, but the end of an embargo is.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from sqlalchemy import Engine, select
from sqlalchemy.orm import InstrumentedAttribute, Session

from app.base.config import Settings
from app.base.db import reading, writing
from app.base.errors import NotFound
from app.base.logs import continuing, log_and_continue
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
    """Store all current news; return their number."""
    with reading(engine) as session:
        watching = watching_webhooks(session)
    noted = 0
    for webhook_id in watching:
        with continuing("news_not_noted", webhook_id=webhook_id):
            noted += _note_of_one(engine, webhook_id, settings, now)
    return noted


@dataclass(frozen=True, slots=True)
class _Board:
    """A board whose version has changed since the last check, or that was never checked."""

    competition_id: int
    phase_id: int
    board_id: int
    version: str
    digest: str


@dataclass(frozen=True, slots=True)
class _Found:
    """News for a webhook. phases: kind, competition and phase; looked_at: time of the previous look."""

    looked_at: datetime
    phases: list[tuple[NewsKind, int, int]] = field(default_factory=list)
    boards: list[_Board] = field(default_factory=list)


def _note_of_one(engine: Engine, webhook_id: int, settings: Settings, now: datetime) -> int:
    """Look for news first, then store them in a short transaction, so that uploads do not wait for it."""
    with reading(engine) as session:
        webhook = session.get(Webhook, webhook_id)
        if webhook is None:
            return 0
        found = _look(session, webhook, settings, now)
    return _note(engine, webhook_id, found, now)


def _note(engine: Engine, webhook_id: int, found: _Found, now: datetime) -> int:
    """Store the news, unless the webhook was removed or another sweep has looked since; return their number."""
    with writing(engine) as session:
        webhook = session.scalar(select(Webhook).where(Webhook.id == webhook_id).with_for_update())
        if webhook is None or webhook.disabled_at is not None or webhook.looked_at != found.looked_at:
            return 0
        for kind, competition_id, phase_id in found.phases:
            note_for(session, [webhook.id], kind, {"competition": competition_id, "phase": phase_id}, now)
        changed = sum(_note_board(session, webhook, one, now) for one in _still_there(session, found.boards))
        webhook.looked_at = max(now, webhook.looked_at)
    return len(found.phases) + changed


def _look(session: Session, webhook: Webhook, settings: Settings, now: datetime) -> _Found:
    found = _Found(webhook.looked_at)
    for competition_id in _competitions(session, webhook):
        try:
            look = looking(session, webhook, competition_id, settings, now)
        except NotSeen:
            continue
        found.phases.extend(_phases(look))
        if NewsKind.BOARD_CHANGED in webhook.news:
            found.boards.extend(_changed_boards(look))
    return found


def _competitions(session: Session, webhook: Webhook) -> Sequence[int]:
    if webhook.competition_id is not None:
        return [webhook.competition_id]
    return session.scalars(
        select(Competition.id).where(Competition.stage != Stage.DRAFT).order_by(Competition.id)
    ).all()


def _phases(look: Looking) -> Iterator[tuple[NewsKind, int, int]]:
    """Yield the phases that have opened or closed since the last look."""
    for phase in look.competition.phases:
        for kind, moment in ((NewsKind.PHASE_OPENED, phase.starts_at), (NewsKind.PHASE_CLOSED, phase.ends_at)):
            is_new = moment is not None and look.webhook.looked_at < moment <= look.now
            if is_new and kind in look.webhook.news:
                yield kind, look.competition.id, phase.id


def _changed_boards(look: Looking) -> Iterator[_Board]:
    """Yield the boards whose version differs from that at the last look."""
    session = look.session
    rows = session.scalars(select(WebhookBoard).where(WebhookBoard.webhook_id == look.webhook.id))
    known = {(one.phase_id, one.board_id): one.version for one in rows}
    for phase, board in _boards(look.competition):
        try:
            version = board_version(session, phase, board, look.viewer)
            if known.get((phase.id, board.id)) == version:
                continue
            digest = _digest(build_leaderboard(session, phase, board, look.viewer))
        except NotFound:
            continue
        except Exception as error:  # a board that cannot be made keeps no news of the others
            log_and_continue("board_not_watched", error, phase_id=phase.id, board_id=board.id)
            continue
        yield _Board(look.competition.id, phase.id, board.id, version, digest)


def _still_there(session: Session, seen: Sequence[_Board]) -> list[_Board]:
    """Return the boards that still exist in these phases; both are locked until the transaction ends."""
    phases = _held(session, Phase.id, {one.phase_id for one in seen})
    boards = _held(session, Board.id, {one.board_id for one in seen})
    return [one for one in seen if one.phase_id in phases and one.board_id in boards]


def _held(session: Session, column: InstrumentedAttribute[int], ids: Collection[int]) -> set[int]:
    query = select(column).where(column.in_(ids))
    return set(session.scalars(query.with_for_update(read=True, key_share=True, skip_locked=True)))


def _note_board(session: Session, webhook: Webhook, seen: _Board, now: datetime) -> int:
    """Store the state seen, and news if the rows differ from the last look; return their number. A first look is never
    news.
    """
    before = session.get(WebhookBoard, (webhook.id, seen.phase_id, seen.board_id))
    if before is None:
        place = {"webhook_id": webhook.id, "phase_id": seen.phase_id, "board_id": seen.board_id}
        session.add(WebhookBoard(**place, version=seen.version, digest=seen.digest))
        return 0
    is_news = before.digest != seen.digest
    before.version, before.digest = seen.version, seen.digest
    if not is_news or _is_waiting(session, webhook, seen):
        return 0
    about = {"competition": seen.competition_id, "phase": seen.phase_id, "board": seen.board_id}
    note_for(session, [webhook.id], NewsKind.BOARD_CHANGED, about, now)
    return 1


def _boards(competition: Competition) -> Iterator[tuple[Phase, Board]]:
    for phase in competition.phases:
        for board in boards_of(competition, phase):
            yield phase, board


def _digest(shown: Leaderboard) -> str:
    """Return a digest of the shown ranks, teams and scores."""
    rows = [(one.rank, one.team, one.kind, one.status, [cell.value for cell in one.cells]) for one in shown.rows]
    return hashlib.sha256(repr(rows).encode()).hexdigest()[:40]


def _is_waiting(session: Session, webhook: Webhook, seen: _Board) -> bool:
    """Return True if news of this board is still pending: the message will show the board at the time of sending."""
    query = select(WebhookDelivery.about).where(
        WebhookDelivery.webhook_id == webhook.id,
        WebhookDelivery.status == DeliveryStatus.WAITING,
        WebhookDelivery.kind == NewsKind.BOARD_CHANGED,
        WebhookDelivery.attempts == 0,
    )
    here = (seen.phase_id, seen.board_id)
    return any((about["phase"], about["board"]) == here for about in session.scalars(query))
