"""Read a table in CSV, TSV or JSON lines; its content decides the format, never its name.

In TSV, cells are separated by tabs, and quotation marks are part of the text. JSON has an object for each row, with the
columns as keys, either on a line each or in a list; numbers are kept as written, null is an empty cell. Everything else
is as in `tables.reading`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from evergold.scoring.errors import Problems, quoted, shorten
from evergold.scoring.slips import json_fault
from evergold.scoring.tables.json_lines import HALF_CHARACTER, Line, is_json_lines, read_json_lines
from evergold.scoring.tables.reading import TABLE_LIMITS, Header, Table, TableLimits, read_table
from evergold.scoring.tables.row_problems import RowProblems

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
    """Return the table in `data`, or None if it cannot be read at all; everything wrong is added to `problems`, by
    line.

    columns, optional, others, limits: as for `read_table`; in JSON lines, an optional column exists if at least one
    line has it. lists: maps every column whose cells may be lists of texts in JSON lines to the separator that joins
    these.
    """
    if is_json_lines(data):
        return _read_json_lines(data, Header(columns, optional, others), lists or {}, problems, limits)
    if _is_tsv(data, columns):
        return read_table(data, columns, problems, optional=optional, others=others, limits=limits, tabs=True)
    return read_table(data, columns, problems, optional=optional, others=others, limits=limits)


def _is_tsv(data: bytes, columns: Sequence[str]) -> bool:
    """Return whether the first line has tabs, and one of the cells between them is the name of a column (a CSV may have
    a tab in a name).
    """
    first = next((line for line in data.split(b"\n", 20) if line.strip()), b"")
    names = [name.strip() for name in first.removeprefix(b"\xef\xbb\xbf").decode("utf-8", "replace").split("\t")]
    return len(names) > 1 and any(name.strip("'\"").casefold() in map(str.casefold, columns) for name in names)


# ----------------------------------------------------------------------------------------------------------- JSON lines


def _read_json_lines(
    data: bytes,
    header: Header,
    lists: Mapping[str, str],
    problems: Problems,
    limits: TableLimits,
) -> Table | None:
    columns, faults = header.columns, RowProblems()
    read = read_json_lines(data, columns, faults, problems, limits)
    if read is None:
        return None
    rows, skipped = read
    if len(rows) == 1 and not skipped and not rows[0].values.keys() & header.known:
        problems.add("wrong-json", json_fault(columns), line=rows[0].line)
        return None
    if not header.others:
        _note_others(rows, header, faults)
    there = [name for name in header.optional if any(name in row.values for row in rows)]
    cells: dict[str, Sequence[str]] = {
        name: _column(name, rows, name in columns, lists.get(name), faults) for name in (*columns, *there)
    }
    faults.report(problems)
    return Table([row.line for row in rows], cells, skipped)


def _note_others(rows: Sequence[Line], header: Header, faults: RowProblems) -> None:
    known, expected = header.known, ", ".join(header.columns)
    for line, values in rows:
        for name in values:
            if name not in known:
                message = f"the key {quoted(name)} is not expected; the keys are {expected}"
                faults.add("wrong-columns", message, line, "", name)


def _column(
    name: str, rows: Sequence[Line], is_required: bool, separator: str | None, faults: RowProblems
) -> list[str]:
    cells = []
    for line, values in rows:
        if name not in values and is_required:
            faults.add("missing-key", f"the key {name!r} is missing", line, name)
        cells.append(_cell(name, values.get(name), line, separator, faults))
    return cells


def _cell(name: str, value: object, line: int, separator: str | None, faults: RowProblems) -> str:
    """Return the value as text; `""` if there is none, or if it has a fault, which is reported."""
    if value is None:
        return ""
    if isinstance(value, list) and separator is not None:
        return _joined(name, value, line, separator, faults)
    if not isinstance(value, str):
        wanted = "a text or a list of texts" if separator is not None else "a text or a number"
        kind = _KINDS.get(type(value), "NaN or Infinity")
        faults.add("wrong-type", f"{name!r} is {kind} where {wanted} is expected", line, name)
        return ""
    if HALF_CHARACTER.search(value):
        message = "a text has an unpaired surrogate: a \\ud… escape without its other half"
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
