"""The annotators' side: a worksheet in a separate order for each annotator, and marks saved one by one.

An annotator sees only sentences and paraphrases: no system, no score, no marks of others.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import delete, select, update
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from app.base.text import refuse
from app.judging.rounds import check_unpublished, lock_round
from app.judging.rows import marks_of, needs_judging
from app.judging.selection import shuffled
from app.models import JudgedText, Judgement, JudgingAnnotator, JudgingRound
from evergold.scoring.judgement import HIGHEST, LOWEST, QUESTIONS, Marks, is_whole


@dataclass(frozen=True, slots=True)
class Worksheet:
    """The texts to judge, in the annotator's order, and the marks given so far by text."""

    text_ids: tuple[int, ...]
    marks: Mapping[int, Marks]

    @property
    def done(self) -> int:
        """Number of judged texts."""
        return sum(is_whole(marks) for marks in self.marks.values())

    def is_done(self, place: int) -> bool:
        """Return True if the text at this position (from 1) is judged."""
        marks = self.marks.get(self.text_ids[place - 1])
        return marks is not None and is_whole(marks)

    def next_open(self, after: int = 0) -> int | None:
        """Return the first open position (from 1) after `after`, or else the first of all; None if all are judged."""
        places = [*range(after + 1, len(self.text_ids) + 1), *range(1, min(after, len(self.text_ids)) + 1)]
        return next((place for place in places if not self.is_done(place)), None)


def worksheet(session: Session, judging: JudgingRound, annotator: JudgingAnnotator) -> Worksheet:
    """Return the texts and marks of this annotator."""
    query = select(JudgedText.id, JudgedText.item, JudgedText.text_key).where(
        JudgedText.round_id == judging.id, JudgedText.language == annotator.language, needs_judging()
    )
    named = [(f"{item}\0{key}", text_id) for text_id, item, key in session.execute(query)]
    order = shuffled(judging.seed, annotator.name, named)
    given = session.scalars(select(Judgement).where(Judgement.annotator_id == annotator.id))
    return Worksheet(tuple(order), {judgement.text_id: marks_of(judgement) for judgement in given})


def save_marks(
    session: Session,
    judging: JudgingRound,
    annotator: JudgingAnnotator,
    text_id: int,
    answers: Mapping[str, str],
    now: datetime,
) -> Marks:
    """Save the given answers, preserving earlier ones; return all marks.

    answers: `removed` (yes, no) and marks 0 to 3 by question, as sent by a form; an empty answer does not delete a
    mark. Repeated or concurrent calls are harmless. Raises InvalidForm and RoundPublished.
    """
    values = _values(answers)
    lock_round(session, judging, shared=True)
    check_unpublished(judging)
    if values:
        mine = (Judgement.annotator_id == annotator.id, Judgement.text_id == text_id)
        changed = update(Judgement).where(*mine).values(**values, decided_at=now).returning(Judgement.id)
        # Every form contains "removed"; alone it is not an answer yet.
        if session.scalar(changed) is None and values != {"is_removed": True}:
            try:
                with session.begin_nested():
                    session.add(Judgement(annotator_id=annotator.id, text_id=text_id, **values, decided_at=now))
            except IntegrityError:  # another tab was faster
                session.execute(changed)
    return given_marks(session, annotator, text_id)


def clear_marks(session: Session, judging: JudgingRound, annotator: JudgingAnnotator, text_id: int) -> None:
    """Delete all marks of a paraphrase by this annotator."""
    lock_round(session, judging, shared=True)
    check_unpublished(judging)
    mine = (Judgement.annotator_id == annotator.id, Judgement.text_id == text_id)
    session.execute(delete(Judgement).where(*mine))


def given_marks(session: Session, annotator: JudgingAnnotator, text_id: int) -> Marks:
    """Return the marks of a paraphrase that the annotator has given so far."""
    mine = (Judgement.annotator_id == annotator.id, Judgement.text_id == text_id)
    query = select(Judgement).where(*mine).execution_options(populate_existing=True)
    found = session.scalar(query)
    return marks_of(found) if found is not None else Marks()


def _values(answers: Mapping[str, str]) -> dict[str, Any]:
    """Return the answers as column values. Raises InvalidForm."""
    fields: dict[str, str] = {}
    values: dict[str, Any] = {}
    allowed = [str(mark) for mark in range(LOWEST, HIGHEST + 1)]
    for question in QUESTIONS:
        answer = answers.get(question, "")
        if answer in allowed:
            values[question] = int(answer)
        elif answer:
            fields[question] = f"A mark must be a number from {LOWEST} to {HIGHEST}."
    removed = answers.get("removed", "")
    if removed not in ("", "yes", "no"):
        fields["removed"] = "Choose yes or no."
    elif removed:
        values["is_removed"] = removed == "yes"
    refuse(fields)
    return values
