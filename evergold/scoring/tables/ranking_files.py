"""Judgements and runs of ranking: CSV, TSV, JSON lines, or TREC's own formats without a header.

TREC's `qrels` have four columns, `query 0 document relevance`, its runs six, `query Q0 document rank score tag`,
separated by blanks or tabs; rank and tag are ignored, as in trec_eval.
"""

from __future__ import annotations

from collections.abc import Sequence

from evergold.scoring.errors import Problems, shorten
from evergold.scoring.tables.forms import read_any_table
from evergold.scoring.tables.reading import TABLE_LIMITS, Table, TableLimits, decode_text
from evergold.scoring.tables.settings import note_clusters

QUERY, DOCUMENT, RELEVANCE, SCORE = "query", "document", "relevance", "score"
#: A run has many documents for each query.
LIMITS = TableLimits(rows=1_000_000, lines=2_000_000, line_characters=TABLE_LIMITS.line_characters)

_QRELS = {QUERY: 0, DOCUMENT: 2, RELEVANCE: 3}
_RUN = {QUERY: 0, DOCUMENT: 2, SCORE: 4}
_WIDTHS = {RELEVANCE: 4, SCORE: 6}


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

    is_optional: whether `value` and the document may be absent (in a blind file); others: as for `read_table`.
    """
    if _width(data) == _WIDTHS[value]:
        return _read_trec(data, _QRELS if value == RELEVANCE else _RUN, _WIDTHS[value], problems)
    if is_optional:
        optional = [DOCUMENT, value]
        return read_any_table(data, [QUERY], problems, optional=optional, others=others, limits=LIMITS)
    return read_any_table(data, [*columns, value], problems, others=others, limits=LIMITS)


def clusters_of_queries(table: Table, column: str | None, problems: Problems) -> dict[str, str] | None:
    """Return the cluster of every query by `resample_by`; None without one.

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


def _width(data: bytes) -> int | None:
    """Return the number of columns of a file without commas, braces and header; None if it is no such file."""
    first = next((line for line in data.split(b"\n", 20) if line.strip()), b"")
    cells = first.split()
    is_header = QUERY.encode() in cells or DOCUMENT.encode() in cells
    return None if is_header or b"," in first or b"{" in first else len(cells)


def _read_trec(data: bytes, places: dict[str, int], width: int, problems: Problems) -> Table | None:
    text = decode_text(data, problems)
    if text is None:
        return None
    lines: list[int] = []
    rows: list[list[str]] = []
    skipped = 0
    for line, row in enumerate(text.split("\n"), start=1):
        cells = row.split()
        if not cells:
            continue
        if len(cells) != width:
            skipped += 1
            message = f"{len(cells)} columns, the first line has {width}"
            problems.add("wrong-field-count", message, line=line)
        else:
            lines.append(line)
            rows.append(cells)
        if len(rows) + skipped > LIMITS.rows:
            problems.add("too-many-rows", f"the file has more than {LIMITS.rows:,} rows")
            return None
    return Table(lines, {name: [row[place] for row in rows] for name, place in places.items()}, skipped)
