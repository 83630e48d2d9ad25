"""Human judgement: rounds, paraphrases to judge, annotators, and marks. Written only by `app.judging`."""

from __future__ import annotations

import uuid
from datetime import datetime
from enum import StrEnum
from typing import Any

from sqlalchemy import CheckConstraint, ForeignKey, Index, String, Text, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column, relationship

from app.base.db import Base
from app.models.accounts import User
from app.models.columns import NAME_CHARACTERS
from app.models.competitions import PhaseTask
from app.models.submissions import Submission

LANGUAGE_CHARACTERS = 40


class RoundSource(StrEnum):
    """The source of a round's marks."""

    BROWSER = "browser"  # annotators judge in the browser
    IMPORT = "import"  # organisers import files


class JudgingRound(Base):
    """Submissions to a task in a phase, judged by people. results: shown on boards, stored at publication."""

    __tablename__ = "judging_rounds"
    __table_args__ = (UniqueConstraint("competition_id", "name"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    competition_id: Mapped[int] = mapped_column(ForeignKey("competitions.id"))
    phase_task_id: Mapped[int] = mapped_column(ForeignKey("phase_tasks.id"), index=True)
    name: Mapped[str] = mapped_column(String(NAME_CHARACTERS))  # in addresses
    source: Mapped[RoundSource] = mapped_column(String(20))
    guidelines: Mapped[str] = mapped_column(Text, default="")  # Markdown
    seed: Mapped[int]  # determines the drawn items, and their order for everybody
    items_per_language: Mapped[int | None]  # None: all
    created_at: Mapped[datetime]
    published_at: Mapped[datetime | None]  # from then on boards show it and marks cannot change
    results: Mapped[dict[str, Any] | None]

    phase_task: Mapped[PhaseTask] = relationship(lazy="raise")


class JudgedEntry(Base):
    """A submission that is judged in a round."""

    __tablename__ = "judged_entries"
    __table_args__ = (UniqueConstraint("round_id", "submission_id"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    round_id: Mapped[int] = mapped_column(ForeignKey("judging_rounds.id"))
    submission_id: Mapped[uuid.UUID] = mapped_column(ForeignKey("submissions.id"), index=True)
    languages: Mapped[list[Any]]  # those of the round for which it has paraphrases

    submission: Mapped[Submission] = relationship(lazy="raise")


class JudgedText(Base):
    """A paraphrase to judge; systems with the same paraphrase share it, so that it is judged once.

    text_key: distinguishes the paraphrases of an item: the sha256 of the text and, in an imported round (whose files
    have marks per submission), of the submission's id.
    """

    __tablename__ = "judged_texts"
    __table_args__ = (UniqueConstraint("round_id", "language", "item", "text_key"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    round_id: Mapped[int] = mapped_column(ForeignKey("judging_rounds.id"))
    language: Mapped[str] = mapped_column(String(LANGUAGE_CHARACTERS))
    item: Mapped[str] = mapped_column(String(500))
    text_key: Mapped[str] = mapped_column(String(64))
    sentence: Mapped[str] = mapped_column(Text)
    paraphrase: Mapped[str] = mapped_column(Text)


class JudgedAnswer(Base):
    """A paraphrase given by an entry."""

    __tablename__ = "judged_answers"

    entry_id: Mapped[int] = mapped_column(ForeignKey("judged_entries.id"), primary_key=True)
    text_id: Mapped[int] = mapped_column(ForeignKey("judged_texts.id"), primary_key=True, index=True)


class JudgingAnnotator(Base):
    """An annotator of a language in a round. user_id: None for a name in an imported file."""

    __tablename__ = "judging_annotators"
    __table_args__ = (UniqueConstraint("round_id", "language", "name"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    round_id: Mapped[int] = mapped_column(ForeignKey("judging_rounds.id"))
    language: Mapped[str] = mapped_column(String(LANGUAGE_CHARACTERS))
    name: Mapped[str] = mapped_column(String(NAME_CHARACTERS))  # the user name, or the name in a file
    user_id: Mapped[int | None] = mapped_column(ForeignKey("users.id"), index=True)

    user: Mapped[User | None] = relationship(lazy="raise")


class Judgement(Base):
    """An annotator's marks of a paraphrase, possibly incomplete.

    They are complete with three marks, or if the expression was not removed.
    """

    __tablename__ = "judgements"
    __table_args__ = (
        UniqueConstraint("annotator_id", "text_id"),
        Index("ix_judgements_text_id", "text_id"),
        CheckConstraint("mwe_sense BETWEEN 0 AND 3", name="mwe_sense_range"),
        CheckConstraint("rest_sense BETWEEN 0 AND 3", name="rest_sense_range"),
        CheckConstraint("naturalness BETWEEN 0 AND 3", name="naturalness_range"),
    )

    id: Mapped[int] = mapped_column(primary_key=True)
    annotator_id: Mapped[int] = mapped_column(ForeignKey("judging_annotators.id"))
    text_id: Mapped[int] = mapped_column(ForeignKey("judged_texts.id"))
    is_removed: Mapped[bool] = mapped_column(default=True)
    mwe_sense: Mapped[int | None]
    rest_sense: Mapped[int | None]
    naturalness: Mapped[int | None]
    decided_at: Mapped[datetime]
