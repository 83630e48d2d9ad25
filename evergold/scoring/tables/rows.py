"""Shared code of tables with an id per row: valid, distinct ids, and a prediction for each of them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from evergold.scoring.errors import Problems, shorten
from evergold.scoring.tables.reading import Table
from evergold.scoring.tables.row_problems import RowProblems
from evergold.scoring.tables.settings import listed


def check_ids(table: Table, column: str, problems: Problems) -> None:
    """Check that every id of an organisers' file is unique, not empty and without spaces around it, and that there is
    one.
    """
    first: dict[str, int] = {}
    faults = RowProblems()
    for line, id_ in zip(table.lines, table[column], strict=True):
        if not id_ or id_ != id_.strip():
            faults.add("bad-id", "an id is empty or has spaces around it", line, column, id_)
        elif (before := first.setdefault(id_, line)) != line:
            faults.add("duplicate-id", _twice(id_, before), line, column, id_)
    faults.report(problems)
    if not len(table) and not table.skipped_rows:
        problems.add("empty-file", "the file has no items, only a header")


def match_ids(table: Table, column: str, ids: Sequence[str], faults: RowProblems, problems: Problems) -> None:
    """Check that a prediction has each of these ids once, and no other; report `faults`, then the missing ids."""
    known, first = set(ids), dict[str, int]()
    for line, id_ in zip(table.lines, table[column], strict=True):
        if id_ not in known:
            faults.add("unknown-id", f"id {shorten(id_)!r} is not an item", line, column, id_)
        elif (before := first.setdefault(id_, line)) != line:
            faults.add("duplicate-id", _twice(id_, before), line, column, id_)
    faults.report(problems)
    missing = [id_ for id_ in ids if id_ not in first]
    if missing and not table.skipped_rows:
        problems.add("missing-id", f"{len(missing)} of {len(ids)} ids are missing: {listed(missing)}", column=column)


def sorted_ids(ids: Iterable[str]) -> tuple[str, ...]:
    """Sort ids in an order that reveals nothing: short ones first, then by letters."""
    return tuple(sorted(ids, key=lambda id_: (len(id_), id_)))


def _twice(id_: str, before: int) -> str:
    return f"id {shorten(id_)} appears twice, first on line {before}"
