"""Holds by which administrators pause scoring, and requests that rate limits refused."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import ForeignKey, String, Text
from sqlalchemy.orm import Mapped, mapped_column

from app.base.db import Base
from app.models.columns import NAME_CHARACTERS

TARGET_CHARACTERS = 220


class ScoringHold(Base):
    """Scoring that an administrator paused, or a machine whose workers are drained: nothing is claimed there.

    target: `server`, `competition 5`, `task 17` or `workers HOST`. Written only by `app.runs.holds`.
    """

    __tablename__ = "scoring_holds"

    target: Mapped[str] = mapped_column(String(TARGET_CHARACTERS), primary_key=True)
    competition_id: Mapped[int | None] = mapped_column(ForeignKey("competitions.id"), index=True)
    task_id: Mapped[int | None] = mapped_column(ForeignKey("tasks.id"), index=True)
    host: Mapped[str | None] = mapped_column(String(200))
    reason: Mapped[str] = mapped_column(Text)
    held_at: Mapped[datetime]
    held_by: Mapped[str] = mapped_column(String(NAME_CHARACTERS))


class RefusedRequests(Base):
    """Requests refused by a rate limit within an hour, in total and by account.

    who: the account (`user 5`); "" for the total.
    """

    __tablename__ = "refused_requests"

    hour: Mapped[datetime] = mapped_column(primary_key=True)
    rule: Mapped[str] = mapped_column(String(40), primary_key=True)
    who: Mapped[str] = mapped_column(String(40), primary_key=True, default="")
    count: Mapped[int]
