"""Reads a table that comes as CSV, as TSV or as JSON lines: which of them is told by its content, never by its name.

TSV has tabs between cells and knows no quotation marks: they are part of the text. JSON lines have an object on each
line, with the columns as keys; numbers count as they are written, null is an empty cell. All else is as in `tables`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from evergold.scoring.errors import Problems, shorten
from evergold.scoring.row_problems import RowProblems
from evergold.scoring.tables import TABLE_LIMITS, Table, TableLimits, decode_text, read_table

_HALF_CHARACTER = re.compile("[\ud800-\udfff]")
_KINDS = {list: "a list", dict: "an object", bool: "true or false"}


def read_any_table(
    data: bytes,
    columns: Sequence[str],
    problems: Problems,
    *,
    optional: Sequence[str] = (),
    others: bool = False,
    lists: Mapping[str, str] | None = None,
    limits: TableLimits = TABLE_LIMITS,
) -> Table | None:
    """The table in `data`, or None when it cannot be read at all; everything wrong is added to `problems`, by line.

    columns, optional, others, limits: as for `read_table`; an optional column is there when one line of JSON has it.
    lists: columns whose cells may be lists of texts in JSON lines, and what these are joined with.
    """
    start = data.removeprefix(b"\xef\xbb\xbf").lstrip()[:1]
    if start == b"{":
        return _read_json_lines(data, columns, optional, others, lists or {}, problems, limits)
    if _is_tsv(data, columns):
        return read_table(data, columns, problems, optional=optional, others=others, limits=limits, tabs=True)
    return read_table(data, columns, problems, optional=optional, others=others, limits=limits)


def _is_tsv(data: bytes, columns: Sequence[str]) -> bool:
    """Whether the first line has tabs, and one of the columns between them (a CSV may have a tab in a name)."""
    first = next((line for line in data.split(b"\n", 20) if line.strip()), b"")
    names = [name.strip() for name in first.removeprefix(b"\xef\xbb\xbf").decode("utf-8", "replace").split("\t")]
    return len(names) > 1 and any(name.strip("'\"").casefold() in map(str.casefold, columns) for name in names)


# ----------------------------------------------------------------------------------------------------------- JSON lines


def _read_json_lines(
    data: bytes,
    columns: Sequence[str],
    optional: Sequence[str],
    others: bool,
    lists: Mapping[str, str],
    problems: Problems,
    limits: TableLimits,
) -> Table | None:
    text = decode_text(data, problems)
    if text is None:
        return None
    rows = re.split("\r\n?|\n", text)
    if len(rows) > limits.lines:
        problems.add("too-many-rows", f"the file has more than {limits.lines:,} lines")
        return None
    faults = RowProblems()
    lines: list[int] = []
    objects: list[dict[str, Any]] = []
    skipped = 0
    for line, row in enumerate(rows, start=1):
        if not row.strip():
            continue
        if len(objects) + skipped >= limits.rows:
            problems.add("too-many-rows", f"the file has more than {limits.rows:,} rows")
            return None
        value = _object(row, line, faults, limits)
        if value is None:
            skipped += 1
        else:
            lines.append(line)
            objects.append(value)
    if not others:
        _note_others(lines, objects, {*columns, *optional}, columns, faults)
    there = [name for name in optional if any(name in value for value in objects)]
    cells: dict[str, Sequence[str]] = {
        name: _column(name, lines, objects, name in columns, lists.get(name), faults) for name in (*columns, *there)
    }
    faults.report(problems)
    return Table(lines, cells, skipped)


def _object(row: str, line: int, faults: RowProblems, limits: TableLimits) -> dict[str, Any] | None:
    """The object on a line; None with what is wrong."""
    if len(row) > limits.line_characters:
        faults.add("line-too-long", f"a line of more than {limits.line_characters:,} characters", line, "")
        return None
    repeated: list[str] = []

    def as_object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(pairs)
        if len(found) < len(pairs):
            repeated.extend(name for name, _ in pairs)
        return found

    try:
        value = json.loads(row, object_pairs_hook=as_object, parse_int=_Number, parse_float=_Number)
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
        name = next(name for name in repeated if repeated.count(name) > 1)
        faults.add("duplicate-key", f"the key {shorten(name)!r} is there twice in one object", line, "", name)
        return None
    return value


class _Number(str):
    """A number as it is written."""

    __slots__ = ()


def _note_others(
    lines: Sequence[int],
    objects: Sequence[Mapping[str, Any]],
    known: set[str],
    columns: Sequence[str],
    faults: RowProblems,
) -> None:
    expected = ", ".join(columns)
    for line, value in zip(lines, objects, strict=True):
        for name in value:
            if name not in known:
                message = f"the key {shorten(name)!r} is not expected; the keys are {expected}"
                faults.add("wrong-columns", message, line, "", name)


def _column(
    name: str,
    lines: Sequence[int],
    objects: Sequence[Mapping[str, Any]],
    is_required: bool,
    separator: str | None,
    faults: RowProblems,
) -> list[str]:
    cells = []
    for line, value in zip(lines, objects, strict=True):
        if name not in value and is_required:
            faults.add("missing-key", f"the key {name!r} is missing", line, name)
        cells.append(_cell(name, value.get(name), line, separator, faults))
    return cells


def _cell(name: str, value: object, line: int, separator: str | None, faults: RowProblems) -> str:
    """The value as text, `""` where there is none or a problem."""
    if value is None:
        return ""
    if isinstance(value, list) and separator is not None:
        return _joined(name, value, line, separator, faults)
    if not isinstance(value, str):
        wanted = "a text or a list of texts" if separator is not None else "a text or a number"
        kind = _KINDS.get(type(value), "NaN or Infinity")
        faults.add("wrong-type", f"{name!r} is {kind} where {wanted} is expected", line, name)
        return ""
    if _HALF_CHARACTER.search(value):
        message = "a text has half of a character: a \\ud… escape without its other half"
        faults.add("half-character", message, line, name)
        return ""
    return str(value)


def _joined(name: str, values: list[object], line: int, separator: str, faults: RowProblems) -> str:
    if wrong := [value for value in values if not isinstance(value, str) or not value or separator in value]:
        shown = shorten(json.dumps(wrong[0]))
        message = f"{name!r} is a list of texts that are not empty and have no {separator!r}; {shown} is none"
        faults.add("wrong-type", message, line, name)
        return ""
    return separator.join(_cell(name, value, line, None, faults) for value in values)
