"""Texts that people reported or organisers hid, and people blocked in a competition."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from typing import Any

from sqlalchemy import ForeignKey, Index, String, Text, UniqueConstraint, text
from sqlalchemy.orm import Mapped, mapped_column, relationship

from app.base.db import Base
from app.models.accounts import User
from app.models.columns import NAME_CHARACTERS
from app.models.competitions import Competition


class TextKind(StrEnum):
    """The kind of a text that others see."""

    QUESTION = "question"
    ANSWER = "answer"  # to a question
    ANNOUNCEMENT = "announcement"
    TEAM = "team"  # its name
    SYSTEM = "system"  # its name, its method card, and the methods of its submissions


class ReportReason(StrEnum):
    """A reason for reporting a text."""

    ABUSE = "abuse"
    SPAM = "spam"
    PERSONAL = "personal"
    LEAK = "leak"
    OTHER = "other"


class ReportOutcome(StrEnum):
    """The decision that closed a report."""

    HIDDEN = "hidden"
    DISMISSED = "dismissed"


class TextReport(Base):
    """A report of one person about one text. Written only by `app.moderation.reports` and `app.moderation.hiding`."""

    __tablename__ = "text_reports"
    __table_args__ = (UniqueConstraint("reporter_id", "kind", "subject_id"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    competition_id: Mapped[int] = mapped_column(ForeignKey("competitions.id"), index=True)
    kind: Mapped[TextKind] = mapped_column(String(20))
    subject_id: Mapped[int]  # of the question, announcement, team or system
    shown: Mapped[str] = mapped_column(Text)  # the text as it was when it was reported
    reason: Mapped[ReportReason] = mapped_column(String(20))
    words: Mapped[str] = mapped_column(Text, default="")
    reporter_id: Mapped[int] = mapped_column(ForeignKey("users.id"))
    reported_at: Mapped[datetime]
    closed_at: Mapped[datetime | None]
    closed_by: Mapped[str | None] = mapped_column(String(NAME_CHARACTERS))
    outcome: Mapped[ReportOutcome | None] = mapped_column(String(20))

    competition: Mapped[Competition] = relationship(lazy="raise")
    reporter: Mapped[User] = relationship(lazy="raise")


class HiddenText(Base):
    """A text that organisers hid: removed from its row, and stored here. Written only by `app.moderation.hiding`.

    places: [table, id, column, the original value, the placeholder]; shown_at: when it was shown again.
    """

    __tablename__ = "hidden_texts"
    __table_args__ = (
        Index(
            "uq_hidden_texts_hidden",
            "kind",
            "subject_id",
            unique=True,
            sqlite_where=text("shown_at IS NULL"),
            postgresql_where=text("shown_at IS NULL"),
        ),
    )

    id: Mapped[int] = mapped_column(primary_key=True)
    competition_id: Mapped[int] = mapped_column(ForeignKey("competitions.id"), index=True)
    kind: Mapped[TextKind] = mapped_column(String(20))
    subject_id: Mapped[int]
    team_id: Mapped[int | None] = mapped_column(ForeignKey("teams.id"))  # of a team's name, or of its system
    author_id: Mapped[int | None] = mapped_column(ForeignKey("users.id"), index=True)  # None: a team of several
    places: Mapped[list[Any]]
    reason: Mapped[str] = mapped_column(Text)
    hidden_at: Mapped[datetime]
    hidden_by: Mapped[str] = mapped_column(String(NAME_CHARACTERS))
    shown_at: Mapped[datetime | None]
    shown_by: Mapped[str | None] = mapped_column(String(NAME_CHARACTERS))

    author: Mapped[User | None] = relationship(lazy="raise")


class CompetitionBlock(Base):
    """A person who may not write in a competition: no question, no submission, no name.

    Written only by `app.people.competition_blocks`.
    """

    __tablename__ = "competition_blocks"

    competition_id: Mapped[int] = mapped_column(ForeignKey("competitions.id"), primary_key=True)
    user_id: Mapped[int] = mapped_column(ForeignKey("users.id"), primary_key=True, index=True)
    reason: Mapped[str] = mapped_column(Text)  # shown to the blocked person
    blocked_at: Mapped[datetime]
    blocked_by: Mapped[str] = mapped_column(String(NAME_CHARACTERS))

    user: Mapped[User] = relationship(lazy="raise")
