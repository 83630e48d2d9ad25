"""Judgements and runs of ranking: CSV, TSV, JSON lines, or TREC's own formats without a header.

TREC's `qrels` have four columns (`query 0 document relevance`), its runs have six (`query Q0 document rank score tag`),
separated by blanks or tabs; rank and tag are ignored, as in trec_eval. Names may contain all other characters, such as
commas, braces and no-break spaces. A file with neither the header of a table nor the braces of JSON is read as TREC's
format.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from evergold.scoring.errors import Problems, shorten
from evergold.scoring.numerals import finite_number
from evergold.scoring.slips import is_json_document, is_separator_line
from evergold.scoring.tables.forms import read_any_table
from evergold.scoring.tables.reading import TABLE_LIMITS, Table, TableLimits, decode_text
from evergold.scoring.tables.row_problems import RowProblems
from evergold.scoring.tables.settings import note_clusters

QUERY, DOCUMENT, RELEVANCE, SCORE = "query", "document", "relevance", "score"
#: A run has many documents for each query.
LIMITS = TableLimits(rows=1_000_000, lines=2_000_000, line_characters=TABLE_LIMITS.line_characters)

_PLACES = {RELEVANCE: {QUERY: 0, DOCUMENT: 2, RELEVANCE: 3}, SCORE: {QUERY: 0, DOCUMENT: 2, SCORE: 4}}
_COLUMNS = {
    RELEVANCE: ("qrels", ("query", "0", "document", "relevance")),
    SCORE: ("run", ("query", "Q0", "document", "rank", "score", "tag")),
}
#: What separates columns for trec_eval; a no-break space is part of a name.
_BLANKS = re.compile("[ \t\v\f]+")
#: What separates names in the header of a table.
_DELIMITERS = re.compile(r"[,;|\s]+")


def read_rankings(
    data: bytes,
    value: str,
    problems: Problems,
    *,
    columns: Sequence[str] = (QUERY, DOCUMENT),
    is_optional: bool = False,
    others: bool = False,
) -> Table | None:
    """Read the columns, and `value` (RELEVANCE or SCORE), in any of the formats; None if the file cannot be read.

    is_optional: True if `value` and the document may be absent (in a blind file); others: as for `read_table`.
    """
    if _is_trec(data, value, is_optional=is_optional):
        return _read_trec(data, value, problems)
    if is_optional:
        optional = [DOCUMENT, value]
        return read_any_table(data, [QUERY], problems, optional=optional, others=others, limits=LIMITS)
    return read_any_table(data, [*columns, value], problems, others=others, limits=LIMITS)


def clusters_of_queries(table: Table, column: str | None, problems: Problems) -> dict[str, str] | None:
    """Return, by query, its cluster: the value in `column`, which the option `resample_by` names; None without that
    column.

    Empty cells, and a query that belongs to two clusters, are added to `problems`.
    """
    if column is not None and column not in table:
        problems.add("wrong-columns", f"resample_by: TREC's files have no column {shorten(column)}", column=column)
        return None
    names = note_clusters(table, column, problems)
    if names is None:
        return None
    first: dict[str, int] = {}
    for row, (line, query, name) in enumerate(zip(table.lines, table[QUERY], names, strict=True)):
        before = first.setdefault(query, row)
        if names[before] != name:
            other = f"query {shorten(query)} belongs to {shorten(names[before])} on line {table.lines[before]}"
            problems.add("two-clusters", f"resample_by: {other}", line=line, column=column, text=name)
    return {query: names[row] for query, row in first.items()}


def _is_trec(data: bytes, value: str, *, is_optional: bool) -> bool:
    """Return whether a file has TREC's columns, or was probably meant to have them.

    value: RELEVANCE or SCORE. For a blind file (is_optional), only the number of columns decides, because nothing is
    known about their content.
    """
    text = data[:100_000].decode("utf-8-sig", "replace")
    rows = [row for row in re.split("\r\n?|\n", text)[:20] if row.strip()]
    first = next((row for row in rows if not row.startswith("#")), rows[0] if rows else "")
    names = {name.strip("'\"").casefold() for name in _DELIMITERS.split(first)}
    if not first or names & {QUERY, DOCUMENT} or is_json_document(first) or is_separator_line(first):
        return False
    cells, width = _BLANKS.split(first.strip()), len(_COLUMNS[value][1])
    if len(cells) == width or is_optional:
        return len(cells) == width
    as_table = (
        first.count(",") == len(_PLACES[value]) - 1 and finite_number(first.rpartition(",")[2].strip()) is not None
    )
    return len(cells) > 3 and not as_table


def _read_trec(data: bytes, value: str, problems: Problems) -> Table | None:
    text = decode_text(data, problems)
    if text is None:
        return None
    lines: list[int] = []
    rows: list[list[str]] = []
    faults = RowProblems()
    skipped = 0
    for line, row in enumerate(re.split("\r\n?|\n", text), start=1):
        if not row.strip():
            continue
        cells = _BLANKS.split(row.strip(" \t\v\f"))
        if len(cells) != len(_COLUMNS[value][1]):
            skipped += 1
            faults.add("wrong-field-count", _width_fault(row, cells, value), line, "", row)
        else:
            lines.append(line)
            rows.append(cells)
        if len(rows) + skipped > LIMITS.rows:
            problems.add("too-many-rows", f"the file has more than {LIMITS.rows:,} rows")
            return None
    faults.report(problems)
    return Table(lines, {name: [row[place] for row in rows] for name, place in _PLACES[value].items()}, skipped)


def _width_fault(row: str, cells: Sequence[str], value: str) -> str:
    """Explain why a line does not have TREC's columns."""
    name, columns = _COLUMNS[value]
    wanted = f"a {'line of qrels' if value == RELEVANCE else name} has {len(columns)}: {' '.join(columns)}"
    if row.startswith("#"):
        return f"comments are not allowed in TREC's files; {wanted}"
    count = f"{len(cells)} column{'' if len(cells) == 1 else 's'}; {wanted}"
    if value == SCORE and len(cells) > len(columns) and finite_number(cells[_PLACES[SCORE][SCORE]]) is not None:
        return f"{count}; the tag must not contain blanks"
    if value == SCORE and len(cells) == len(columns) - 1 and finite_number(cells[_PLACES[SCORE][SCORE]]) is not None:
        return f"{count}; the tag, a name of the system, is missing"
    return count
