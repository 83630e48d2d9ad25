"""CUPT, the PARSEME format: CoNLL-U columns plus `PARSEME:MWE`. Reads blind, annotated and training files.

Works on bytes: only the columns ID, FORM, LEMMA and PARSEME:MWE are ever looked at, the others may hold anything.
The MWE column is in `cupt_codes`, how a prediction is held against the blind file in `cupt_prediction`.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from scoring.cupt_codes import NO_MWE, Note, Tokens, read_mwes
from scoring.errors import InvalidFile, InvalidGold, InvalidItems, Problems, Severity

ID, FORM, LEMMA, MWE = "ID", "FORM", "LEMMA", "PARSEME:MWE"

_TOKEN_ID = re.compile(rb"[0-9]{1,6}(?:\.[0-9]{1,6}|-[0-9]{1,6})?")
_RANGE = re.compile(rb"^[0-9]+-", re.MULTILINE)
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


class Mwe(NamedTuple):
    """One annotated MWE: its sentence (from 0), the positions of its tokens, its category or None."""

    sentence: int
    tokens: Tokens
    category: str | None


class Sentence(NamedTuple):
    """The token lines of one sentence as they stand, the number of each line in the file, the comments before them."""

    rows: list[bytes]
    lines: Sequence[int]
    comments: list[bytes]


@dataclass(frozen=True, slots=True)
class Header:
    """The columns of a file, and where those that matter stand (lemma: None where there is no such column)."""

    names: tuple[str, ...]
    id: int
    form: int
    lemma: int | None
    mwe: int


@dataclass(frozen=True, slots=True)
class CuptItems:
    """What a prediction of one file must cover: n sentences.

    sentence_ids: names for messages (the last word of `source_sent_id` or `sent_id`, else the sentence's number);
    tokens: per sentence a block of lines `ID<tab>FORM<tab>`, ranges and empty nodes included;
    fingerprint: equal if and only if the tokens are: tells gold and prediction of different texts apart.
    """

    sentence_ids: tuple[str, ...]
    tokens: tuple[bytes, ...]
    fingerprint: str

    def ids(self, sentence: int) -> list[bytes]:
        """The ID column of one sentence, one entry per token line."""
        return [row[: row.index(b"\t")] for row in self.tokens[sentence].split(b"\n")]

    def ranges(self, sentence: int) -> list[int]:
        """Which token lines of one sentence are ranges."""
        tokens = self.tokens[sentence]
        return [tokens.count(b"\n", 0, found.start()) for found in _RANGE.finditer(tokens)]

    def forms(self, sentence: int) -> list[bytes]:
        """The FORM column of one sentence, one entry per position: ranges left out."""
        columns = (row.split(b"\t") for row in self.tokens[sentence].split(b"\n"))
        return [form for token_id, form, _ in columns if b"-" not in token_id]


@dataclass(frozen=True, slots=True)
class CuptGold:
    """An annotated file, kept small: its items, per sentence the lemmas of its positions (tab between), its MWEs."""

    items: CuptItems
    lemmas: tuple[bytes, ...]
    mwes: tuple[Mwe, ...]


@dataclass(frozen=True, slots=True)
class TrainingMwes:
    """Under which lemmas and forms MWEs are annotated in training files.

    lemmas: one `lemma_key` per annotated multiset of lemmas; spans: the forms from first to last token, words in gaps
    included, tab between.
    """

    lemmas: frozenset[bytes]
    spans: frozenset[bytes]

    def __or__(self, other: TrainingMwes) -> TrainingMwes:
        return TrainingMwes(self.lemmas | other.lemmas, self.spans | other.spans)


def ranges_in(ids: Sequence[bytes]) -> list[int]:
    """Which of some token lines are ranges like 3-4, by their IDs."""
    return [row for row, token_id in enumerate(ids) if b"-" in token_id]


def lemma_key(lemmas: Sequence[bytes]) -> bytes:
    """The multiset of some lemmas as one value: equal whatever the order of the tokens."""
    return b"\t".join(sorted(lemmas))


def read_items(data: bytes, file: str | None = None) -> CuptItems:
    """The sentences and tokens of a blind (or annotated) file; the MWE column may hold anything.

    file: its name for messages. Raises InvalidItems with every problem: header, columns, IDs, no sentence at all.
    """
    problems = Problems()
    items = _read_corpus(data, file, problems, InvalidItems, annotated=False).items
    problems.raise_if_any(InvalidItems)
    return items


def read_gold(data: bytes, file: str | None = None) -> CuptGold:
    """The items of an annotated file, its lemmas and MWEs. A code on a range belongs to the words of the range.

    Raises InvalidGold with every problem: what `read_items` refuses, no LEMMA column, what `read_mwes` calls errors.
    """
    problems = Problems()
    gold = _read_corpus(data, file, problems, InvalidGold, annotated=True)
    problems.raise_if_any(InvalidGold)
    return gold


def read_training(data: bytes, file: str | None = None) -> TrainingMwes:
    """Under which lemmas and forms MWEs occur in a training file.

    As in the official evaluator a lemma `_` is replaced by the form here (not so in the test data), and codes on ranges
    do not count. Raises InvalidGold: header, columns, what `read_mwes` calls errors.
    """
    problems = Problems()
    data, header = opened(data, file, problems, InvalidGold, (ID, FORM, LEMMA, MWE))
    lemmas: set[bytes] = set()
    spans: set[bytes] = set()
    for sentence in sentences(data):
        rows = _columns(sentence, header, file, problems)
        if all([row[header.mwe] == NO_MWE for row in rows]):
            continue
        words = [row for row in rows if b"-" not in row[header.id]]
        coded = {place: row[header.mwe] for place, row in enumerate(words) if row[header.mwe] != NO_MWE}
        lines = [line for line, row in zip(sentence.lines, rows, strict=True) if b"-" not in row[header.id]]
        note = noter(problems, file, lines, _sentence_id(sentence.comments))
        for tokens, _ in read_mwes(coded, (), (), note):
            lemmas.add(lemma_key([_lemma_or_form(words[token], header) for token in tokens]))
            spans.add(b"\t".join([row[header.form] for row in words[tokens[0] : tokens[-1] + 1]]))
    problems.raise_if_any(InvalidGold)
    return TrainingMwes(frozenset(lemmas), frozenset(spans))


def opened(
    data: bytes,
    file: str | None,
    problems: Problems,
    error: type[InvalidFile],
    needed: tuple[str, ...] = (ID, FORM, MWE),
) -> tuple[bytes, Header]:
    """The content with plain line ends and without byte order mark (either is a warning), and its header.

    Raises `error` at once when there is no usable header: without one nothing else can be said about the file.
    """
    if data.startswith(_BYTE_ORDER_MARK):
        data = data[len(_BYTE_ORDER_MARK) :]
        message = "the file starts with a byte order mark; it is overlooked"
        problems.add("byte-order-mark", message, file=file, line=1, severity="warning")
    if b"\r" in data and b"\r\n" in data:  # the first test is much the quicker one
        data = data.replace(b"\r\n", b"\n")
        message = "the lines end with CR LF (Windows) where CUPT has LF; they are read as if they had"
        problems.add("windows-line-ends", message, file=file, line=1, severity="warning")
    end = data.find(b"\n")
    header = _read_header(data[:end] if end >= 0 else data, file, problems, needed)
    if header is None:
        raise error(problems.errors, problems.omitted)
    return data, header


def sentences(data: bytes) -> Iterator[Sentence]:
    """The sentences of a file in order; its first line, the header, is left out.

    data: as `opened` returns it. A sentence ends at an empty line; further empty lines, and comments without tokens,
    are skipped. Lazy: no more than one sentence is held in memory.
    """
    start, line = data.find(b"\n") + 1 or len(data), 2
    while start < len(data):
        end = data.find(b"\n\n", start)
        block = data[start:end] if end >= 0 else data[start:].removesuffix(b"\n")
        rows = block.split(b"\n")
        first = 0
        while first < len(rows) and (not rows[first] or rows[first][:1] == b"#"):
            first += 1
        if first < len(rows):
            yield _sentence(block, rows, first, line)
        line += len(rows) + 1
        start = end + 2 if end >= 0 else len(data)


def noter(
    problems: Problems, file: str | None, lines: Sequence[int] | Mapping[int, int], sentence_id: str | None
) -> Note:
    """Where `read_mwes` notes what it finds in one sentence. lines: the number in the file of each token line."""
    place = f" (sentence {sentence_id})" if sentence_id else ""

    def note(code: str, message: str, row: int, severity: Severity) -> None:
        problems.add(code, message + place, file=file, line=lines[row], column=MWE, severity=severity)

    return note


def _read_header(first: bytes, file: str | None, problems: Problems, needed: tuple[str, ...]) -> Header | None:
    if first.startswith((b"\xff\xfe", b"\xfe\xff")):
        problems.add("wrong-encoding", "the file is UTF-16: save it as UTF-8", file=file, line=1)
        return None
    before, equals, after = first.partition(b"=")
    if not equals or before.strip(b"# \t") != b"global.columns":
        message = "the first line must name the columns: `# global.columns = ID FORM LEMMA … PARSEME:MWE`"
        shown = first[:200].decode("utf-8", "replace")
        problems.add("missing-header", message, file=file, line=1, text=shown)
        return None
    names = tuple(after.decode("utf-8", "replace").split())
    wrong = [name for name in needed if names.count(name) != 1]
    for name in wrong:
        fault = "names twice" if name in names else "lacks"
        problems.add("wrong-columns", f"the first line {fault} the column {name}", file=file, line=1, column=name)
    if wrong:
        return None
    lemma = names.index(LEMMA) if LEMMA in names else None
    return Header(names, names.index(ID), names.index(FORM), lemma, names.index(MWE))


def _sentence(block: bytes, rows: list[bytes], first: int, line: int) -> Sentence:
    """Splits a block at its first token line; comments between tokens are skipped, as the official evaluator does."""
    comments, tokens = rows[:first], rows[first:]
    lines: Sequence[int] = range(line + first, line + len(rows))
    if block.rfind(b"\n#") >= sum(map(len, comments)) + len(comments):
        kept = [(number, row) for number, row in zip(lines, tokens, strict=True) if row[:1] != b"#"]
        lines, tokens = [number for number, _ in kept], [row for _, row in kept]
    return Sentence(tokens, lines, comments)


def _read_corpus(
    data: bytes, file: str | None, problems: Problems, error: type[InvalidFile], *, annotated: bool
) -> CuptGold:
    """Everything in a file; without `annotated` the lemmas and MWEs stay out (a blind file has none)."""
    data, header = opened(data, file, problems, error, (ID, FORM, LEMMA, MWE) if annotated else (ID, FORM, MWE))
    names: list[str] = []
    tokens: list[bytes] = []
    lemmas: list[bytes] = []
    mwes: list[Mwe] = []
    digest = hashlib.sha256()
    for number, sentence in enumerate(sentences(data)):
        rows = _columns(sentence, header, file, problems)
        ids = [row[header.id] for row in rows]
        names.append(_sentence_id(sentence.comments) or f"number {number + 1}")
        tokens.append(b"\n".join([b"%s\t%s\t" % (row[header.id], row[header.form]) for row in rows]))
        digest.update(tokens[-1] + b"\n\n")
        if _ids_are_sound(ids, sentence, file, problems) and annotated and header.lemma is not None:
            lemmas.append(b"\t".join([row[header.lemma] for row in rows if b"-" not in row[header.id]]))
            coded = {place: row[header.mwe] for place, row in enumerate(rows) if row[header.mwe] != NO_MWE}
            if coded:
                found = read_mwes(coded, ranges_in(ids), ids, noter(problems, file, sentence.lines, names[-1]))
                mwes.extend(Mwe(number, members, category) for members, category in found)
    if not tokens:
        problems.add("empty-file", "the file has no sentence", file=file, line=1)
    items = CuptItems(tuple(names), tuple(tokens), digest.hexdigest())
    return CuptGold(items, tuple(lemmas), tuple(mwes))


def _columns(sentence: Sentence, header: Header, file: str | None, problems: Problems) -> list[list[bytes]]:
    """The columns of each token line; none at all where a line has too few or too many, which is a problem."""
    rows = [row.split(b"\t") for row in sentence.rows]
    note_column_counts(map(len, rows), len(header.names), sentence.lines, file, problems)
    return rows if all(len(row) == len(header.names) for row in rows) else []


def note_column_counts(
    counts: Iterator[int] | Sequence[int], expected: int, lines: Sequence[int], file: str | None, problems: Problems
) -> None:
    """Adds a problem for every line whose number of columns is not `expected`."""
    for count, line in zip(counts, lines, strict=True):
        if count != expected:
            message = f"{count} column{'s' if count != 1 else ''} where the first line names {expected}"
            problems.add("wrong-columns", message, file=file, line=line)


def _ids_are_sound(ids: Sequence[bytes], sentence: Sentence, file: str | None, problems: Problems) -> bool:
    """Whether the IDs can be understood. They need not count up: published gold (Turkish) has an ID twice."""
    malformed = [row for row, token_id in enumerate(ids) if not _TOKEN_ID.fullmatch(token_id)]
    for row in malformed:
        message = "an ID is a number, a range like 3-4 or an empty node like 3.1"
        shown = ids[row].decode("utf-8", "replace")
        problems.add("malformed-id", message, file=file, line=sentence.lines[row], column=ID, text=shown)
    return not malformed


def _sentence_id(comments: Sequence[bytes]) -> str | None:
    for comment in comments:
        name, _, value = comment.partition(b"=")
        if name.strip(b"# \t") in (b"source_sent_id", b"sent_id") and value.strip():
            return value.split()[-1].decode("utf-8", "replace")
    return None


def _lemma_or_form(row: Sequence[bytes], header: Header) -> bytes:
    lemma = b"_" if header.lemma is None else row[header.lemma]
    return row[header.form] if lemma == b"_" else lemma
