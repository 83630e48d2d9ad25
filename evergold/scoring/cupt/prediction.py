"""Check a predicted CUPT file against the blind file (same sentences and tokens, line by line) and read its MWEs.

Comments, lemmas and every column but ID, FORM and PARSEME:MWE may differ: scoring takes them from gold.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from evergold.scoring.cupt.corpus import CuptItems, Mwe
from evergold.scoring.cupt.lines import Header, count_lines, is_readable, opened, sentences
from evergold.scoring.cupt.mismatch import explain_mismatch, note_missing
from evergold.scoring.cupt.reader import PredictionReader
from evergold.scoring.errors import InvalidPrediction, Problems, quoted

#: Most lines a file can have: this many per token plus this many per sentence.
MOST_LINES_TIMES, MOST_COMMENTS = 4, 1000
#: Up to this size in all languages, reading sentence by sentence is faster than loading numpy.
SMALL_BYTES = 4 * 1024 * 1024
#: More different categories in one file are no category system: the result tables would never end.
MOST_CATEGORIES = 100


@dataclass(frozen=True, slots=True)
class PredictedMwes:
    """The n MWEs of one predicted file, in the order of its sentences.

    lemmas: n `lemma_key`s by the file's own LEMMA column. No score uses them; the official evaluator and its report do.
    fingerprint: that of the items against which the file was read.
    """

    mwes: tuple[Mwe, ...]
    lemmas: tuple[bytes, ...]
    fingerprint: str


def read_predicted_mwes(
    data: bytes,
    items: CuptItems,
    problems: Problems,
    *,
    file: str | None = None,
    categories: Sequence[str] | None = None,
    others: Mapping[str, CuptItems] | None = None,
) -> PredictedMwes:
    """Read the MWEs of a predicted file; a sentence without MWEs costs next to nothing. Takes time linear in the file's
    length.

    data: the file. items: what it must cover. problems: everything wrong is added there, with line and sentence; the
    caller raises, so that several files can be reported at once. file: its name for messages. categories: those
    allowed, None for any. others: the items of other languages by name, to recognise swapped files.
    """
    try:
        data, header = opened(data, file, problems, InvalidPrediction)
    except InvalidPrediction:
        return PredictedMwes((), (), items.fingerprint)
    reader = PredictionReader(items, header, problems, file)
    if not _takes_in_at_once(data, header, reader, 1 + len(others or ())):
        if _has_far_too_many_lines(data, reader):
            return PredictedMwes((), (), items.fingerprint)
        if not _reads_by_sentence(data, header, reader, others or {}):
            return PredictedMwes((), (), items.fingerprint)
    _note_end(data, reader)
    _note_unannotated(reader)
    _note_categories(reader, categories)
    return PredictedMwes(tuple(reader.mwes), tuple(reader.lemmas), items.fingerprint)


def _takes_in_at_once(data: bytes, header: Header, reader: PredictionReader, languages: int) -> bool:
    """Read the file the fast way and return True; return False, with nothing done, if it must be read sentence by
    sentence.

    Both ways give the same result, except for files with more lines or codes than one of them accepts.
    """
    lines = count_lines(data)
    usual = lines < _most_lines(reader.items) and not reader.may_be_unbearable(data, lines)
    if "numpy" not in sys.modules and languages * len(data) <= SMALL_BYTES and usual:
        return False
    from evergold.scoring.cupt.scan import scan

    coded = scan(data, header, reader.items)
    if coded is not None:
        reader.accept_all(coded)
    return coded is not None


def _most_lines(items: CuptItems) -> int:
    return MOST_LINES_TIMES * items.first_rows[-1] + MOST_COMMENTS * len(items)


def _has_far_too_many_lines(data: bytes, reader: PredictionReader) -> bool:
    """Return whether the file has far too many lines to be meant for these items, and report that.

    Reading it line by line would only cost memory.
    """
    reader.line_count, tokens = data.count(b"\n") + (not data.endswith(b"\n")), reader.items.first_rows[-1]
    far_too_many = reader.line_count > _most_lines(reader.items)
    if far_too_many:
        message = f"the file has {reader.line_count} lines, but the blind file has {tokens} tokens"
        reader.problems.add("too-many-lines", message, file=reader.file)
    return far_too_many


def _reads_by_sentence(data: bytes, header: Header, reader: PredictionReader, others: Mapping[str, CuptItems]) -> bool:
    """Read the file sentence by sentence; from the first unexpected one on, report the differences.

    Return False if the differences come from the file's encoding, which is then the only thing to report; otherwise
    True.
    """
    remaining = sentences(data, header)
    for sentence in remaining:
        if not reader.accept(sentence):
            if not is_readable(data, reader.file, reader.problems):
                return False
            explain_mismatch([sentence, *remaining], reader, others)
            return True
    note_missing(reader, reader.position, len(reader.items), None)
    return True


def _note_end(data: bytes, reader: PredictionReader) -> None:
    """Warn of a last line without its end, or of a missing empty line after the last sentence."""
    if data.endswith(b"\n\n"):
        return
    line = data.count(b"\n")
    message = "an empty line is missing after the last sentence"
    if not data.endswith(b"\n"):
        last = data[data.rfind(b"\n") + 1 :].rpartition(b"\t")[2].decode("utf-8", "replace")
        message = f"the last line has no line end: it is read unchanged, ending in {quoted(last)}"
        line += 1
    reader.problems.add("missing-final-newline", message, file=reader.file, line=line, severity="warning")


def _note_unannotated(reader: PredictionReader) -> None:
    if reader.unannotated:
        tokens = f"{reader.unannotated} tokens have" if reader.unannotated > 1 else "a token has"
        message = f"{tokens} `_` in PARSEME:MWE, as in the blind file: write `*` for every token outside all MWEs"
        reader.problems.add("unannotated", message, file=reader.file, line=reader.first_unannotated)


def _note_categories(reader: PredictionReader, allowed: Sequence[str] | None) -> None:
    if allowed is not None:
        for category, (line, name) in reader.categories.items():
            if category not in allowed:
                message = f"unknown category {category}; the task has {', '.join(allowed)} (sentence {name})"
                reader.problems.add("unknown-category", message, file=reader.file, line=line, text=category)
    elif len(reader.categories) > MOST_CATEGORIES:
        message = f"{len(reader.categories)} different categories; at most {MOST_CATEGORIES} can be reported"
        reader.problems.add("too-many-categories", message, file=reader.file)
