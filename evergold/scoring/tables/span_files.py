"""Labelled sequences in files: CoNLL columns with a tag on each token, or JSON lines with spans for each text.

CoNLL: a token per line, its columns separated by tabs or blanks, the tag in the last one; an empty line between
sentences; lines like `# id = 7` before a sentence are comments, unless they have the columns of a token. If no tag of
the file has a type, the tags `B` and `I` get the type `_`, as in seqeval.

JSON lines: `{"id": "7", "spans": [[0, 5, "PER"]]}`, where a span may also be `{"start": 0, "end": 5, "type": "PER"}`.
The cluster of a sentence (such as its document) is given by a comment `# document = x`, which applies until the next
such comment; the cluster of a text is given by a key of its line.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from evergold.scoring.characters import LookAlikes
from evergold.scoring.errors import Problems, quoted, shorten
from evergold.scoring.gold_values import note_names
from evergold.scoring.spans import OUTSIDE, PREFIXES, UNNAMED, Scheme, Span
from evergold.scoring.tables.json_lines import HALF_CHARACTER, Line, Number, read_json_lines
from evergold.scoring.tables.reading import TableLimits, decode_text
from evergold.scoring.tables.row_problems import RowProblems
from evergold.scoring.tables.settings import listed

LIMITS = TableLimits(rows=200_000, lines=5_000_000, line_characters=1_000_000)
#: Pairing more overlapping spans than this with each other would take too long.
MOST_SPANS = 1_000
MOST_TYPES = 1_000

_COMMENT = re.compile(r"# ?([\w.:-]+) ?= ?(.*)|# (?:id|newdoc|newpar)\b")
#: As documented, with blanks: `# id = 7`, `# newdoc`.
_USUAL_COMMENT = re.compile(r"# +([\w.:-]+ +=( |$)|(id|newdoc|newpar) *$)")
#: Ends of cells where no tab is: a no-break space is part of a token.
_BLANKS = re.compile(r"[ \f\v]+")
_TYPE = re.compile(r"[^\s/|,]{1,60}")
_PLACE = re.compile(r"[0-9]{1,9}")


@dataclass(frozen=True, slots=True)
class Sentence:
    """One sentence of a CoNLL file.

    lines, tokens, last: for each of n tokens its line number, its text, and the content of the last column.
    comments: values of the comments before it, by name.
    """

    lines: tuple[int, ...]
    tokens: tuple[str, ...]
    last: tuple[str, ...]
    comments: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class SpanText:
    """One line of a JSON file.

    line: number of the line.
    length: number of characters of its text, None if it has no text.
    spans: None if it has no key for spans.
    values: the values of all its keys, used for organisers' files.
    """

    line: int
    id: str
    length: int | None
    spans: tuple[Span, ...] | None
    values: Mapping[str, Any] = field(default_factory=dict)


# --------------------------------------------------------------------------------------------------------------- CoNLL


def read_conll(data: bytes, problems: Problems) -> list[Sentence]:
    """Return the sentences in order; faults are added to `problems`."""
    text = decode_text(data, problems)
    if text is None:
        return []
    rows = re.split("\r\n?|\n", text)
    if len(rows) > LIMITS.lines:
        problems.add("too-many-rows", f"the file has more than {LIMITS.lines:,} lines")
        return []
    sentences: list[Sentence] = []
    tokens: list[tuple[int, str, str]] = []
    comments: dict[str, str] = {}
    columns = _columns(rows)
    for number, row in enumerate([*rows, ""], start=1):
        if row.strip():
            if not tokens and (comment := _comment(row, columns)):  # further down, a token may be `#`
                comments |= {comment[1]: comment[2].strip()} if comment[1] else {}
                continue
            cells = _cells(row)
            tokens.append((number, cells[0].strip(), cells[-1].strip()))
        elif tokens:
            lines, words, last = zip(*tokens, strict=True)
            sentences.append(Sentence(lines, words, last, comments))
            tokens, comments = [], {}
    if not sentences:
        problems.add("empty-file", "the file has no sentence")
    return sentences


def _columns(rows: Sequence[str]) -> int:
    """Return the number of columns of a token, from the first line that cannot be a comment, or else the first with
    tabs; 0 if there is neither.
    """
    with_tabs = (row for row in rows if "\t" in row and row.strip())
    sure = next((row for row in rows if row.strip() and not _COMMENT.match(row)), next(with_tabs, None))
    return 0 if sure is None else len(_cells(sure))


def _cells(row: str) -> list[str]:
    return row.split("\t") if "\t" in row else _BLANKS.split(row.strip())


def _comment(row: str, columns: int) -> re.Match[str] | None:
    """Return the parts of a comment; None for a token, which may begin with `#`. columns: the number of columns of a
    token.
    """
    found = _COMMENT.match(row)
    if found is None or len(_cells(row)) != columns:
        return found
    return found if "\t" not in row and _USUAL_COMMENT.match(row) else None


def clusters_of_sentences(sentences: Sequence[Sentence], name: str, problems: Problems) -> tuple[str, ...]:
    """Return the cluster of every sentence: the value of the comment called `name` (the option `resample_by`) before
    this sentence, or else of the last such comment before it.

    A problem is added if the first sentences have no cluster.
    """
    found, last = [], ""
    for sentence in sentences:
        last = sentence.comments.get(name, last)
        if not last:
            message = f"resample_by: no comment `# {name} = …` names the cluster of this sentence"
            problems.add("empty-cell", message, line=sentence.lines[0], column=name)
        found.append(last)
    faults = RowProblems()
    note_names(((one.lines[0], cluster) for one, cluster in zip(sentences, found, strict=True)), name, faults)
    faults.report(problems)
    return tuple(found)


def clusters_of_texts(texts: Sequence[SpanText], name: str, problems: Problems) -> tuple[str, ...]:
    """Return the cluster of every text: the value of its key `name` (the option `resample_by`); a value that is empty
    or not text is added to `problems`.
    """
    for text in texts:
        value = text.values.get(name)
        if not isinstance(value, str) or not value.strip():
            problems.add("empty-cell", f"resample_by: `{name}` must be a text or a number", line=text.line, column=name)
    faults = RowProblems()
    note_names(((text.line, str(text.values.get(name))) for text in texts), name, faults, spaces=True)
    faults.report(problems)
    return tuple(str(text.values.get(name)) for text in texts)


def check_tags(
    sentences: Sequence[Sentence], scheme: Scheme, types: Collection[str] | None, faults: RowProblems
) -> list[tuple[str, ...]]:
    """Return the tags of each sentence of a file; wrong ones are reported, and replaced by O.

    types: the allowed types, None: any. Tags without a type get the type UNNAMED, if it is allowed and no tag has a
    type.
    """
    are_plain = (types is None or UNNAMED in types) and not any("-" in tag for one in sentences for tag in one.last)
    found = []
    for sentence in sentences:
        tags = []
        for line, tag in zip(sentence.lines, sentence.last, strict=True):
            named = f"{tag}-{UNNAMED}" if are_plain and _is_plain(tag, scheme) else tag
            fault = None if tag == OUTSIDE else _tag_fault(named, scheme, types)
            if fault:
                faults.add("bad-tag", fault, line, "tag", tag)
            tags.append(OUTSIDE if fault else named)
        found.append(tuple(tags))
    return found


def _tag_fault(tag: str, scheme: Scheme, types: Collection[str] | None) -> str | None:
    prefix, dash, type_ = tag.partition("-")
    if not dash or len(prefix) != 1 or prefix not in PREFIXES[scheme]:
        known = ", ".join(f"{letter}-TYPE" for letter in PREFIXES[scheme])
        message = f"{quoted(tag)} is not a tag of {scheme.upper()}: {known} or O"
        if _is_plain(tag, scheme):
            return f"{message}; tags without types are for tasks of one unnamed type"
        return f"{message}; write tags in capitals" if _is_lower(tag, scheme) else message
    return type_fault(type_, types)


def _is_plain(tag: str, scheme: Scheme) -> bool:
    return len(tag) == 1 and tag in PREFIXES[scheme]


def _is_lower(tag: str, scheme: Scheme) -> bool:
    prefix, dash, _ = tag.partition("-")
    return tag == OUTSIDE.lower() or bool(dash) and len(prefix) == 1 and prefix in PREFIXES[scheme].lower()


def type_fault(type_: str, types: Collection[str] | None) -> str | None:
    """Return the fault of a span's type; None if it is valid. types: the allowed types, None: any."""
    if types is not None and type_ not in types:
        return f"{quoted(type_)} is not a type; the types are {listed(sorted(types))}{LookAlikes(types).hint(type_)}"
    if not _TYPE.fullmatch(type_):
        return f"{quoted(type_)} cannot be a type: 1 to 60 characters, no spaces, commas, / or |"
    return None


# ---------------------------------------------------------------------------------------------------------- JSON lines


def read_spans(data: bytes, types: Collection[str] | None, problems: Problems, *, others: bool) -> list[SpanText]:
    """Return every line; faults are added to `problems`.

    types: as for `check_tags`; others: True if further keys are ignored (organisers' files), False if they are a
    problem.
    """
    faults = RowProblems()
    read = read_json_lines(data, ["id"], faults, problems, LIMITS)
    if read is None:
        return []
    texts = [_span_text(line, types, others, faults) for line in read[0]]
    first: dict[str, int] = {}
    for text in texts:
        if (before := first.setdefault(text.id, text.line)) != text.line:
            message = f"id {shorten(text.id)} appears twice, first on line {before}"
            faults.add("duplicate-id", message, text.line, "id", text.id)
    if others:
        note_names(((line, id_) for id_, line in first.items()), "id", faults)
    faults.report(problems)
    return texts


def _span_text(line: Line, types: Collection[str] | None, others: bool, faults: RowProblems) -> SpanText:
    number, values = line
    id_ = values.get("id")
    if not isinstance(id_, str) or not id_ or id_ != id_.strip() or HALF_CHARACTER.search(id_):
        faults.add("bad-id", "`id` must be a text or a number without spaces around it", number, "id")
        id_ = f"line {number}"
    for name in values.keys() - {"id", "spans"} if not others else ():
        faults.add("wrong-columns", f"the key {quoted(name)} is not expected; the keys are id, spans", number, name)
    text = values.get("text")
    length = len(text) if isinstance(text, str) and not isinstance(text, Number) else None
    spans = _spans(number, values.get("spans"), types, length, faults)
    return SpanText(number, str(id_), length, spans, values if others else {})


def _spans(
    line: int, value: object, types: Collection[str] | None, length: int | None, faults: RowProblems
) -> tuple[Span, ...] | None:
    if value is None:
        return None
    if not isinstance(value, list):
        faults.add("bad-span", '`spans` must be a list: [[start, end, "TYPE"], …]', line, "spans")
        return ()
    if len(value) > MOST_SPANS:
        faults.add("too-many-spans", f"{len(value):,} spans of one text; at most {MOST_SPANS:,}", line, "spans")
        return ()
    spans = [span for one in value if (span := _span(line, one, types, length, faults))]
    if twice := next((span for span in set(spans) if spans.count(span) > 1), None):
        message = f"the span {twice.start} to {twice.end}, {shorten(twice.type)}, occurs twice"
        faults.add("repeated-span", message, line, "spans")
    return tuple(sorted(set(spans)))


def _span(line: int, value: Any, types: Collection[str] | None, length: int | None, faults: RowProblems) -> Span | None:
    parts = [value.get(name) for name in ("start", "end", "type")] if isinstance(value, dict) else value
    fault: str | None = None
    if not isinstance(parts, list) or len(parts) != 3 or not all(_is_place(part) for part in parts[:2]):
        fault = 'a span must be [start, end, "TYPE"], with whole numbers from 0'
    elif not isinstance(parts[2], str) or isinstance(parts[2], Number) or HALF_CHARACTER.search(parts[2]):
        fault = "the type of a span must be a text"
    else:
        fault = place_fault(int(parts[0]), int(parts[1]), length) or type_fault(parts[2], types)
    if fault or not isinstance(parts, list):
        faults.add("bad-span", str(fault), line, "spans")
        return None
    return Span(int(parts[0]), int(parts[1]), parts[2])


def place_fault(start: int, end: int, length: int | None) -> str | None:
    """Return the fault of a span's position in a text of this length (None: unknown); None if the position is valid."""
    if start >= end:
        return f"a span from {start} to {end} is empty: the end is the first position after it"
    if length is not None and end > length:
        return f"a span from {start} to {end} goes beyond the text, which has {length:,} characters"
    return None


def _is_place(value: object) -> bool:
    return isinstance(value, Number) and bool(_PLACE.fullmatch(value))


def distinct_types(spans: Sequence[Sequence[Span]], problems: Problems) -> None:
    """Report a problem if the spans have more than MOST_TYPES different types, because each would become a column."""
    number = len({span.type for of_item in spans for span in of_item})
    if number > MOST_TYPES:
        problems.add("too-many-types", f"{number:,} types of spans; at most {MOST_TYPES:,}")
