"""Marks as CSV, `submission,item,annotator,mwe_sense,rest_sense,naturalness`, with every problem reported by line.

Two optional columns are `language`, needed if several languages share item ids, and `removed` (yes or no; default yes):
marks may be empty if the expression was not removed. All other columns are ignored.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Mapping, Sequence
from uuid import UUID

from sqlalchemy import Engine, bindparam, select

from app.base.db import reading
from app.judging.errors import InvalidMarks
from app.judging.rows import marks_of
from app.judging.selection import Material
from app.models import NAME_CHARACTERS, JudgedAnswer, JudgedEntry, JudgedText, Judgement, JudgingAnnotator
from evergold.scoring.characters import can_be_name
from evergold.scoring.errors import Problems, shorten
from evergold.scoring.judgement import HIGHEST, LOWEST, QUESTIONS, Marks, is_whole
from evergold.scoring.tables.reading import TableLimits, read_table
from evergold.value_words import did_you_mean

COLUMNS = ("submission", "item", "annotator", *QUESTIONS)
OPTIONAL = ("language", "removed")
#: A larger campaign comes in several files: storing more at once would hold up the web process.
MOST_ROWS = 10_000
_LIMITS = TableLimits(rows=MOST_ROWS)
_ALLOWED = {str(mark): mark for mark in range(LOWEST, HIGHEST + 1)}
_REMOVED = {"": True, "yes": True, "1": True, "true": True, "no": False, "0": False, "false": False}
_FORMULA_STARTS = ("=", "+", "-", "@")
#: Submission, language, item, annotator.
MarkPlace = tuple[UUID, str, str, str]


def submissions_named(data: bytes) -> list[UUID]:
    """Return the valid submission ids in the file, whose predictions have to be loaded."""
    table = read_table(data, COLUMNS, Problems(), optional=OPTIONAL, others=True, limits=_LIMITS)
    named = dict.fromkeys(table["submission"]) if table is not None else {}
    return [found for cell in named if (found := _uuid(cell)) is not None]


def read_marks(data: bytes, material: Material) -> dict[MarkPlace, Marks]:
    """Return the marks by submission, item and annotator. material: of every submission that may be judged.

    Raises InvalidMarks with all problems.
    """
    problems = Problems()
    table = read_table(data, COLUMNS, problems, optional=OPTIONAL, others=True, limits=_LIMITS)
    marks: dict[MarkPlace, Marks] = {}
    if table is not None:
        reader = _Reader(material, problems)
        names = [name for name in (*COLUMNS, *OPTIONAL) if name in table]
        for line, *cells in zip(table.lines, *(table[name] for name in names), strict=True):
            row = {name: cell.strip() for name, cell in zip(names, cells, strict=True)}
            found = reader.read(line, row)
            if found is not None:
                marks[found[0]] = found[1]
        if not table.lines and not problems.errors:
            problems.add("empty-file", "the file has no rows below the header")
    if problems.errors:
        raise InvalidMarks(problems.errors, problems.omitted)
    return marks


class _Reader:
    """The rows read so far, and their problems."""

    def __init__(self, material: Material, problems: Problems) -> None:
        self._material, self._problems = material, problems
        self._first: dict[MarkPlace, int] = {}

    def read(self, line: int, row: Mapping[str, str]) -> tuple[MarkPlace, Marks] | None:
        """Return the key and the marks of a row; if it is invalid, add its problems and return None."""
        before = len(self._problems.errors) + self._problems.omitted
        submission, language = self._submission(line, row["submission"]), None
        if submission is not None:
            language = self._language(line, submission, row["item"], row.get("language", ""))
        annotator = self._annotator(line, row["annotator"])
        marks = self._marks(line, row)
        if len(self._problems.errors) + self._problems.omitted > before or submission is None or language is None:
            return None
        place = submission, language, row["item"], annotator
        first = self._first.setdefault(place, line)
        if first != line:
            message = f"{shorten(annotator)} already judged this paraphrase on line {first}"
            self._problems.add("duplicate-row", message, line=line)
            return None
        return place, marks

    def _submission(self, line: int, cell: str) -> UUID | None:
        found = _uuid(cell)
        if not cell:
            self._problems.add("missing-submission", "the submission's ID is missing", line=line, column="submission")
        elif found is None or found not in self._material.paraphrases:
            message = f"{shorten(cell)} is not a scored submission to this task in this phase"
            self._problems.add("unknown-submission", message, line=line, column="submission", text=cell)
        else:
            return found
        return None

    def _language(self, line: int, submission: UUID, item: str, named: str) -> str | None:
        """Return the language of the item; if there is a problem, add it and return None."""
        sentences, entered = self._material.sentences, self._material.paraphrases[submission]
        if named and named.lower() not in sentences:
            message = f"{shorten(named)} is not a language of this task{did_you_mean(named.lower(), sentences)}"
            self._problems.add("unknown-language", message, line=line, column="language", text=named)
            return None
        having = [language for language in ([named.lower()] if named else sentences) if item in sentences[language]]
        found = [language for language in having if language in entered]
        if len(found) == 1:
            return found[0]
        if not item:
            message = "the item's ID is missing"
        elif not having:
            message = f"{shorten(item)} is not an item of {named.lower() if named else 'this task'}"
        elif not found:
            message = f"the submission has no paraphrases in {', '.join(having)}, to which item {shorten(item)} belongs"
        else:
            message = f"item {shorten(item)} is in {', '.join(found)}: add a column language"
        self._problems.add("unknown-item", message, line=line, column="item", text=item)
        return None

    def _annotator(self, line: int, cell: str) -> str:
        if not cell:
            self._problems.add("missing-annotator", "the annotator is missing", line=line, column="annotator")
        elif len(cell) > NAME_CHARACTERS or not can_be_name(cell):
            message = f"an annotator's name has at most {NAME_CHARACTERS} printable characters"
            self._problems.add("bad-annotator", message, line=line, column="annotator", text=cell)
        return _plain_name(cell)

    def _marks(self, line: int, row: Mapping[str, str]) -> Marks:
        removed = _REMOVED.get(row.get("removed", "").lower())
        if removed is None:
            message = f"removed must be yes or no, not {shorten(row['removed'])}"
            self._problems.add("bad-removed", message, line=line, column="removed", text=row["removed"])
        given: list[int | None] = []
        for question in QUESTIONS:
            cell = row[question]
            given.append(_ALLOWED.get(cell))
            if cell and cell not in _ALLOWED:
                message = f"a mark must be a number from {LOWEST} to {HIGHEST}, not {shorten(cell)}"
                self._problems.add("mark-out-of-range", message, line=line, column=question, text=cell)
            elif not cell and removed is not False:
                self._problems.add("missing-mark", "the mark is missing", line=line, column=question)
        return Marks(removed is not False, *given)


def spreadsheet_name(name: str) -> str:
    """Return the name, with an apostrophe in front if spreadsheets would read it as a formula."""
    return f"'{name}" if name.startswith(_FORMULA_STARTS) else name


def _plain_name(cell: str) -> str:
    return cell[1:] if cell.startswith("'") and cell[1:].startswith(_FORMULA_STARTS) else cell


def _uuid(cell: str) -> UUID | None:
    try:
        return UUID(cell.strip())
    except ValueError:
        return None


EXPORTED_COLUMNS = ("submission", "language", "item", "annotator", "removed", *QUESTIONS, "decided_at")


def csv_pieces(engine: Engine, round_id: int) -> Iterator[str]:
    """Yield complete judgements as CSV, by submission, language, item and annotator; a shared paraphrase once per
    system.

    Each piece has the judgements of one submission and is read only when needed, so that no round is in memory as a
    whole.
    """
    yield _lines([EXPORTED_COLUMNS])
    with reading(engine) as session:
        entries = session.scalars(
            select(JudgedEntry.id).where(JudgedEntry.round_id == round_id).order_by(JudgedEntry.id)
        )
        entry_ids = entries.all()
    for entry_id in entry_ids:
        with reading(engine) as session:
            rows = [row for found in session.execute(_OF_ENTRY, {"entry": entry_id}) if (row := _row(*found))]
        yield _lines(rows)


#: Built once, since each submission executes it.
_OF_ENTRY = (
    select(JudgedEntry.submission_id, JudgedText.language, JudgedText.item, JudgingAnnotator.name, Judgement)
    .join(JudgedAnswer, JudgedAnswer.entry_id == JudgedEntry.id)
    .join(JudgedText, JudgedText.id == JudgedAnswer.text_id)
    .join(Judgement, Judgement.text_id == JudgedText.id)
    .join(JudgingAnnotator, JudgingAnnotator.id == Judgement.annotator_id)
    .where(JudgedEntry.id == bindparam("entry"))
    .order_by(JudgedText.language, JudgedText.item, JudgingAnnotator.name)
)


def _row(
    submission_id: UUID, language: str, item: str, annotator: str, judgement: Judgement
) -> tuple[object, ...] | None:
    """Return the cells of a judgement; None if it is not complete."""
    marks = marks_of(judgement)
    if not is_whole(marks):
        return None
    given = marks.given if marks.is_removed else [None] * len(QUESTIONS)
    removed = "yes" if marks.is_removed else "no"
    moment = judgement.decided_at.isoformat()
    return (submission_id, language, item, spreadsheet_name(annotator), removed, *given, moment)


def _lines(rows: Iterable[Sequence[object]]) -> str:
    text = io.StringIO()
    csv.writer(text).writerows(rows)
    return text.getvalue()
