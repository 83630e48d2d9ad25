"""The organisers' CUPT files: blind, annotated and training; compact, to stay in memory for many predictions."""

from __future__ import annotations

import hashlib
import re
from array import array
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import repeat
from typing import NamedTuple

from evergold.scoring.cupt.codes import NO_MWE, Tokens, read_mwes
from evergold.scoring.cupt.lines import (
    FORM,
    ID,
    LEMMA,
    MWE,
    Header,
    Sentence,
    is_readable,
    note_columns,
    noter,
    opened,
    sentence_id,
    sentences,
)
from evergold.scoring.errors import InvalidFile, InvalidGold, InvalidItems, Problems
from evergold.scoring.gold_values import note_labels
from evergold.scoring.tables.row_problems import RowProblems

#: Nearly all IDs are among these.
_LOW_NUMBERS = frozenset(b"%d" % number for number in range(200))
_TOKEN_ID = re.compile(rb"[0-9]{1,6}(?:\.[0-9]{1,6}|-[0-9]{1,6})?")


class Mwe(NamedTuple):
    """An annotated MWE: its sentence (from 0), the positions of its tokens, its category or None."""

    sentence: int
    tokens: Tokens
    category: str | None


@dataclass(frozen=True, slots=True)
class CuptItems:
    """The sentences and tokens that a prediction of one file must cover: n sentences, m token lines.

    Token lines include ranges and empty nodes.

    sentence_ids: names for messages (the last word of `source_sent_id` or `sent_id`, else the sentence's number).
    keys: `ID<tab>FORM<tab>` of every token line, concatenated.
    key_starts, first_rows: n + 1 offsets each, the start of each sentence in `keys` and among the token lines.
    range_rows: indices of the token lines that are ranges.
    fingerprint: equal if and only if the tokens are; detects gold and prediction of different texts.
    """

    sentence_ids: tuple[str, ...]
    keys: bytes
    key_starts: array[int]
    first_rows: array[int]
    range_rows: array[int]
    fingerprint: str

    def __len__(self) -> int:
        return len(self.sentence_ids)

    def key(self, sentence: int) -> bytes:
        """Return `ID<tab>FORM<tab>` of the token lines of one sentence."""
        return self.keys[self.key_starts[sentence] : self.key_starts[sentence + 1]]

    def ids(self, sentence: int) -> list[bytes]:
        """Return the ID column of one sentence, one entry per token line."""
        return self.key(sentence).split(b"\t")[:-1:2]

    def forms(self, sentence: int) -> list[bytes]:
        """Return the FORM column of one sentence, one entry per position, without ranges."""
        forms, ranges = self.key(sentence).split(b"\t")[1::2], self.ranges(sentence)
        return [form for row, form in enumerate(forms) if row not in ranges] if ranges else forms

    def ranges(self, sentence: int) -> list[int]:
        """Return the indices of the token lines of one sentence that are ranges, counted from its first."""
        if not self.range_rows:  # as in many languages
            return []
        first, last = self.first_rows[sentence], self.first_rows[sentence + 1]
        start, end = bisect_left(self.range_rows, first), bisect_left(self.range_rows, last)
        return [row - first for row in self.range_rows[start:end]]


@dataclass(frozen=True, slots=True)
class CuptGold:
    """An annotated file, compact: its items, the lemmas of each sentence's positions (joined by tabs), its MWEs."""

    items: CuptItems
    lemmas: tuple[bytes, ...]
    mwes: tuple[Mwe, ...]


@dataclass(frozen=True, slots=True)
class TrainingMwes:
    """Lemmas and forms of the MWEs annotated in training files.

    lemmas: one `lemma_key` per annotated multiset of lemmas.
    spans: the forms from first to last token, including words in gaps, joined by tabs.
    """

    lemmas: frozenset[bytes]
    spans: frozenset[bytes]

    def __or__(self, other: TrainingMwes) -> TrainingMwes:
        return TrainingMwes(self.lemmas | other.lemmas, self.spans | other.spans)


def lemma_key(lemmas: Sequence[bytes]) -> bytes:
    """Encode the multiset of some lemmas as one value: equal for any order of the tokens."""
    return b"\t".join(sorted(lemmas))


def read_items(data: bytes, file: str | None = None) -> CuptItems:
    """Read the sentences and tokens of a blind (or annotated) file; the MWE column may hold anything.

    file: its name for messages. Raises InvalidItems with every problem: header, columns, IDs, no sentence at all.
    """
    problems = Problems()
    items = _read_corpus(data, file, problems, InvalidItems, annotated=False).items
    problems.raise_if_any(InvalidItems)
    return items


def read_gold(data: bytes, file: str | None = None) -> CuptGold:
    """Read the items of an annotated file, its lemmas and MWEs. A code on a range belongs to the words of the range.

    Raises InvalidGold with every problem: those that `read_items` refuses, no LEMMA column, the errors of `read_mwes`.
    """
    problems = Problems()
    gold = _read_corpus(data, file, problems, InvalidGold, annotated=True)
    problems.raise_if_any(InvalidGold)
    return gold


def read_training(data: bytes, file: str | None = None) -> TrainingMwes:
    """Read the lemmas and forms of the MWEs in a training file.

    As in the official evaluator a lemma `_` is replaced by the form here (not so in the test data), and codes on ranges
    do not count. Raises InvalidGold: header, columns, the errors of `read_mwes`.
    """
    mwes = read_training_mwes(data, file)
    return TrainingMwes(frozenset(mwe.lemmas for mwe in mwes), frozenset(mwe.span for mwe in mwes))


class TrainingMwe(NamedTuple):
    """An MWE as training data: its sentence (from 0), its `lemma_key`, the forms from first to last token."""

    sentence: int
    lemmas: bytes
    span: bytes


def read_training_mwes(data: bytes, file: str | None = None) -> list[TrainingMwe]:
    """List the MWEs of a training file in order. Rules and errors: `read_training`."""
    problems = Problems()
    if not is_readable(data, file, problems):
        raise InvalidGold(problems.errors, problems.omitted)
    data, header = opened(data, file, problems, InvalidGold, (ID, FORM, LEMMA, MWE))
    found: list[TrainingMwe] = []
    at_the_end = header.mwe == len(header.names) - 1
    for number, sentence in enumerate(sentences(data, header)):
        if at_the_end and all(map(bytes.endswith, sentence.rows, repeat(b"\t" + NO_MWE))):  # as in most sentences
            note_columns(sentence, header, file, problems, sentence_id(sentence.comments))
            continue
        name = sentence_id(sentence.comments)
        columns = _Columns(sentence, header) if note_columns(sentence, header, file, problems, name) else None
        if columns is None or not columns.has_codes:
            continue
        words = [row for row, token_id in enumerate(columns.ids) if b"-" not in token_id]
        coded = {place: columns.mwes[row] for place, row in enumerate(words) if columns.mwes[row] != NO_MWE}
        note = noter(problems, file, [sentence.lines[row] for row in words], name)
        for tokens, _ in read_mwes(coded, (), (), note):
            lemmas = lemma_key([columns.lemma_or_form(words[token]) for token in tokens])
            span = b"\t".join([columns.forms[row] for row in words[tokens[0] : tokens[-1] + 1]])
            found.append(TrainingMwe(number, lemmas, span))
    problems.raise_if_any(InvalidGold)
    return found


def _read_corpus(
    data: bytes, file: str | None, problems: Problems, error: type[InvalidFile], *, annotated: bool
) -> CuptGold:
    """Read the whole file; annotated: False to leave out the lemmas and MWEs (a blind file has none)."""
    if not is_readable(data, file, problems):
        raise error(problems.errors, problems.omitted)
    data, header = opened(data, file, problems, error, (ID, FORM, LEMMA, MWE) if annotated else (ID, FORM, MWE))
    names: list[str] = []
    keys: list[bytes] = []
    key_starts, first_rows, range_rows = array("q", [0]), array("q", [0]), array("q")
    lemmas: list[bytes] = []
    mwes: list[Mwe] = []
    categories: dict[str, int] = {}
    for number, sentence in enumerate(sentences(data, header)):
        name = sentence_id(sentence.comments)
        names.append(name or f"number {number + 1}")
        sound = note_columns(sentence, header, file, problems, name)
        columns = _Columns(sentence if sound else _NO_SENTENCE, header)
        ids_are_sound, ranges = _check_ids(columns.ids, sentence, file, problems)
        keys.append(columns.key())
        range_rows.extend(first_rows[-1] + row for row in ranges)
        key_starts.append(key_starts[-1] + len(keys[-1]))
        first_rows.append(first_rows[-1] + len(columns.ids))
        if ids_are_sound and annotated:
            of_words = [lemma for row, lemma in enumerate(columns.lemmas) if row not in ranges] if ranges else None
            lemmas.append(b"\t".join(columns.lemmas if of_words is None else of_words))
            if columns.has_codes:
                coded = {place: field for place, field in enumerate(columns.mwes) if field != NO_MWE}
                note = noter(problems, file, sentence.lines, names[-1])
                for one in read_mwes(coded, ranges, columns.ids, note):
                    mwes.append(Mwe(number, *one))
                    if mwes[-1].category is not None:
                        categories.setdefault(mwes[-1].category, sentence.lines[0])
    if not names:
        problems.add("empty-file", "the file has no sentence", file=file, line=1)
    _note_categories(categories, file, problems)
    all_keys = b"".join(keys)
    fingerprint = hashlib.sha256(all_keys + b"\n" + first_rows.tobytes()).hexdigest()
    items = CuptItems(tuple(names), all_keys, key_starts, first_rows, range_rows, fingerprint)
    return CuptGold(items, tuple(lemmas), tuple(mwes))


def _note_categories(lines: Mapping[str, int], file: str | None, problems: Problems) -> None:
    """Report categories of gold that look like another category in the file. lines: the line on which each first
    occurs.
    """
    faults = RowProblems()
    note_labels(((line, category) for category, line in lines.items()), MWE, "categories", faults)
    faults.report(problems, file)


class _Columns:
    """The columns of a sentence, one entry per token line; every line has as many as the header."""

    def __init__(self, sentence: Sentence, header: Header) -> None:
        # All lines in one go: three times as fast as line by line.
        fields = b"\t".join(sentence.rows).split(b"\t") if sentence.rows else []
        of_each = len(header.names)
        self.ids, self.forms = fields[header.id :: of_each], fields[header.form :: of_each]
        self.lemmas = fields[header.lemma :: of_each] if header.lemma is not None else []
        self.mwes = fields[header.mwe :: of_each]
        self.has_codes = self.mwes.count(NO_MWE) < len(self.mwes)

    def key(self) -> bytes:
        """Return `ID<tab>FORM<tab>` of every line."""
        pairs = [b""] * (2 * len(self.ids) + 1)
        pairs[:-1:2], pairs[1::2] = self.ids, self.forms
        return b"\t".join(pairs)

    def lemma_or_form(self, row: int) -> bytes:
        """Return the lemma, or the form if the lemma is `_`."""
        return self.forms[row] if self.lemmas[row] == b"_" else self.lemmas[row]


_NO_SENTENCE = Sentence([], (), [])


def _check_ids(
    ids: Sequence[bytes], sentence: Sentence, file: str | None, problems: Problems
) -> tuple[bool, list[int]]:
    """Return whether the IDs are valid, and the indices of the ranges.

    They need not count up: published gold (Turkish) has an ID twice.
    """
    if _LOW_NUMBERS.issuperset(ids):
        return True, []
    malformed = [row for row, token_id in enumerate(ids) if not _TOKEN_ID.fullmatch(token_id)]
    for row in malformed:
        message = "an ID must be a number, a range like 3-4 or an empty node like 3.1"
        shown = ids[row].decode("utf-8", "replace")
        problems.add("malformed-id", message, file=file, line=sentence.lines[row], column=ID, text=shown)
    return not malformed, [row for row, token_id in enumerate(ids) if b"-" in token_id]
