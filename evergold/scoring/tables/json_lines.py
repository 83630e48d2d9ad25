"""Read JSON lines, an object on each, with every problem by line; callers check the contents of the objects."""

from __future__ import annotations

import json
import re
from typing import Any, NamedTuple

from evergold.scoring.errors import Problems, shorten
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


def is_json_lines(data: bytes) -> bool:
    """Return whether the file starts with an object."""
    return data.removeprefix(b"\xef\xbb\xbf").lstrip()[:1] == b"{"


def read_json_lines(
    data: bytes, faults: RowProblems, problems: Problems, limits: TableLimits
) -> tuple[list[Line], int] | None:
    """Return the objects with their lines, and the number of lines without one, which are reported in `faults`.

    None, with the reason in `problems`, if the file cannot be read at all. Blank lines are skipped; numbers are
    `Number`s.
    """
    text = decode_text(data, problems)
    if text is None:
        return None
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


def _object(row: str, line: int, faults: RowProblems, limits: TableLimits) -> dict[str, Any] | None:
    """Return the object on a line; None, with the fault reported, if there is none."""
    if len(row) > limits.line_characters:
        faults.add("line-too-long", f"a line of more than {limits.line_characters:,} characters", line, "")
        return None
    repeated: list[str] = []

    def as_object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for name, value in pairs:
            if name in found:
                repeated.append(name)
            found[name] = value
        return found

    try:
        value = json.loads(row, object_pairs_hook=as_object, parse_int=Number, parse_float=Number)
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
        message = f"the key {shorten(repeated[0])!r} is there twice in one object"
        faults.add("duplicate-key", message, line, "", repeated[0])
        return None
    return value
