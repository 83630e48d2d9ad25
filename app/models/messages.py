"""Messages between organisers and participants: announcements, questions, and mail preferences.

Written only by `app.messages.announcements`, `app.messages.questions` and `app.people.mail`.
"""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum

from sqlalchemy import ForeignKey, String, Text, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column, relationship

from app.base import links
from app.base.db import Base
from app.models.accounts import User
from app.models.competitions import Competition

TITLE_CHARACTERS = 200
KEY_CHARACTERS = 100


class Announcement(Base):
    """An announcement of the organisers; a withdrawn one is visible only to organisers."""

    __tablename__ = "announcements"
    __table_args__ = (UniqueConstraint("competition_id", "key"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    competition_id: Mapped[int] = mapped_column(ForeignKey("competitions.id"), index=True)
    title: Mapped[str] = mapped_column(String(TITLE_CHARACTERS))
    text: Mapped[str] = mapped_column(Text)  # Markdown
    is_pinned: Mapped[bool] = mapped_column(default=False)
    author_id: Mapped[int] = mapped_column(ForeignKey("users.id"))
    published_at: Mapped[datetime]
    edited_at: Mapped[datetime | None]
    withdrawn_at: Mapped[datetime | None]
    mailed_to: Mapped[str] = mapped_column(String(200), default="")  # a group of people; empty: nobody
    mailed_count: Mapped[int] = mapped_column(default=0)
    key: Mapped[str | None] = mapped_column(String(KEY_CHARACTERS))  # for idempotent creation

    competition: Mapped[Competition] = relationship(lazy="raise_on_sql")  # always in the session already
    author: Mapped[User] = relationship(lazy="raise")

    @property
    def page(self) -> str:
        """The address of the announcement on its page."""
        return f"{links.announcements(self.competition.name)}#announcement-{self.id}"


class Question(Base):
    """A question to the organisers with their answer; visible to others only if public and answered."""

    __tablename__ = "questions"
    __table_args__ = (UniqueConstraint("asker_id", "key"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    competition_id: Mapped[int] = mapped_column(ForeignKey("competitions.id"), index=True)
    asker_id: Mapped[int] = mapped_column(ForeignKey("users.id"), index=True)
    title: Mapped[str] = mapped_column(String(TITLE_CHARACTERS))
    text: Mapped[str] = mapped_column(Text)  # plain
    shows_name: Mapped[bool] = mapped_column(default=False)  # whether others see the name of the author
    asked_at: Mapped[datetime]
    answer: Mapped[str] = mapped_column(Text, default="")  # Markdown; empty: not answered
    answered_at: Mapped[datetime | None]
    answer_edited_at: Mapped[datetime | None]
    answered_by_id: Mapped[int | None] = mapped_column(ForeignKey("users.id"))
    is_public: Mapped[bool] = mapped_column(default=False)
    closed_at: Mapped[datetime | None]
    key: Mapped[str | None] = mapped_column(String(KEY_CHARACTERS))

    competition: Mapped[Competition] = relationship(lazy="raise_on_sql")
    asker: Mapped[User] = relationship(lazy="raise", foreign_keys=[asker_id])

    @property
    def page(self) -> str:
        """The address of the question on its page."""
        return f"{links.questions(self.competition.name)}#question-{self.id}"


class Pace(StrEnum):
    """The frequency of the mails of a kind."""

    AT_ONCE = "at_once"
    DAILY = "daily"  # one mail a day with all of them
    WEEKLY = "weekly"


class MailChoice(Base):
    """Preferences for mails other than those about the account; without a row only announcements are sent, immediately.

    salt: for the links that switch mails off; see `app.people.mail`.
    """

    __tablename__ = "mail_choices"

    user_id: Mapped[int] = mapped_column(ForeignKey("users.id"), primary_key=True)
    announcements: Mapped[bool] = mapped_column(default=True)
    results: Mapped[bool] = mapped_column(default=False)
    announcements_pace: Mapped[Pace] = mapped_column(String(20), default=Pace.AT_ONCE)
    results_pace: Mapped[Pace] = mapped_column(String(20), default=Pace.AT_ONCE)
    salt: Mapped[str] = mapped_column(String(64))


class DigestItem(Base):
    """A piece of news for a user's next digest; sending the mail deletes all items that it contains.

    Of an announcement only the id is stored; its text is read when the mail is written.
    """

    __tablename__ = "digest_items"

    id: Mapped[int] = mapped_column(primary_key=True)
    user_id: Mapped[int] = mapped_column(ForeignKey("users.id"), index=True)
    competition_id: Mapped[int] = mapped_column(ForeignKey("competitions.id"), index=True)
    kind: Mapped[str] = mapped_column(String(20))  # `app.people.mail.MailKind`
    announcement_id: Mapped[int | None] = mapped_column(ForeignKey("announcements.id"), index=True)
    title: Mapped[str] = mapped_column(String(300))  # empty for announcements, as `text`
    text: Mapped[str] = mapped_column(Text)
    written_at: Mapped[datetime]
    due_at: Mapped[datetime] = mapped_column(index=True)
