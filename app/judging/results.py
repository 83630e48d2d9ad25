"""Results of a round: human scores by system and language, agreement of annotators, progress.

An undefined score is None with a reason, never 0 or NaN; a published round stores `document_of`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from sqlalchemy import and_, func, or_, select, true
from sqlalchemy.orm import Session

from app.competitions.columns import HUMAN_SCORE
from app.judging.rows import marks_of, needs_judging
from app.judging.views import JudgingProgress
from app.models import (
    CompetitionTask,
    JudgedAnswer,
    JudgedEntry,
    JudgedText,
    Judgement,
    JudgingAnnotator,
    JudgingRound,
    PhaseTask,
    RoundSource,
)
from evergold.scoring.agreement import ordinal_alpha
from evergold.scoring.judgement import FULL, HIGHEST, QUESTIONS, Marks, is_whole, manual_score, mean, weighted_sum
from evergold.scoring.task import NOT_ENTERED, signature
from evergold.scoring.tasks import TASKS

MACRO = "macro"
NOT_JUDGED = "not judged yet"
#: Values for which alpha is computed: each question, and the resulting score.
MEASURES = (*QUESTIONS, "score")


@dataclass(frozen=True, slots=True)
class Judged:
    """All data of a round that its results use.

    texts: language, and whether the score is 0 by rule, by text id. answers: the texts of each entry. marks: only
    complete ones, by text and annotator.
    """

    entries: Mapping[int, tuple[UUID, Sequence[str]]]
    texts: Mapping[int, tuple[str, bool]]
    answers: Mapping[int, Sequence[int]]
    marks: Mapping[int, Mapping[str, Marks]]

    @property
    def languages(self) -> list[str]:
        """The languages with texts to judge, sorted."""
        return sorted({language for language, _ in self.texts.values()})


def load_judged(session: Session, judging: JudgingRound) -> Judged:
    """Load the data of a round from the database."""
    entries = session.scalars(select(JudgedEntry).where(JudgedEntry.round_id == judging.id).order_by(JudgedEntry.id))
    texts = session.execute(
        select(JudgedText.id, JudgedText.language, needs_judging()).where(JudgedText.round_id == judging.id)
    )
    answers: defaultdict[int, list[int]] = defaultdict(list)
    connected = select(JudgedAnswer).join(JudgedEntry, JudgedEntry.id == JudgedAnswer.entry_id)
    for answer in session.scalars(connected.where(JudgedEntry.round_id == judging.id)):
        answers[answer.entry_id].append(answer.text_id)
    marks: defaultdict[int, dict[str, Marks]] = defaultdict(dict)
    given = select(Judgement, JudgingAnnotator.name).join(
        JudgingAnnotator, JudgingAnnotator.id == Judgement.annotator_id
    )
    for judgement, name in session.execute(given.where(JudgingAnnotator.round_id == judging.id)):
        if is_whole(marked := marks_of(judgement)):
            marks[judgement.text_id][name] = marked
    return Judged(
        entries={entry.id: (entry.submission_id, entry.languages) for entry in entries},
        texts={text_id: (language, not is_needed) for text_id, language, is_needed in texts},
        answers=answers,
        marks=marks,
    )


def document_of(session: Session, judging: JudgingRound) -> dict[str, Any]:
    """Return all results of the round as JSON.

    `{"languages": ["en"], "annotators": {"en": 3}, "agreement": {"en": {"mwe_sense": {"alpha", "reason", "units"}, …}},
    "scores": {submission: {"en": {"value", "reason", "judged", "items"}, "macro": …}}, "signatures": {"en": …}}`.

    `macro` exists if there are several languages: the mean over all of them, where one not entered counts as 0.
    """
    judged = load_judged(session, judging)
    languages = judged.languages
    return {
        "languages": languages,
        "annotators": {language: len(_annotators(judged, language)) for language in languages},
        "agreement": {language: _agreement(judged, language) for language in languages},
        "scores": {
            str(submission_id): _scores(judged, entry_id, entered)
            for entry_id, (submission_id, entered) in judged.entries.items()
        },
        "signatures": _signatures(session, judging, judged),
    }


def open_texts(session: Session, judging: JudgingRound) -> dict[str, int]:
    """Return the number of unjudged paraphrases by language, without languages that have none."""
    judged = load_judged(session, judging)
    found: defaultdict[str, int] = defaultdict(int)
    for text_id, (language, is_settled) in judged.texts.items():
        if not is_settled and not judged.marks.get(text_id):
            found[language] += 1
    return dict(found)


def progress_of(session: Session, judging: JudgingRound) -> list[JudgingProgress]:
    """Return the progress of every annotator, by language and name."""
    in_browser = judging.source == RoundSource.BROWSER
    counted = session.execute(
        select(JudgedText.language, func.count())
        .where(JudgedText.round_id == judging.id, needs_judging() if in_browser else true())
        .group_by(JudgedText.language)
    )
    totals = {language: count for language, count in counted}
    marks = (Judgement.mwe_sense, Judgement.rest_sense, Judgement.naturalness)
    whole = or_(~Judgement.is_removed, and_(*(mark.is_not(None) for mark in marks)))
    given = session.execute(
        select(Judgement.annotator_id, func.count())
        .join(JudgingAnnotator, JudgingAnnotator.id == Judgement.annotator_id)
        .where(JudgingAnnotator.round_id == judging.id, whole)
        .group_by(Judgement.annotator_id)
    )
    done = {annotator_id: count for annotator_id, count in given}
    everybody = session.scalars(
        select(JudgingAnnotator)
        .where(JudgingAnnotator.round_id == judging.id)
        .order_by(JudgingAnnotator.language, JudgingAnnotator.name)
    )
    return [
        JudgingProgress(
            language=one.language,
            annotator=one.name,
            is_active=one.user_id is not None,
            done=done.get(one.id, 0),
            total=totals.get(one.language, 0),
        )
        for one in everybody
    ]


# ------------------------------------------------------------------------------------------------------------- numbers


def _scores(judged: Judged, entry_id: int, entered: Sequence[str]) -> dict[str, dict[str, Any]]:
    """Return a system's scores by language, with their mean if there are several."""
    by_language = {
        language: _score(judged, entry_id, language)
        if language in entered
        else {"value": None, "reason": NOT_ENTERED, "judged": 0, "items": 0}
        for language in judged.languages
    }
    return {**by_language, MACRO: _macro(by_language)} if len(by_language) > 1 else by_language


def _score(judged: Judged, entry_id: int, language: str) -> dict[str, Any]:
    """Return a system's score: the mean over judged items of the mean over their annotators."""
    texts = [text_id for text_id in judged.answers.get(entry_id, ()) if judged.texts[text_id][0] == language]
    values = [value for text_id in texts if (value := _text_score(judged, text_id)) is not None]
    value = mean(values)
    reason = NOT_JUDGED if value is None else None
    return {"value": value, "reason": reason, "judged": len(values), "items": len(texts)}


def _text_score(judged: Judged, text_id: int) -> float | None:
    scores = [score for marks in judged.marks.get(text_id, {}).values() if (score := manual_score(marks)) is not None]
    return 0.0 if not scores and judged.texts[text_id][1] else mean(scores)


def _macro(scores: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    counts = {name: sum(score[name] for score in scores.values()) for name in ("judged", "items")}
    waiting = [language for language, score in scores.items() if score["reason"] == NOT_JUDGED]
    if waiting or all(score["reason"] == NOT_ENTERED for score in scores.values()):
        reason = f"{NOT_JUDGED}: {', '.join(waiting)}" if waiting else NOT_ENTERED
        return {"value": None, "reason": reason, **counts}
    return {"value": mean([score["value"] or 0.0 for score in scores.values()]), "reason": None, **counts}


def _annotators(judged: Judged, language: str) -> set[str]:
    return {
        name for text_id, by_name in judged.marks.items() if judged.texts[text_id][0] == language for name in by_name
    }


def _agreement(judged: Judged, language: str) -> dict[str, dict[str, Any]]:
    """Return Krippendorff's alpha of each question, and of the score."""
    marked = [marks for text_id, marks in judged.marks.items() if judged.texts[text_id][0] == language]
    found = {}
    for measure in MEASURES:
        ratings = [
            {name: mark for name, marks in one.items() if (mark := _mark(marks, measure)) is not None} for one in marked
        ]
        agreement = ordinal_alpha(ratings, FULL if measure == "score" else HIGHEST)
        found[measure] = {"alpha": agreement.alpha, "reason": agreement.reason, "units": agreement.units}
    return found


def _mark(marks: Marks, measure: str) -> int | None:
    """Return an annotator's mark; None for single questions if the expression was not removed."""
    if measure == "score":
        return weighted_sum(marks)
    given: int | None = getattr(marks, measure)
    return given if marks.is_removed else None


def _signatures(session: Session, judging: JudgingRound, judged: Judged) -> dict[str, str]:
    """Return the signatures of each language's scores and of their mean."""
    task_type = session.scalars(
        select(CompetitionTask.task_type)
        .join(PhaseTask, PhaseTask.task_id == CompetitionTask.id)
        .where(PhaseTask.id == judging.phase_task_id)
    ).one()
    drawn: dict[str, object] = {"marks": "2a+b+c/12", "not_removed": 0, "source": judging.source}
    if judging.source == RoundSource.BROWSER:
        drawn |= {"items": judging.items_per_language or "all", "seed": judging.seed}

    def signed(split: str, **more: object) -> str:
        return signature(task_type, TASKS[task_type].version, HUMAN_SCORE, split, **drawn, **more)

    found = {language: signed(language, annotators=len(_annotators(judged, language))) for language in judged.languages}
    if len(found) > 1:
        counts = [len(_annotators(judged, language)) for language in judged.languages]
        found[MACRO] = signed(MACRO, annotators=counts, macro="mean", languages=judged.languages)
    return found
