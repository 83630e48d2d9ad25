"""Webhooks: addresses of others to which the server sends news, and every delivery with its outcome.

Written only by `app.webhooks` and `app.news`.
"""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from typing import Any

from sqlalchemy import ForeignKey, Index, String, Text
from sqlalchemy.orm import Mapped, mapped_column, relationship

from app.base.db import Base
from app.models.accounts import User
from app.models.columns import NAME_CHARACTERS

ADDRESS_CHARACTERS = 2000
#: Length of a message's public id; all attempts have the same id, so that receivers recognise a repeated message.
MESSAGE_CHARACTERS = 40


class WebhookForm(StrEnum):
    """The format of messages."""

    STANDARD = "standard"  # JSON, signed by the Standard Webhooks specification
    SLACK = "slack"
    DISCORD = "discord"
    MATTERMOST = "mattermost"
    MATRIX = "matrix"


class WebhookAudience(StrEnum):
    """The readers of messages: their view of the news decides what a message contains."""

    ORGANISERS = "organisers"  # with the rights of its creator; of the server: administrators
    TEAM = "team"
    PUBLIC = "public"


class NewsKind(StrEnum):
    """The kinds of news that webhooks receive."""

    SUBMISSION_SCORED = "submission.scored"
    SUBMISSION_REJECTED = "submission.rejected"
    RUN_FAILED = "run.failed"
    BOARD_CHANGED = "board.changed"
    QUESTION_ASKED = "question.asked"
    GOLD_CHECKED = "gold.checked"
    PHASE_OPENED = "phase.opened"
    PHASE_CLOSED = "phase.closed"
    TEST = "test"  # sent on request, chosen by nobody


class DeliveryStatus(StrEnum):
    """The state of a delivery."""

    WAITING = "waiting"
    DELIVERED = "delivered"
    GIVEN_UP = "given_up"
    DROPPED = "dropped"  # the audience does not see it, or no longer


class Webhook(Base):
    """A webhook of a competition, of a team, or of the server (neither).

    owner: created or last changed it; messages to organisers or a team contain what this person may see. `address`,
    `bearer` and `secret` are secrets: they are stored unhashed, and leave the database only in backups.
    """

    __tablename__ = "webhooks"

    id: Mapped[int] = mapped_column(primary_key=True)
    competition_id: Mapped[int | None] = mapped_column(ForeignKey("competitions.id"), index=True)
    team_id: Mapped[int | None] = mapped_column(ForeignKey("teams.id"), index=True)
    owner_id: Mapped[int] = mapped_column(ForeignKey("users.id"), index=True)
    name: Mapped[str] = mapped_column(String(NAME_CHARACTERS))
    form: Mapped[WebhookForm] = mapped_column(String(20))
    audience: Mapped[WebhookAudience] = mapped_column(String(20))
    kinds: Mapped[str] = mapped_column(String(300))  # names of NewsKind, separated by spaces
    address: Mapped[str] = mapped_column(String(ADDRESS_CHARACTERS))
    bearer: Mapped[str | None] = mapped_column(String(500))  # access token of Matrix
    secret: Mapped[str] = mapped_column(String(100))  # whsec_…; signs messages in the format `standard`
    former_secret: Mapped[str | None] = mapped_column(String(100))  # signs as well until `former_until`
    former_until: Mapped[datetime | None]
    created_at: Mapped[datetime]
    looked_at: Mapped[datetime]  # phases that opened or closed until then were reported
    failing_since: Mapped[datetime | None]  # None: the last delivery succeeded
    disabled_at: Mapped[datetime | None]
    disabled_why: Mapped[str] = mapped_column(String(200), default="")

    owner: Mapped[User] = relationship(lazy="raise")

    @property
    def news(self) -> frozenset[NewsKind]:
        """The kinds of news that it receives."""
        return frozenset(NewsKind(kind) for kind in self.kinds.split())


class WebhookDelivery(Base):
    """News for one webhook, written in the transaction that causes the news.

    It only names the event and its subject; the content is built when it is sent, from what the audience may see then.
    """

    __tablename__ = "webhook_deliveries"
    __table_args__ = (
        Index("ix_webhook_deliveries_status_next_attempt_at", "status", "next_attempt_at"),
        Index("ix_webhook_deliveries_webhook_id_id", "webhook_id", "id"),
    )

    id: Mapped[int] = mapped_column(primary_key=True)
    webhook_id: Mapped[int] = mapped_column(ForeignKey("webhooks.id"))
    message: Mapped[str] = mapped_column(String(MESSAGE_CHARACTERS))
    kind: Mapped[NewsKind] = mapped_column(String(40))
    about: Mapped[dict[str, Any]]  # ids: {"competition": 3, "submission": "…"}
    happened_at: Mapped[datetime]
    status: Mapped[DeliveryStatus] = mapped_column(String(20))
    attempts: Mapped[int] = mapped_column(default=0)
    since: Mapped[datetime]  # start of the attempts: the time of the news, or of the request to repeat it
    next_attempt_at: Mapped[datetime]
    ended_at: Mapped[datetime | None]
    answered: Mapped[int | None]  # HTTP status of the last response
    answer: Mapped[str | None] = mapped_column(Text)  # its beginning
    error: Mapped[str | None] = mapped_column(Text)  # why the last attempt failed, in a sentence


class WebhookBoard(Base):
    """A board as a webhook's audience last saw it; an equal view is not news."""

    __tablename__ = "webhook_boards"

    webhook_id: Mapped[int] = mapped_column(ForeignKey("webhooks.id"), primary_key=True)
    phase_id: Mapped[int] = mapped_column(ForeignKey("phases.id"), primary_key=True)
    board_id: Mapped[int] = mapped_column(ForeignKey("boards.id"), primary_key=True)
    version: Mapped[str] = mapped_column(String(300))
    digest: Mapped[str] = mapped_column(String(40))  # of its rows
