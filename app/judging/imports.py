"""Imports marks from organisers' files: all or nothing, repeatable."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import cast
from uuid import UUID

from sqlalchemy import Table, insert, select, update
from sqlalchemy.orm import Session

from app.base.errors import NotFound
from app.judging.errors import CannotJudge
from app.judging.marks_csv import MarkPlace
from app.judging.reading import Brought
from app.judging.rounds import RoundForm, add_round, check_form, check_unpublished, find_round, lock_round, subject_of
from app.judging.rows import TextToJudge, add_entries, add_texts, text_key
from app.judging.views import ImportOut
from app.models import Competition, Judgement, JudgingAnnotator, JudgingRound, PhaseTask, RoundSource
from app.people.act import UserAct
from evergold.scoring.judgement import Marks

IMPORT_LIMIT_BYTES = 4 * 1024 * 1024
_JUDGEMENTS = cast(Table, Judgement.__table__)


def import_marks(
    act: UserAct, competition: Competition, phase_task: PhaseTask, brought: Brought, *, name: str
) -> ImportOut:
    """Import new and changed marks, and create the round if there is none; return the changes. Importing a file again
    changes nothing.

    Other marks of the round are unaffected. Raises InvalidForm, CannotJudge for a round of another task or one judged
    in the browser, RoundPublished.
    """
    session = act.session
    judging = _round_for(session, competition, phase_task, name, act.now)
    texts = _texts(brought)
    entries = add_entries(session, judging, brought.languages)
    ids = add_texts(session, judging, list(texts.values()), entries)
    annotators = _add_annotators(session, judging, brought.marks)
    wanted = {
        (annotators[language, annotator], ids[texts[submission, language, item].place]): marks
        for (submission, language, item, annotator), marks in brought.marks.items()
    }
    imported = _write(session, judging, wanted, act.now)
    what = {"added": imported.added, "changed": imported.changed, "unchanged": imported.unchanged}
    act.record("judging.import", subject_of(competition, judging), what)
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
        raise CannotJudge(
            f"Round '{name}' is about another task or phase; choose another name for the marks of this task and phase."
        )
    if judging.source != RoundSource.IMPORT:
        raise CannotJudge(f"Round '{name}' is judged in the browser; choose another name for imported marks.")
    check_unpublished(judging)
    return judging


def _texts(brought: Brought) -> dict[tuple[UUID, str, str], TextToJudge]:
    """Return each submission's paraphrase separately, because the file has marks per submission."""
    return {
        (submission, language, item): TextToJudge(
            (language, item, text_key(paraphrase, submission)), sentence, paraphrase, (submission,)
        )
        for (submission, language, item), (sentence, paraphrase) in brought.texts.items()
    }


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


def _write(
    session: Session, judging: JudgingRound, wanted: Mapping[tuple[int, int], Marks], now: datetime
) -> ImportOut:
    known = _marks_by_place(session, judging)
    new, changed = [], []
    for (annotator_id, text_id), marks in wanted.items():
        found = known.get((annotator_id, text_id))
        if found is None:
            new.append({"annotator_id": annotator_id, "text_id": text_id, **_columns(marks), "decided_at": now})
        elif found[1] != marks:
            changed.append({"id": found[0], **_columns(marks), "decided_at": now})
    if new:
        session.execute(insert(_JUDGEMENTS), new)
    if changed:
        session.execute(update(Judgement), changed)
    return ImportOut(
        round=judging.name,
        added=len(new),
        changed=len(changed),
        unchanged=len(wanted) - len(new) - len(changed),
    )


def _marks_by_place(session: Session, judging: JudgingRound) -> dict[tuple[int, int], tuple[int, Marks]]:
    """Return the id and the marks of every judgement of the round, by annotator and text."""
    place = Judgement.annotator_id, Judgement.text_id, Judgement.id
    marks = Judgement.is_removed, Judgement.mwe_sense, Judgement.rest_sense, Judgement.naturalness
    query = select(*place, *marks).join(JudgingAnnotator, JudgingAnnotator.id == Judgement.annotator_id)
    rows = session.execute(query.where(JudgingAnnotator.round_id == judging.id))
    return {
        (row.annotator_id, row.text_id): (
            row.id,
            Marks(row.is_removed, row.mwe_sense, row.rest_sense, row.naturalness),
        )
        for row in rows
    }


def _columns(marks: Marks) -> dict[str, int | bool | None]:
    return {
        "is_removed": marks.is_removed,
        "mwe_sense": marks.mwe_sense,
        "rest_sense": marks.rest_sense,
        "naturalness": marks.naturalness,
    }
