"""Holds a predicted CUPT file against the blind file: the same sentences and tokens, line by line, and reads its MWEs.

Comments, lemmas and every column but ID, FORM and PARSEME:MWE may differ: scoring takes them from gold.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby, repeat
from operator import itemgetter

from scoring.cupt import Header, Sentence, note_column_counts, noter, opened, sentences
from scoring.cupt_codes import NO_MWE, UNANNOTATED, read_codes, read_mwes
from scoring.cupt_corpus import CuptItems, Mwe, lemma_key
from scoring.cupt_scan import CodedToken, scan
from scoring.errors import InvalidPrediction, Problems

#: How far apart a missing or an additional sentence is looked for, in sentences. Only messages depend on it.
RESYNCHRONISE_WITHIN = 50
#: More different categories in one file are no category system: the results would be tables without end.
MOST_CATEGORIES = 100


@dataclass(frozen=True, slots=True)
class PredictedMwes:
    """The n MWEs of one predicted file, in the order of its sentences.

    lemmas: n `lemma_key`s by the file's own LEMMA column. No score uses them; the official evaluator does, and so does
    its report. fingerprint: that of the items against which the file was read.
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
    """The MWEs of a predicted file; sentences without any cost next to nothing. Linear in the file's length.

    data: the file. items: what it must cover. problems: everything wrong is added there, with line and sentence; the
    caller raises, so that several files can be reported at once. file: its name for messages. categories: those
    allowed, None for any. others: the items of other languages by name, to recognise swapped files.
    """
    try:
        data, header = opened(data, file, problems, InvalidPrediction)
    except InvalidPrediction:
        return PredictedMwes((), (), items.fingerprint)
    reader = _Reader(items, header, problems, file)
    coded = scan(data, header, items)
    if coded is not None:
        reader.accept_all(coded)
    else:
        _read_by_sentence(data, reader, others or {})
    _note_end(data, reader)
    _note_unannotated(reader)
    _note_categories(reader, categories)
    return PredictedMwes(tuple(reader.mwes), tuple(reader.lemmas), items.fingerprint)


class _Reader:
    """Where the reading of one file stands: the next sentence of the items, and what was found so far."""

    def __init__(self, items: CuptItems, header: Header, problems: Problems, file: str | None) -> None:
        self.items, self.header, self.problems, self.file = items, header, problems, file
        self.position = 0
        self.mwes: list[Mwe] = []
        self.lemmas: list[bytes] = []
        self.unannotated, self.first_unannotated = 0, 0
        #: Where each category was first seen: line and sentence.
        self.categories: dict[str, tuple[int, str]] = {}
        self._usual = (header.id, header.form, header.mwe) == (0, 1, len(header.names) - 1)

    def accept_all(self, coded: list[CodedToken]) -> None:
        """Takes in the MWEs of a file that was scanned."""
        for self.position, group in groupby(coded, key=itemgetter(0)):
            tokens = list(group)
            self._take(
                {token.position: token.field for token in tokens},
                (),
                {token.position: token.line for token in tokens},
                {token.position: token.lemma for token in tokens}.__getitem__,
            )

    def accept(self, sentence: Sentence) -> bool:
        """Takes in the MWEs of the next sentence; False, with nothing done, where its tokens are not those expected."""
        if self.position == len(self.items):
            return False
        rows = self.comparable(sentence)
        expected = _rows_of(self.items.key(self.position))
        columns = len(self.header.names) if self._usual else 3
        if len(rows) != len(expected) or not all(map(bytes.startswith, rows, expected)):
            return False
        if set(map(bytes.count, rows, repeat(b"\t"))) != {columns - 1}:
            return False
        fields = [row[row.rfind(b"\t") + 1 :] for row in rows]
        coded = {row: field for row, field in enumerate(fields) if field != NO_MWE}
        if coded:
            ranges = self.items.ranges(self.position)
            self._take(coded, ranges, sentence.lines, lambda row: self._lemma(sentence.rows[row]))
        self.position += 1
        return True

    def comparable(self, sentence: Sentence) -> list[bytes]:
        """The token lines with ID and FORM first and PARSEME:MWE last, as most files have them anyway."""
        if self._usual:
            return sentence.rows
        chosen = (self.header.id, self.header.form, self.header.mwe)
        rows = (row.split(b"\t") for row in sentence.rows)
        return [b"\t".join([row[i] for i in chosen]) if len(row) == len(self.header.names) else b"" for row in rows]

    def _take(
        self,
        coded: dict[int, bytes],
        ranges: Sequence[int],
        lines: Sequence[int] | Mapping[int, int],
        lemma: Callable[[int], bytes],
    ) -> None:
        """Adds the MWEs of the sentence at `position`. lines, lemma: by the row of a token line."""
        if UNANNOTATED in coded.values():
            unannotated = [row for row, field in coded.items() if field == UNANNOTATED]
            self.first_unannotated = self.first_unannotated or lines[unannotated[0]]
            self.unannotated += len(unannotated)
            coded = {row: field for row, field in coded.items() if field != UNANNOTATED}
        name = self.items.sentence_ids[self.position]
        ids = self.items.ids(self.position) if any(row in coded for row in ranges) else ()
        found = read_mwes(coded, ranges, ids, noter(self.problems, self.file, lines, name))
        for tokens, category in found:
            self.mwes.append(Mwe(self.position, tokens, category))
            self.lemmas.append(lemma_key([lemma(_row(token, ranges)) for token in tokens]))
            if category is not None and category not in self.categories:
                self.categories[category] = (lines[_row(tokens[0], ranges)], name)

    def _lemma(self, row: bytes) -> bytes:
        """The LEMMA column of a token line, `_` where there is none: what the official evaluator takes."""
        return UNANNOTATED if self.header.lemma is None else row.split(b"\t", self.header.lemma + 1)[self.header.lemma]


def _row(token: int, ranges: Sequence[int]) -> int:
    """On which token line of its sentence a position stands."""
    for row in ranges:
        token += row <= token
    return token


def _read_by_sentence(data: bytes, reader: _Reader, others: Mapping[str, CuptItems]) -> None:
    """Goes through the file sentence by sentence, and from the first that is not as expected on says why."""
    remaining = sentences(data)
    for sentence in remaining:
        if not reader.accept(sentence):
            _explain([sentence, *remaining], reader, others)
            return
    _note_missing(reader, reader.position, len(reader.items), None)


def _explain(remaining: list[Sentence], reader: _Reader, others: Mapping[str, CuptItems]) -> None:
    """Says how the sentences from the first one that differs on deviate from the items."""
    keys = [_key(sentence, reader) for sentence in remaining]
    swapped = _swapped(keys, reader, others)
    if swapped:
        message = f"these are the sentences of {swapped}: are the languages swapped?"
        reader.problems.add("swapped-language", message, file=reader.file, line=remaining[0].lines[0])
        return
    expected, index = [reader.items.key(number) for number in range(len(reader.items))], 0
    while index < len(keys) and reader.position < len(expected):
        if reader.accept(remaining[index]):
            index += 1
            continue
        missing, additional = _shift(keys, index, expected, reader.position)
        if missing:
            _note_missing(reader, reader.position, reader.position + missing, remaining[index])
        elif additional:
            _note_additional(reader, remaining[index : index + additional])
        else:
            _note_difference(reader, remaining[index], keys[index])
            missing = additional = 1
        reader.position += missing
        index += additional
    _note_additional(reader, remaining[index:])
    _note_missing(reader, reader.position, len(expected), None)


def _key(sentence: Sentence, reader: _Reader) -> bytes:
    """The tokens of a sentence in the form that items have them; of a line with too few columns what there is."""
    cut = [(row + b"\t\t").split(b"\t", 2) for row in reader.comparable(sentence)]
    return b"".join([b"%s\t%s\t" % (token_id, form) for token_id, form, _ in cut])


def _rows_of(key: bytes) -> list[bytes]:
    """`ID<tab>FORM<tab>` of each token line of a sentence."""
    columns = key.split(b"\t")
    return [b"%s\t%s\t" % row for row in zip(columns[:-1:2], columns[1::2], strict=True)]


def _swapped(keys: Sequence[bytes], reader: _Reader, others: Mapping[str, CuptItems]) -> str | None:
    """The language to which a file belongs whose very first sentences are those of another one."""
    if reader.position:
        return None
    for name, items in others.items():
        if keys[:3] == [items.key(number) for number in range(min(3, len(items)))]:
            return name
    return None


def _shift(keys: Sequence[bytes], index: int, expected: Sequence[bytes], position: int) -> tuple[int, int]:
    """How many sentences are missing, how many are additional here; (0, 0) where one sentence differs from its item."""
    if tuple(keys[index + 1 : index + 2]) == tuple(expected[position + 1 : position + 2]) != ():
        return 0, 0
    for distance in range(1, RESYNCHRONISE_WITHIN + 1):
        if position + distance < len(expected) and keys[index] == expected[position + distance]:
            return distance, 0
        if index + distance < len(keys) and keys[index + distance] == expected[position]:
            return 0, distance
    return 0, 0


def _note_missing(reader: _Reader, start: int, end: int, before: Sentence | None) -> None:
    """Reports items[start:end] as missing before a sentence of the file, or (None) at its end."""
    if start == end:
        return
    names = reader.items.sentence_ids
    which = (
        f"sentence {names[start]}"
        if end - start == 1
        else f"{end - start} sentences, {names[start]} to {names[end - 1]},"
    )
    are = "is" if end - start == 1 else "are"
    if before is None:
        message = f"the file ends too early: {which} {are} missing at the end (of {len(names)} sentences in all)"
        reader.problems.add("truncated-file", message, file=reader.file)
    else:
        line = before.lines[0]
        reader.problems.add("missing-sentence", f"{which} {are} missing before this line", file=reader.file, line=line)


def _note_additional(reader: _Reader, additional: Sequence[Sentence]) -> None:
    if additional:
        count = f"{len(additional)} sentences that are" if len(additional) > 1 else "a sentence that is"
        line = additional[0].lines[0]
        reader.problems.add("unknown-sentence", f"{count} not in the blind file", file=reader.file, line=line)


def _note_difference(reader: _Reader, sentence: Sentence, key: bytes) -> None:
    """Reports what differs in one sentence: lines with a wrong number of columns, or else the first wrong token."""
    place = f" (sentence {reader.items.sentence_ids[reader.position]})"
    columns = len(reader.header.names)
    counts = [row.count(b"\t") + 1 for row in sentence.rows]
    note_column_counts(counts, columns, sentence.lines, reader.file, reader.problems)
    _check_codes(reader, sentence)
    if counts.count(columns) != len(counts):
        return
    found, expected = _rows_of(key), _rows_of(reader.items.key(reader.position))
    shared = min(len(found), len(expected))
    row = next((row for row in range(shared) if found[row] != expected[row]), shared)
    if row < shared:
        message = f"the token is {_shown(found[row])}, in the blind file it is {_shown(expected[row])}{place}"
    else:
        missing_or_not = f"{len(found)} token lines, in the blind file it has {len(expected)}"
        message = f"the sentence has {missing_or_not}{place}"
    line = sentence.lines[min(row, len(found) - 1)]
    reader.problems.add("token-mismatch", message, file=reader.file, line=line)


def _check_codes(reader: _Reader, sentence: Sentence) -> None:
    """Malformed codes are reported even where the tokens are wrong: a team learns everything at once."""
    note = noter(reader.problems, reader.file, sentence.lines, reader.items.sentence_ids[reader.position])
    for row, line in enumerate(sentence.rows):
        fields = line.split(b"\t")
        if len(fields) == len(reader.header.names) and fields[reader.header.mwe] != UNANNOTATED:
            read_codes(fields[reader.header.mwe], row, note)


def _note_end(data: bytes, reader: _Reader) -> None:
    """The last line must be complete; the empty line after the last sentence is only asked for."""
    if data.endswith(b"\n\n"):
        return
    line, complete = data.count(b"\n"), data.endswith(b"\n")
    if complete:
        message = "an empty line is missing after the last sentence"
        reader.problems.add("missing-final-newline", message, file=reader.file, line=line, severity="warning")
    else:
        message = "the last line has no line end: the file may have been cut off"
        reader.problems.add("missing-final-newline", message, file=reader.file, line=line + 1)


def _note_unannotated(reader: _Reader) -> None:
    if reader.unannotated:
        tokens = f"{reader.unannotated} tokens have" if reader.unannotated > 1 else "a token has"
        message = f"{tokens} `_` in PARSEME:MWE, as in the blind file: write `*` for every token outside all MWEs"
        reader.problems.add("unannotated", message, file=reader.file, line=reader.first_unannotated)


def _note_categories(reader: _Reader, allowed: Sequence[str] | None) -> None:
    if allowed is not None:
        for category, (line, name) in reader.categories.items():
            if category not in allowed:
                message = f"unknown category {category}; the task has {', '.join(allowed)} (sentence {name})"
                reader.problems.add("unknown-category", message, file=reader.file, line=line, text=category)
    elif len(reader.categories) > MOST_CATEGORIES:
        message = f"{len(reader.categories)} different categories; at most {MOST_CATEGORIES} can be reported"
        reader.problems.add("too-many-categories", message, file=reader.file)


def _shown(key: bytes) -> str:
    token_id, _, form = key.rstrip(b"\t").partition(b"\t")
    return f"{token_id.decode('utf-8', 'replace')} “{form[:60].decode('utf-8', 'replace')}”"
