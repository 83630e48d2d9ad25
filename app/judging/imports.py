"""Import of marks from organisers' files: all or nothing, repeatable."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from sqlalchemy import insert, select, update
from sqlalchemy.orm import Session

from app.base.errors import NotFound
from app.base.storage import Storage
from app.judging.errors import CannotJudge
from app.judging.marks_csv import MarkPlace, MarksFile, read_marks, submissions_named
from app.judging.rounds import RoundForm, add_round, check_form, check_unpublished, find_round, lock_round, subject_of
from app.judging.rows import TextPlace, TextToJudge, add_entries, add_texts, check_items, marks_of, text_key
from app.judging.selection import MOST_SUBMISSIONS, Material, read_material, scored_submissions
from app.models import Competition, Judgement, JudgingAnnotator, JudgingRound, PhaseTask, RoundSource, User
from app.people.audit import record
from evergold.scoring.judgement import Marks

IMPORT_LIMIT_BYTES = 32 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Brought:
    """Marks from a file, with the material they refer to."""

    file: MarksFile
    material: Material


@dataclass(frozen=True, slots=True)
class Imported:
    """Changes made by an import."""

    judging: JudgingRound
    added: int
    changed: int
    unchanged: int


def read_file(session: Session, storage: Storage, phase_task: PhaseTask, data: bytes) -> Brought:
    """Read marks from the file and check them against the predictions it names. Raises InvalidMarks, CannotJudge."""
    named = submissions_named(data)
    if len(named) > MOST_SUBMISSIONS:
        raise CannotJudge(f"At most {MOST_SUBMISSIONS} submissions can be judged; the file has {len(named)}.")
    submissions = scored_submissions(session, phase_task, named)
    material = read_material(storage, phase_task, submissions)
    file = read_marks(data, material)
    check_items((language, item, "") for _, language, item, _ in file.marks)
    return Brought(file, material)


def import_marks(
    session: Session,
    competition: Competition,
    phase_task: PhaseTask,
    file: Brought,
    *,
    name: str,
    actor: User,
    now: datetime,
) -> Imported:
    """Import new and changed marks; create the round if there is none. Importing a file again changes nothing.

    Other marks of the round are unaffected. Raises InvalidForm, CannotJudge for a round of another task or one judged
    in the browser, RoundPublished.
    """
    judging = _round_for(session, competition, phase_task, name, now)
    texts = _texts(file)
    entries = add_entries(session, judging, _languages(file))
    ids = add_texts(session, judging, list(texts.values()), entries)
    annotators = _add_annotators(session, judging, file.file.marks)
    wanted = {
        (annotators[language, annotator], ids[_place(file, submission, language, item)]): marks
        for (submission, language, item, annotator), marks in file.file.marks.items()
    }
    imported = _write(session, judging, wanted, now)
    what = {"added": imported.added, "changed": imported.changed, "unchanged": imported.unchanged}
    record(session, actor, "judging.import", subject_of(competition, judging), what, now=now)
    return imported


def _round_for(
    session: Session, competition: Competition, phase_task: PhaseTask, name: str, now: datetime
) -> JudgingRound:
    form = RoundForm(name=name, seed=0)
    check_form(form)
    try:
        judging = find_round(session, competition, name)
    except NotFound:
        return add_round(session, competition, phase_task, form, RoundSource.IMPORT, now)
    lock_round(session, judging)
    if judging.phase_task_id != phase_task.id:
        raise CannotJudge(f"Round '{name}' is about another task or phase; give the marks of this one another name.")
    if judging.source != RoundSource.IMPORT:
        raise CannotJudge(f"Round '{name}' is judged in the browser; give imported marks another name.")
    check_unpublished(judging)
    return judging


def _texts(brought: Brought) -> dict[TextPlace, TextToJudge]:
    """Return each submission's paraphrase separately, as the file has marks per submission."""
    found = {}
    for submission, language, item, _ in brought.file.marks:
        place = _place(brought, submission, language, item)
        paraphrase = brought.material.paraphrases[submission][language][item]
        found[place] = TextToJudge(place, brought.material.sentences[language][item], paraphrase, (submission,))
    return found


def _place(brought: Brought, submission: UUID, language: str, item: str) -> TextPlace:
    return language, item, text_key(brought.material.paraphrases[submission][language][item], submission)


def _languages(brought: Brought) -> dict[UUID, list[str]]:
    named = dict.fromkeys(submission for submission, *_ in brought.file.marks)
    return {submission: list(brought.material.paraphrases[submission]) for submission in named}


def _add_annotators(session: Session, judging: JudgingRound, places: Iterable[MarkPlace]) -> dict[tuple[str, str], int]:
    wanted = dict.fromkeys((language, annotator) for _, language, _, annotator in places)
    known = _annotators(session, judging)
    new = [
        {"round_id": judging.id, "language": language, "name": name, "user_id": None}
        for language, name in wanted
        if (language, name) not in known
    ]
    if new:
        session.execute(insert(JudgingAnnotator), new)
    return _annotators(session, judging)


def _annotators(session: Session, judging: JudgingRound) -> dict[tuple[str, str], int]:
    columns = JudgingAnnotator.language, JudgingAnnotator.name, JudgingAnnotator.id
    query = select(*columns).where(JudgingAnnotator.round_id == judging.id)
    return {(language, name): annotator_id for language, name, annotator_id in session.execute(query)}


def _write(session: Session, judging: JudgingRound, wanted: Mapping[tuple[int, int], Marks], now: datetime) -> Imported:
    query = select(Judgement).join(JudgingAnnotator, JudgingAnnotator.id == Judgement.annotator_id)
    known = {
        (row.annotator_id, row.text_id): row
        for row in session.scalars(query.where(JudgingAnnotator.round_id == judging.id))
    }
    new, changed = [], []
    for (annotator_id, text_id), marks in wanted.items():
        row = known.get((annotator_id, text_id))
        if row is None:
            new.append({"annotator_id": annotator_id, "text_id": text_id, **_columns(marks), "decided_at": now})
        elif marks_of(row) != marks:
            changed.append({"id": row.id, **_columns(marks), "decided_at": now})
    if new:
        session.execute(insert(Judgement), new)
    if changed:
        session.execute(update(Judgement), changed)
    return Imported(judging, len(new), len(changed), len(wanted) - len(new) - len(changed))


def _columns(marks: Marks) -> dict[str, int | bool | None]:
    return {
        "is_removed": marks.is_removed,
        "mwe_sense": marks.mwe_sense,
        "rest_sense": marks.rest_sense,
        "naturalness": marks.naturalness,
    }
