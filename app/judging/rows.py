"""Inserts a round's entries and paraphrases in bulk; existing rows are unaffected."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import cast
from uuid import UUID

from sqlalchemy import ColumnElement, Table, insert, or_, select
from sqlalchemy.orm import Session

from app.base.errors import InvalidForm
from app.judging.errors import CannotJudge
from app.judging.selection import Material, draw_items
from app.models import JudgedAnswer, JudgedEntry, JudgedText, Judgement, JudgingRound
from evergold.scoring.judgement import Marks

ITEM_CHARACTERS = 500
#: Maximum number of paraphrases of a round: more could not be judged, and storing them would block the web process.
MOST_TEXTS = 10_000

#: The tables themselves: each takes thousands of rows at once.
_TEXTS, _ANSWERS = cast(Table, JudgedText.__table__), cast(Table, JudgedAnswer.__table__)

#: Language, item and text key.
TextPlace = tuple[str, str, str]


@dataclass(frozen=True, slots=True)
class TextToJudge:
    """A paraphrase, with the submissions that gave it."""

    place: TextPlace
    sentence: str
    paraphrase: str
    submissions: tuple[UUID, ...]


def text_key(paraphrase: str, submission_id: UUID | None = None) -> str:
    """Return the key of a paraphrase within its item. submission_id: included if each submission has separate texts."""
    key = paraphrase if submission_id is None else f"{submission_id}\0{paraphrase}"
    return hashlib.sha256(key.encode()).hexdigest()


def texts_to_judge(material: Material, seed: int, items: int | None) -> list[TextToJudge]:
    """Return every distinct paraphrase of the drawn items.

    Raises CannotJudge, and InvalidForm if there are too many.
    """
    found: dict[TextPlace, TextToJudge] = {}
    for language, sentences in material.sentences.items():
        for item in draw_items(seed, language, list(sentences), items):
            for submission_id, texts in material.paraphrases.items():
                if (paraphrase := texts.get(language, {}).get(item)) is not None:
                    place = language, item, text_key(paraphrase)
                    first = found.get(place) or TextToJudge(place, sentences[item], paraphrase, ())
                    with_it = (*first.submissions, submission_id)
                    found[place] = TextToJudge(place, first.sentence, paraphrase, with_it)
    if len(found) > MOST_TEXTS:
        sentence = f"That makes {len(found):,} different paraphrases; at most {MOST_TEXTS:,} can be judged in a round."
        raise InvalidForm(sentence, fields={"items": sentence})
    check_items(found)
    return list(found.values())


def check_items(places: Iterable[TextPlace]) -> None:
    """Raise CannotJudge for an item id that is too long to store."""
    for language, item, _ in places:
        if len(item) > ITEM_CHARACTERS:
            raise CannotJudge(f"Item {item[:60]}… ({language}) has an id of more than {ITEM_CHARACTERS} characters.")


def add_entries(session: Session, judging: JudgingRound, languages: Mapping[UUID, Sequence[str]]) -> dict[UUID, int]:
    """Return the ids of the submissions' entries, creating missing ones. languages: those that each entered."""
    known = _entries(session, judging)
    new = [
        {"round_id": judging.id, "submission_id": submission_id, "languages": list(entered)}
        for submission_id, entered in languages.items()
        if submission_id not in known
    ]
    if new:
        session.execute(insert(JudgedEntry), new)
    return _entries(session, judging)


def add_texts(
    session: Session, judging: JudgingRound, texts: Sequence[TextToJudge], entries: Mapping[UUID, int]
) -> dict[TextPlace, int]:
    """Return the ids of these texts, creating missing ones and linking them to their entries."""
    known = _texts(session, judging)
    new = [text for text in texts if text.place not in known]
    if not new:
        return known
    rows = []
    for text in new:
        language, item, key = text.place
        rows.append(
            {
                "round_id": judging.id,
                "language": language,
                "item": item,
                "text_key": key,
                "sentence": text.sentence,
                "paraphrase": text.paraphrase,
            }
        )
    session.execute(insert(_TEXTS), rows)
    known = _texts(session, judging)
    answers = [
        {"entry_id": entries[submission_id], "text_id": known[text.place]}
        for text in new
        for submission_id in text.submissions
    ]
    session.execute(insert(_ANSWERS), answers)
    return known


def needs_judging() -> ColumnElement[bool]:
    """Return the condition that excludes texts whose score is 0 by rule: empty paraphrases, and unchanged sentences."""
    return ~or_(JudgedText.paraphrase == "", JudgedText.paraphrase == JudgedText.sentence)


def marks_of(judgement: Judgement) -> Marks:
    """Return the marks in a row."""
    return Marks(judgement.is_removed, judgement.mwe_sense, judgement.rest_sense, judgement.naturalness)


def _entries(session: Session, judging: JudgingRound) -> dict[UUID, int]:
    query = select(JudgedEntry.submission_id, JudgedEntry.id).where(JudgedEntry.round_id == judging.id)
    return {submission_id: entry_id for submission_id, entry_id in session.execute(query)}


def _texts(session: Session, judging: JudgingRound) -> dict[TextPlace, int]:
    columns = JudgedText.language, JudgedText.item, JudgedText.text_key, JudgedText.id
    query = select(*columns).where(JudgedText.round_id == judging.id)
    return {(language, item, key): text_id for language, item, key, text_id in session.execute(query)}
