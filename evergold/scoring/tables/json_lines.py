"""Read JSON lines, an object on each, with every problem by line; callers check the contents of the objects.

A list of objects, and a dictionary whose values are objects, are read as if each stood on a line of its own.
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
    `Number`s. columns: keys that every object has: only a dictionary of such objects is read.
    """
    text = decode_text(data, problems)
    if text is None:
        return None
    if (document := _document(text)) is not None:
        return _read_document(*document, columns, faults, problems, limits)
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


def _document(text: str) -> tuple[str, int] | None:
    """Return a text that is one list or one dictionary of several lines, and where it begins; None for JSON lines."""
    start = _skip(text, 0)
    if text[start : start + 1] == "[":
        return text, start
    first, _, rest = text[start:].partition("\n")
    is_row = (value := _decoded(first)) is not None
    if is_row and (
        rest.strip() or not isinstance(value, dict) or not all(isinstance(one, dict) for one in value.values())
    ):
        return None
    return (text, start) if is_row or _decoded(text[start:]) is not None else None


def _decoded(text: str) -> object:
    """Return the value that fills the whole text; None if there is none."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _read_document(
    text: str, start: int, columns: Sequence[str], faults: RowProblems, problems: Problems, limits: TableLimits
) -> tuple[list[Line], int] | None:
    """Return the elements of a list, or of a dictionary whose values are rows; a dictionary that is a row, alone."""
    repeated: list[str] = []
    decoder = _decoder(repeated)
    if text[start] == "{":
        try:
            whole = decoder.decode(text[start:])
        except (ValueError, RecursionError):
            whole = {}
        rows = list(whole.values())
        if any(name in whole for name in columns) and not all(isinstance(row, dict) for row in rows):
            return [Line(_line(text, start), whole)], 0
        if not rows or not all(isinstance(row, dict) and set(columns) <= row.keys() for row in rows):
            problems.add("wrong-json", json_fault(columns), line=_line(text, start))
            return None
    lines: list[Line] = []
    skipped, counted, line = 0, 0, 1
    try:
        for place, value in _elements(text, start, decoder):
            line, counted = line + text.count("\n", counted, place), place
            if len(lines) + skipped >= limits.rows:
                problems.add("too-many-rows", f"the file has more than {limits.rows:,} rows")
                return None
            if repeated:
                _note_repeated(repeated, line, faults)
            if repeated or not isinstance(value, dict):
                skipped += 1
                if not repeated:
                    faults.add(
                        "not-an-object", f"each element of the list is an object: {json_fault(columns)}", line, ""
                    )
                repeated.clear()
            else:
                lines.append(Line(line, value))
    except json.JSONDecodeError as fault:
        problems.add("wrong-json", f"this is not JSON: {fault.msg} (character {fault.colno})", line=fault.lineno)
        return None
    except RecursionError:
        problems.add("wrong-json", "lists inside lists without end", line=line)
        return None
    if not lines and not skipped:
        problems.add("empty-file", "the list has no rows")
        return None
    return lines, skipped


def _elements(text: str, start: int, decoder: json.JSONDecoder) -> Iterator[tuple[int, Any]]:
    """Yield the elements of a list, or the values of a dictionary, with their positions; raise JSONDecodeError."""
    closing = "]" if text[start] == "[" else "}"
    place = _skip(text, start + 1)
    while text[place : place + 1] != closing:
        if closing == "}":
            _, place = decoder.raw_decode(text, place)
            place = _expect(text, _skip(text, place), ":")
        value, end = decoder.raw_decode(text, place)
        yield place, value
        place = _skip(text, end)
        if text[place : place + 1] != closing:
            place = _expect(text, place, ",")
    if text[_skip(text, place + 1) :]:
        raise json.JSONDecodeError("there is text behind its end", text, _skip(text, place + 1))


def _expect(text: str, place: int, sign: str) -> int:
    if text[place : place + 1] != sign:
        raise json.JSONDecodeError(f"{sign!r} is expected" if text[place:] else "the file ends too early", text, place)
    return _skip(text, place + 1)


def _skip(text: str, place: int) -> int:
    found = _SPACE.match(text, place)
    return found.end() if found else place


def _line(text: str, place: int) -> int:
    return 1 + text.count("\n", 0, place)


def _note_repeated(repeated: Sequence[str], line: int, faults: RowProblems) -> None:
    faults.add("duplicate-key", f"the key {quoted(repeated[0])} is there twice in one object", line, "", repeated[0])


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
    """Return the object on a line; None, with the fault reported, if there is none."""
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
        faults.add("wrong-json", "lists inside lists without end", line, "", row)
        return None
    if not isinstance(value, dict):
        faults.add("not-an-object", "an object {…} must stand on each line", line, "", row)
        return None
    if repeated:
        _note_repeated(repeated, line, faults)
        return None
    return value
