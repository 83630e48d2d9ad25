"""Scan all bytes of a file, with numpy if it is loaded, because numpy need not stop at every line.

Works a piece at a time, so that a large file takes no extra memory.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import repeat
from typing import Any, NamedTuple

from evergold.scoring.cupt.codes import Note
from evergold.scoring.errors import InvalidFile, Problems, Severity
from evergold.scoring.tables.reading import is_text, wide_fault

_PIECE_BYTES = 1024 * 1024
_BLANK_AT_AN_END = re.compile(rb" [\t\n]")
_TAB, _NEWLINE, _BLANK = b"\t\n "


def count_lines(data: bytes) -> int:
    """Count the line ends."""
    if (numpy := sys.modules.get("numpy")) is None:
        return data.count(b"\n")
    return sum(int(numpy.count_nonzero(piece == _NEWLINE)) for piece in _pieces(numpy, data))


def has_blank_at_an_end(data: bytes) -> bool:
    """Return whether a field or line ends with a blank."""
    if data.endswith(b" "):
        return True
    if (numpy := sys.modules.get("numpy")) is None:
        return _BLANK_AT_AN_END.search(data) is not None
    for piece in _pieces(numpy, data, overlap=1):
        behind = piece[numpy.flatnonzero(piece[:-1] == _BLANK) + 1]
        if ((behind == _TAB) | (behind == _NEWLINE)).any():
            return True
    return False


def _pieces(numpy: Any, data: bytes, overlap: int = 0) -> Iterator[Any]:
    """Yield the bytes as numbers, piece by piece; overlap: how many bytes of the next piece each one includes."""
    numbers = numpy.frombuffer(data, numpy.uint8)
    for start in range(0, len(data), _PIECE_BYTES):
        yield numbers[start : start + _PIECE_BYTES + overlap]


ID, FORM, LEMMA, MWE = "ID", "FORM", "LEMMA", "PARSEME:MWE"

_LONGEST_HEADER_BYTES = 10_000
#: Matches from the first blank of a run, without backtracking: a run of any length is scanned once.
_BLANKS = re.compile(rb"(?<! ) ++(?=\t|$)")
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


class Sentence(NamedTuple):
    """Raw token lines of one sentence, the line number of each in the file, and the comments before them."""

    rows: list[bytes]
    lines: Sequence[int]
    comments: list[bytes]


@dataclass(frozen=True, slots=True)
class Header:
    """Column names of a file and the indices of those that are read (lemma: None if there is no such column)."""

    names: tuple[str, ...]
    id: int
    form: int
    lemma: int | None
    mwe: int

    def is_comment(self, row: bytes) -> bool:
        """Return whether a line is a comment: it begins with `#`, and not with a form in the columns of a token.

        An ID never begins with `#`. So if ID is the first column, as in nearly every file, every line that begins with
        `#` is a comment, as for the official evaluator.
        """
        return row[:1] == b"#" and (self.id == 0 or row.count(b"\t") != len(self.names) - 1)


def opened(
    data: bytes,
    file: str | None,
    problems: Problems,
    error: type[InvalidFile],
    needed: tuple[str, ...] = (ID, FORM, MWE),
) -> tuple[bytes, Header]:
    """Return the content with LF line ends and without byte order mark (each change adds a warning), and its header.

    Raises `error` at once if there is no usable header: nothing else can be checked without one.
    """
    if data.startswith(_BYTE_ORDER_MARK):
        data = data[len(_BYTE_ORDER_MARK) :]
        message = "the file starts with a byte order mark, which is ignored"
        problems.add("byte-order-mark", message, file=file, line=1, severity="warning")
    if b"\r" in data and b"\r\n" in data:  # the first test is much the quicker one
        data = data.replace(b"\r\n", b"\n")
        message = "the lines end with CR LF (Windows) where CUPT has LF; they are read as if they had"
        problems.add("windows-line-ends", message, file=file, line=1, severity="warning")
    elif b"\r" in data and b"\n" not in data:
        data = data.replace(b"\r", b"\n")
        message = "the lines end with CR (old Mac) where CUPT has LF; they are read as if they had"
        problems.add("mac-line-ends", message, file=file, line=1, severity="warning")
    if has_blank_at_an_end(data):
        data = _without_blanks(data, file, problems)
    end = data.find(b"\n")
    header = _read_header(data[:end] if end >= 0 else data, file, problems, needed)
    if header is None:
        raise error(problems.errors, problems.omitted)
    return data, header


def _without_blanks(data: bytes, file: str | None, problems: Problems) -> bytes:
    """Strip blanks at the ends of fields and lines, and empty lines of only blanks, as the official evaluator does.

    Adds one warning for all of them, except those at the end of comments, which nobody reads.
    """
    rows = data.split(b"\n")
    lines = []
    for line, row in enumerate(rows, 1):
        stripped = _BLANKS.sub(b"", row)
        if stripped != row:
            rows[line - 1] = stripped
            if row[:1] != b"#":
                lines.append(line)
    if lines:
        often = f" (and on {len(lines) - 1} more lines)" if len(lines) > 1 else ""
        message = f"blanks at the end of a field or line{often} are ignored, as by the official evaluator"
        problems.add("blanks", message, file=file, line=lines[0], severity="warning")
    return b"\n".join(rows)


def is_readable(data: bytes, file: str | None, problems: Problems) -> bool:
    """Return whether the file is text in UTF-8; if not, this is added to `problems`, and nothing else should be
    reported.
    """
    return is_text(data, problems, file=file)


def sentences(data: bytes, header: Header) -> Iterator[Sentence]:
    """Yield the sentences of a file in order, without its first line, the header.

    data, header: as `opened` returns them. A sentence ends at an empty line; further empty lines, and comments without
    tokens, are skipped. Lazy: no more than one sentence is held in memory.
    """
    for block, rows, first, line in _blocks(data, header):
        if first < len(rows):
            yield _sentence(block, rows, first, line, header)


def texts(data: bytes, header: Header) -> Iterator[bytes]:
    """Yield the source text of each sentence of `sentences`: its comments and token lines, without the empty line.

    Comments without tokens, such as a `# newdoc` before an empty line, belong to the next sentence.
    """
    before: list[bytes] = []
    for _, rows, first, _ in _blocks(data, header):
        lines = [row for row in rows if row]
        if first < len(rows):
            yield b"\n".join(before + lines)
            before = []
        else:
            before += lines


def _blocks(data: bytes, header: Header) -> Iterator[tuple[bytes, list[bytes], int, int]]:
    """Yield the blocks between empty lines.

    Each block is a tuple of its text, its lines, the index of its first token line (the number of lines if there is
    none), and the line number of its first line in the file.
    """
    start, line = data.find(b"\n") + 1 or len(data), 2
    while start < len(data):
        end = data.find(b"\n\n", start)
        block = data[start:end] if end >= 0 else data[start:].removesuffix(b"\n")
        rows = block.split(b"\n")
        first = 0
        while first < len(rows) and (not rows[first] or header.is_comment(rows[first])):
            first += 1
        yield block, rows, first, line
        line += len(rows) + 1
        start = end + 2 if end >= 0 else len(data)


def sentence_id(comments: Sequence[bytes]) -> str | None:
    """Return the name of a sentence: the last word of its `source_sent_id` or `sent_id`; None if it has neither."""
    for comment in comments:
        name, _, value = comment.partition(b"=")
        if name.strip(b"# \t") in (b"source_sent_id", b"sent_id") and value.strip():
            return value.split()[-1].decode("utf-8", "replace")
    return None


def note_columns(sentence: Sentence, header: Header, file: str | None, problems: Problems, name: str | None) -> bool:
    """Return whether every token line has as many columns as the header; add a problem for each that does not."""
    expected, place = len(header.names), _place(name)
    if set(map(bytes.count, sentence.rows, repeat(b"\t"))) == {expected - 1}:
        return True
    sound = True
    for row, line in zip(sentence.rows, sentence.lines, strict=True):
        count = row.count(b"\t") + 1
        if count != expected:
            sound = False
            message = f"{count} column{'s' if count != 1 else ''} where the first line names {expected}{place}"
            problems.add("wrong-columns", message, file=file, line=line)
    return sound


def noter(problems: Problems, file: str | None, lines: Sequence[int] | Mapping[int, int], name: str | None) -> Note:
    """Return the callback through which `read_mwes` reports problems of one sentence.

    lines: the line number in the file of each token line.
    """
    place = _place(name)

    def note(code: str, message: str, row: int, severity: Severity) -> None:
        problems.add(code, message + place, file=file, line=lines[row], column=MWE, severity=severity)

    return note


def _place(name: str | None) -> str:
    return f" (sentence {name})" if name else ""


def _read_header(first: bytes, file: str | None, problems: Problems, needed: tuple[str, ...]) -> Header | None:
    if fault := wide_fault(first):
        problems.add("wrong-encoding", fault, file=file, line=1)
        return None
    before, equals, after = first[:_LONGEST_HEADER_BYTES].partition(b"=")
    if not equals or len(first) > _LONGEST_HEADER_BYTES or before.strip(b"# \t") != b"global.columns":
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


def _sentence(block: bytes, rows: list[bytes], first: int, line: int, header: Header) -> Sentence:
    """Split a block at its first token line; comments between tokens are skipped, as the official evaluator does."""
    comments, tokens = rows[:first], rows[first:]
    lines: Sequence[int] = range(line + first, line + len(rows))
    if block.rfind(b"\n#") >= sum(map(len, comments)) + len(comments):
        kept = [(number, row) for number, row in zip(lines, tokens, strict=True) if not header.is_comment(row)]
        lines, tokens = [number for number, _ in kept], [row for _, row in kept]
    return Sentence(tokens, lines, comments)
