"""Read JSON lines, an object on each, with every problem by line; callers check the contents of the objects.

A list of objects, and a dictionary whose values are objects, are read as if each object were on a separate line.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from evergold.scoring.errors import Problems, quoted
from evergold.scoring.slips import json_fault
from evergold.scoring.tables.reading import TableLimits, decode_text
from evergold.scoring.tables.row_problems import RowProblems

HALF_CHARACTER = re.compile("[\ud800-\udfff]")


class Number(str):
    """A number as written in the file."""

    __slots__ = ()


class Line(NamedTuple):
    """An object and its line number."""

    line: int
    values: dict[str, Any]


#: What an object, or a list of objects, begins with; a brace or bracket alone may be a token.
_BEGINNING = re.compile(rb"(?:\xef\xbb\xbf)?\s*(?:\[\s*)?\{\s*[\"}]")
_SPACE = re.compile(r"\s*")


def is_json_lines(data: bytes) -> bool:
    """Return whether the file starts with an object, or a list of objects."""
    return _BEGINNING.match(data) is not None


def read_json_lines(
    data: bytes, columns: Sequence[str], faults: RowProblems, problems: Problems, limits: TableLimits
) -> tuple[list[Line], int] | None:
    """Return the objects with their lines, and the number of lines without one, which are reported in `faults`.

    None, with the reason in `problems`, if the file cannot be read at all. Blank lines are skipped; numbers are
    `Number`s. columns: the keys of a row; a document that is a dictionary is read only if it is a row itself, or all
    its values are rows.
    """
    text = decode_text(data, problems)
    if text is None:
        return None
    if (start := _start_of_document(text)) is not None:
        return _Document(text, start, columns).read(faults, problems, limits)
    rows = re.split("\r\n?|\n", text)
    if len(rows) > limits.lines:
        problems.add("too-many-rows", f"the file has more than {limits.lines:,} lines")
        return None
    lines: list[Line] = []
    skipped = 0
    for number, row in enumerate(rows, start=1):
        if not row.strip():
            continue
        if len(lines) + skipped >= limits.rows:
            problems.add("too-many-rows", f"the file has more than {limits.rows:,} rows")
            return None
        values = _object(row, number, faults, limits)
        if values is None:
            skipped += 1
        else:
            lines.append(Line(number, values))
    return lines, skipped


def _start_of_document(text: str) -> int | None:
    """Return where the document begins if the text is a single one: a list, a value of several lines, or a dictionary
    of rows or columns on one line; None if the text is JSON lines.
    """
    start = _skip(text, 0)
    if text[start : start + 1] == "[":
        return start
    first, _, rest = text[start:].partition("\n")
    if (value := _decoded(first)) is None:
        return start if _decoded(text[start:]) is not None else None
    kinds = {type(one) for one in value.values()} if isinstance(value, dict) else {type(value)}
    # Rows by name, or columns by name, which `_Document` refuses in words.
    return start if kinds in ({dict}, {list}, set()) and not rest.strip() else None


def _decoded(text: str) -> object:
    """Parse the whole text as JSON and return the value; None if it is invalid."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


class _Document:
    """A JSON document: a list of rows, a dictionary of rows, or one row written over several lines. columns: keys of a
    row.
    """

    def __init__(self, text: str, start: int, columns: Sequence[str]) -> None:
        self.text, self.start, self.columns = text, start, columns
        #: Keys that the value decoded last has twice.
        self._repeated: list[str] = []
        self._decoder = _decoder(self._repeated)

    def read(self, faults: RowProblems, problems: Problems, limits: TableLimits) -> tuple[list[Line], int] | None:
        """Return the rows with their lines, and the number of rows that were only reported; None if the document cannot
        be read.
        """
        if self.text[self.start] == "{":
            whole, line = self._decoder.decode(self.text[self.start :]), 1 + self.text.count("\n", 0, self.start)
            if self._is_row(whole):
                if self._repeated:
                    _note_repeated(self._repeated, line, faults)
                return ([], 1) if self._repeated else ([Line(line, whole)], 0)
            if not self._has_rows(whole):
                problems.add("wrong-json", json_fault(self.columns), line=line)
                return None
            self._repeated.clear()
        try:
            return self._rows(faults, problems, limits)
        except json.JSONDecodeError as fault:
            problems.add("wrong-json", f"this is not JSON: {fault.msg} (character {fault.colno})", line=fault.lineno)
        except RecursionError:
            problems.add("wrong-json", "lists are nested too deeply")
        return None

    def _is_row(self, whole: dict[str, Any]) -> bool:
        kinds = {type(value) for value in whole.values()}
        return any(name in whole for name in self.columns) and kinds not in ({dict}, {list})

    def _has_rows(self, whole: dict[str, Any]) -> bool:
        rows = list(whole.values())
        return bool(rows) and all(isinstance(row, dict) and set(self.columns) <= row.keys() for row in rows)

    def _rows(self, faults: RowProblems, problems: Problems, limits: TableLimits) -> tuple[list[Line], int] | None:
        lines: list[Line] = []
        skipped, counted, line = 0, 0, 1
        for place, value in self._elements():
            line, counted = line + self.text.count("\n", counted, place), place
            if len(lines) + skipped >= limits.rows:
                problems.add("too-many-rows", f"the file has more than {limits.rows:,} rows")
                return None
            if isinstance(value, dict) and not self._repeated:
                lines.append(Line(line, value))
                continue
            skipped += 1
            if self._repeated:
                _note_repeated(self._repeated, line, faults)
                self._repeated.clear()
            else:
                faults.add("not-an-object", f"this element is not an object: {json_fault(self.columns)}", line, "")
        if not lines and not skipped:
            problems.add("empty-file", "the list has no rows")
            return None
        return lines, skipped

    def _elements(self) -> Iterator[tuple[int, Any]]:
        """Yield the elements of a list, or the values of a dictionary, with their positions; raise JSONDecodeError."""
        text = self.text
        closing = "]" if text[self.start] == "[" else "}"
        place = _skip(text, self.start + 1)
        while text[place : place + 1] != closing:
            if closing == "}":
                _, place = self._decoder.raw_decode(text, place)
                place = _expect(text, _skip(text, place), ":")
            value, end = self._decoder.raw_decode(text, place)
            yield place, value
            place = _skip(text, end)
            if text[place : place + 1] != closing:
                place = _expect(text, place, ",")
        if text[_skip(text, place + 1) :]:
            raise json.JSONDecodeError("there is text after its end", text, _skip(text, place + 1))


def _expect(text: str, place: int, sign: str) -> int:
    if text[place : place + 1] != sign:
        raise json.JSONDecodeError(f"{sign!r} is expected" if text[place:] else "the file ends too early", text, place)
    return _skip(text, place + 1)


def _skip(text: str, place: int) -> int:
    found = _SPACE.match(text, place)
    return found.end() if found else place


def _note_repeated(repeated: Sequence[str], line: int, faults: RowProblems) -> None:
    faults.add("duplicate-key", f"the key {quoted(repeated[0])} occurs twice in one object", line, "", repeated[0])


def _decoder(repeated: list[str]) -> json.JSONDecoder:
    """Return a decoder that keeps numbers as written and adds repeated keys to `repeated`."""

    def as_object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for name, value in pairs:
            if name in found:
                repeated.append(name)
            found[name] = value
        return found

    return json.JSONDecoder(object_pairs_hook=as_object, parse_int=Number, parse_float=Number)


def _object(row: str, line: int, faults: RowProblems, limits: TableLimits) -> dict[str, Any] | None:
    """Return the object on a line; None, with the fault reported, if the line has none."""
    if len(row) > limits.line_characters:
        faults.add("line-too-long", f"a line of more than {limits.line_characters:,} characters", line, "")
        return None
    repeated: list[str] = []
    try:
        value = _decoder(repeated).decode(row)
    except json.JSONDecodeError as fault:
        faults.add("wrong-json", f"this is not JSON: {fault.msg} (character {fault.colno})", line, "", row)
        return None
    except RecursionError:
        faults.add("wrong-json", "lists are nested too deeply", line, "", row)
        return None
    if not isinstance(value, dict):
        faults.add("not-an-object", "each line must be an object {…}", line, "", row)
        return None
    if repeated:
        _note_repeated(repeated, line, faults)
        return None
    return value
