"""Read a CSV table, every problem by line: encoding, header, number of fields, sizes. The tasks interpret the cells.

The delimiter is a comma, the text UTF-8; columns are found by their names, in any order. Nothing is repaired: every
deviation is reported, with a hint at the likely cause. Blank lines are skipped.
"""

from __future__ import annotations

import codecs
import csv
import io
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from evergold.scoring.characters import folded
from evergold.scoring.errors import Problems, quoted, shorten
from evergold.scoring.slips import (
    SEPARATOR_LINE,
    empty_columns_fault,
    is_json_document,
    is_separator_line,
    json_fault,
)

if TYPE_CHECKING:  # the class of csv.reader() has a name only for type checkers
    from _csv import Reader


@dataclass(frozen=True, slots=True)
class TableLimits:
    """Size limits of a table.

    rows: number of rows, whatever their number of cells. lines: number of lines, including blank ones and those inside
    cells. The csv module itself refuses a cell of more than 131,072 characters.
    """

    rows: int = 200_000
    lines: int = 2_000_000
    line_characters: int = 1_000_000


TABLE_LIMITS = TableLimits()
#: Smallest size of the pieces that `is_text` decodes.
_PIECE_BYTES = 256 * 1024
_COMMAS: dict[str, Any] = {"strict": True}
_TABS: dict[str, Any] = {"strict": True, "delimiter": "\t", "quoting": csv.QUOTE_NONE}


@dataclass(frozen=True, slots=True)
class Table:
    """The rows of a file that have the right number of fields.

    lines: n line numbers, where each row begins (the header is line 1).
    columns: for each requested name that is in the file, n cells unchanged, spaces included.
    skipped_rows: number of rows that could not be read (each is a problem); their content is unknown, so nothing should
    be reported as missing.
    """

    lines: Sequence[int]
    columns: dict[str, Sequence[str]]
    skipped_rows: int = 0

    def __len__(self) -> int:
        return len(self.lines)

    def __getitem__(self, column: str) -> Sequence[str]:
        return self.columns[column]

    def __contains__(self, column: object) -> bool:
        return column in self.columns


@dataclass(frozen=True, slots=True)
class Header:
    """The columns that a file must have and may have. others: True if further ones are ignored, False if a problem."""

    columns: Sequence[str]
    optional: Sequence[str] = ()
    others: bool = False

    @property
    def known(self) -> set[str]:
        return {*self.columns, *self.optional}


def read_table(
    data: bytes,
    columns: Sequence[str],
    problems: Problems,
    *,
    optional: Sequence[str] = (),
    others: bool = False,
    file: str | None = None,
    limits: TableLimits = TABLE_LIMITS,
    tabs: bool = False,
) -> Table | None:
    """Return the table in `data`, or None if it cannot be read at all; everything wrong is added to `problems`, by
    line.

    columns: names that the header must contain, spelled exactly so, in any order; optional: names that it may contain;
    others: True if further columns are ignored (organisers' files), False if they are a problem (participants' files);
    file: the archive member to name in problems, if there are several; tabs: True if tabs separate columns; quotation
    marks are then part of the text. Raises nothing.
    """
    text = decode_text(data, problems, file=file)
    if text is None or not _lines_are_bearable(text, problems, file, limits):
        return None
    reader = csv.reader(io.StringIO(text, newline=""), **(_TABS if tabs else _COMMAS))
    if text[:1] == "[" and is_json_document(text):  # what is read as rows did not come here
        problems.add("wrong-columns", json_fault(columns), file=file, line=1)
        return None
    header, expected = _read_header(reader, problems, file), Header(columns, optional, others)
    if header is None or not _check_header(header, expected, problems, reader.line_num, file):
        return None
    known = expected.known
    if reader.line_num == 1 and (plain := _plain_columns(text, len(header), "\t" if tabs else ",", limits)):
        table = {name: column for name, column in zip(header, plain, strict=True) if name in known}
        return Table(list(range(2, 2 + len(plain[0]))), table)
    lines, rows, skipped = _read_rows(reader, len(header), problems, file, limits)
    if tabs and (quoted := next((line for line, row in zip(lines, rows, strict=True) if any(map(_quoted, row))), None)):
        message = "a cell is in quotation marks, which are part of the text if tabs separate columns"
        problems.add("quoted-cell", message, file=file, line=quoted, severity="warning")
    cells: Sequence[Sequence[str]] = list(zip(*rows, strict=True)) if rows else [()] * len(header)
    table = {name: column for name, column in zip(header, cells, strict=True) if name in known}
    return Table(lines, table, skipped)


def decode_text(data: bytes, problems: Problems, *, file: str | None = None) -> str | None:
    """Return the text, decoded from UTF-8 without a byte-order mark; None if the file is empty, binary or in another
    encoding, which is added to `problems`.
    """
    if not _may_be_text(data, problems, file):
        return None
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as fault:
        # The codec counts from after the byte-order mark.
        mark_bytes = len(codecs.BOM_UTF8) if data.startswith(codecs.BOM_UTF8) else 0
        _note_undecodable(data, fault.start + mark_bytes, problems, file)
        return None


def is_text(data: bytes, problems: Problems, *, file: str | None = None) -> bool:
    """Return whether `decode_text` could decode the file; if not, the reason is added to `problems`.

    Takes no memory for a copy: decodes some whole lines at a time.
    """
    if not _may_be_text(data, problems, file):
        return False
    start = 0
    while start < len(data):
        end = data.find(b"\n", start + _PIECE_BYTES) + 1 or len(data)
        try:
            data[start:end].decode()
        except UnicodeDecodeError as fault:
            _note_undecodable(data, start + fault.start, problems, file)
            return False
        start = end
    return True


def _may_be_text(data: bytes, problems: Problems, file: str | None) -> bool:
    """Return False, and add a problem, if the file is empty, in UTF-16 or UTF-32, or contains NUL bytes; otherwise
    True.
    """
    if not data or data.isspace():
        problems.add("empty-file", "the file is empty", file=file)
    elif wide := wide_fault(data):
        problems.add("not-utf-8", wide, file=file)
    elif (place := data.find(b"\0")) >= 0:
        message = "this is not a text file: it contains NUL bytes"
        problems.add("not-text", message, file=file, line=_line_at(data, place))
    else:
        return True
    return False


def wide_fault(data: bytes) -> str | None:
    """Return the fault of a text in UTF-16 or UTF-32; None for any other file."""
    wide = wide_encoding(data)
    called = " (Excel calls it Unicode text)" if wide == "UTF-16" else ""
    return f"the file is {wide}{called}, not UTF-8: save it again as UTF-8" if wide else None


def wide_encoding(data: bytes) -> str | None:
    """Return `UTF-16` or `UTF-32` if the text has such a byte-order mark, or looks like it; else None."""
    # UTF-32's little-endian mark begins with UTF-16's.
    if data.startswith((codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE)) or _has_nul_but_at(data, 4):
        return "UTF-32"
    return "UTF-16" if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)) or _has_nul_but_at(data, 2) else None


def _has_nul_but_at(data: bytes, width: int) -> bool:
    """Return whether bytes look like UTF-16 or UTF-32 text in a European script: only the first, or only the last, of
    each `width` bytes is not NUL.

    In a binary file, NUL bytes are anywhere.
    """
    start = data[: 100 * width]
    places = [start[at::width] for at in range(width)]
    return len(places[-1]) > 2 and any(
        letters.count(0) == 0 and all(other.count(0) > 0.8 * len(other) for other in places if other is not letters)
        for letters in (places[0], places[-1])
    )


def _note_undecodable(data: bytes, place: int, problems: Problems, file: str | None) -> None:
    byte, line = data[place], _line_at(data, place)
    start = data[:1000]
    if sum(b < 0x20 and b not in b"\t\n\r\f" for b in start) > len(start) // 50:
        problems.add("not-text", "this is not a text file", file=file)
    elif byte >= 0xC2 and place > len(data) - 4:
        problems.add("not-utf-8", "the file ends in the middle of a character: is it complete?", file=file, line=line)
    else:
        message = (
            f"the byte 0x{byte:02X} is not UTF-8: the file looks like Latin-1 or Windows-1252 (Excel's plain CSV); "
            "save it again as UTF-8"
        )
        problems.add("not-utf-8", message, file=file, line=line)


def _line_at(data: bytes, place: int) -> int:
    line_feeds, returns = data.count(b"\n", 0, place), data.count(b"\r", 0, place)
    return 1 + line_feeds + returns - data.count(b"\r\n", 0, place)


def _lines_are_bearable(text: str, problems: Problems, file: str | None, limits: TableLimits) -> bool:
    """Return False, and add a problem, if lines are too long or too many to be split into cells; otherwise True."""
    if len(text) <= min(limits.line_characters, limits.lines):
        return True
    if text.count("\n") + text.count("\r") - text.count("\r\n") > limits.lines:
        problems.add("too-many-rows", f"the file has more than {limits.lines:,} lines", file=file)
        return False
    for number, line in enumerate(io.StringIO(text, newline=""), start=1):
        if len(line) > limits.line_characters:
            message = f"a line of more than {limits.line_characters:,} characters: is this a CSV file?"
            problems.add("line-too-long", message, file=file, line=number)
            return False
    return True


def _read_header(reader: Reader, problems: Problems, file: str | None) -> list[str] | None:
    """Return the first line that is not blank."""
    try:
        header = next((row for row in reader if row), None)
    except csv.Error as fault:
        problems.add("bad-header", f"the header cannot be read: {fault}", file=file, line=1)
        return None
    if header is None:
        problems.add("empty-file", "the file is empty", file=file)
    return header


def _check_header(header: list[str], wanted: Header, problems: Problems, line: int, file: str | None) -> bool:
    """Return whether the header can be used; otherwise report its faults and probable causes."""
    columns, expected = wanted.columns, ",".join(wanted.columns)
    missing = [name for name in columns if name not in header]
    known = wanted.known
    twice = sorted(name for name, times in Counter(header).items() if times > 1)
    extra = [] if wanted.others else [name for name in header if name not in known]
    loose = {_loosely(name): name for name in header}

    def note(message: str, column: str | None = None) -> None:
        problems.add("wrong-columns", message, file=file, line=line, column=column)

    if missing and (delimiter := _other_delimiter(header, columns)):
        note(f"the columns are separated by {delimiter}, they must be separated by commas")
    elif missing and not any(_loosely(name) in loose for name in columns):
        found = shorten(",".join(header))
        if is_separator_line(",".join(header)):
            note(SEPARATOR_LINE)
        elif is_json_document(",".join(header)):
            note(json_fault(columns))
        else:
            note(f"the first line must be the header {expected}; it is {found}")
    else:
        for name in missing:
            if written := loose.get(_loosely(name)):
                note(f"the column {quoted(written)} must be written {name!r}")
            else:
                note(f"the column {name} is missing; the header must be {expected}")
        miswritten = {loose.get(_loosely(name)) for name in missing}
        empty = empty_columns_fault(header) if extra or twice else None
        if empty:
            note(empty)
        for name in extra:
            if name not in miswritten and not (empty and not name.strip()):
                note(_unexpected(name, expected))
        for name in twice:
            if not (empty and not name.strip()):
                note(f"the column {shorten(name)} occurs twice")
    return not (missing or twice or extra)


def _loosely(name: str) -> str:
    return "".join(folded(name).split()).strip("'\"")


def _other_delimiter(header: list[str], columns: Sequence[str]) -> str | None:
    named = {";": "semicolons", "\t": "tabs", "|": "vertical bars"}
    wanted = {_loosely(name) for name in columns}
    line = ",".join(header)
    return next((name for sign, name in named.items() if wanted <= {_loosely(c) for c in line.split(sign)}), None)


def _unexpected(name: str, expected: str) -> str:
    if name.strip() and not name.startswith("Unnamed:"):
        return f"the column {shorten(name)} is not expected; the header must be {expected}"
    return (
        f"there is a column without a name; the header must be {expected} "
        "(pandas writes its row numbers there, unless told to_csv(…, index=False))"
    )


def _plain_columns(text: str, width: int, delimiter: str, limits: TableLimits) -> list[Sequence[str]] | None:
    """Return the columns below the header of a text without quotation marks, blank lines or any fault, else None.

    Same result as `_read_rows`, without a list for every row.
    """
    if '"' in text:
        return None
    text = text.replace("\r\n", "\n").removesuffix("\n")
    lines = text.split("\n")
    if "\r" in text or len(lines) > limits.rows or "" in lines or max(map(len, lines)) > csv.field_size_limit():
        return None
    # The end of each line becomes a cell: if all are in the right place, each line has the right number of cells.
    cells = text.replace("\n", f"{delimiter}\n{delimiter}").split(delimiter)
    if set(cells[width :: width + 1]) - {"\n"} or len(cells) != len(lines) * (width + 1) - 1:
        return None
    return [tuple(cells[place :: width + 1]) for place in range(width + 1, 2 * width + 1)]


def _read_rows(
    reader: Reader, width: int, problems: Problems, file: str | None, limits: TableLimits
) -> tuple[list[int], list[list[str]], int]:
    """Return the line numbers and the rows with `width` cells, and the number of other rows, which are reported."""
    lines: list[int] = []
    rows: list[list[str]] = []
    skipped = 0
    while True:
        line = reader.line_num + 1
        try:
            for row in reader:
                if len(row) == width:
                    lines.append(line)
                    rows.append(row)
                elif row:
                    skipped += 1
                    message = f"{_count(len(row), 'field')}, the header has {width}"
                    problems.add("wrong-field-count", message, file=file, line=line)
                line = reader.line_num + 1
                if len(rows) + skipped > limits.rows:
                    problems.add("too-many-rows", f"the file has more than {limits.rows:,} rows", file=file)
                    return [], [], skipped + 1
            return lines, rows, skipped
        except csv.Error as fault:
            skipped += 1
            message, fatal = _quoting_fault(str(fault))
            problems.add("bad-quoting", message, file=file, line=line)
            if fatal or len(rows) + skipped > limits.rows:
                return lines, rows, skipped


def _quoting_fault(fault: str) -> tuple[str, bool]:
    """Return an explanation of the csv module's error, and True if the rest of the file cannot be parsed."""
    if "unexpected end" in fault:
        return "a quotation mark is opened here and never closed", True
    if "field larger" in fault:
        return "a field is far too long: is a quotation mark opened here and never closed?", True
    return "a quotation mark inside a quoted field must be doubled, and a comma must follow the closing one", False


def _quoted(cell: str) -> bool:
    return len(cell) > 1 and cell[0] == cell[-1] == '"'


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
