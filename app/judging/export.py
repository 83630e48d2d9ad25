"""A round's marks as CSV, one row for each submission, item and annotator: what an import takes, too."""

from __future__ import annotations

import csv
import io

from sqlalchemy import select
from sqlalchemy.orm import Session

from app.judging.marks_file import spreadsheet_name
from app.judging.rows import marks_of
from app.models import JudgedAnswer, JudgedEntry, JudgedText, Judgement, JudgingAnnotator, JudgingRound
from scoring.judgement import QUESTIONS, is_whole

COLUMNS = ("submission", "language", "item", "annotator", "removed", *QUESTIONS, "decided_at")


def export_csv(session: Session, judging: JudgingRound) -> str:
    """Whole judgements only, by submission, language, item and annotator; a shared paraphrase once for each system."""
    query = (
        select(JudgedEntry.submission_id, JudgedText.language, JudgedText.item, JudgingAnnotator.name, Judgement)
        .join(JudgedAnswer, JudgedAnswer.entry_id == JudgedEntry.id)
        .join(JudgedText, JudgedText.id == JudgedAnswer.text_id)
        .join(Judgement, Judgement.text_id == JudgedText.id)
        .join(JudgingAnnotator, JudgingAnnotator.id == Judgement.annotator_id)
        .where(JudgedEntry.round_id == judging.id)
        .order_by(JudgedEntry.id, JudgedText.language, JudgedText.item, JudgingAnnotator.name)
    )
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow(COLUMNS)
    for submission_id, language, item, annotator, judgement in session.execute(query):
        marks = marks_of(judgement)
        if is_whole(marks):
            removed = "yes" if marks.is_removed else "no"
            given = marks.given if marks.is_removed else [None] * len(QUESTIONS)
            moment = judgement.decided_at.isoformat()
            writer.writerow([submission_id, language, item, spreadsheet_name(annotator), removed, *given, moment])
    return text.getvalue()
