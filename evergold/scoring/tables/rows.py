"""Shared code of tables with an id per row: valid, distinct ids, and a prediction for each of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from evergold.scoring.characters import LookAlikes
from evergold.scoring.errors import InvalidGold, InvalidItems, Problem, Problems, quoted, shorten
from evergold.scoring.gold_values import note_names
from evergold.scoring.slips import id_fault
from evergold.scoring.tables.forms import read_any_table
from evergold.scoring.tables.reading import Table
from evergold.scoring.tables.row_problems import RowProblems
from evergold.scoring.tables.settings import listed

Value = TypeVar("Value")


@dataclass(frozen=True)
class Items:
    """The items that must be predicted: n ids. labels: the allowed labels, None: any."""

    ids: tuple[str, ...]
    labels: tuple[str, ...] | None = None

    def demands(self) -> dict[str, object]:
        """Return the ids as keys, each without a value."""
        return dict.fromkeys(self.ids)

    def in_order_of_id(self) -> Items:
        """Return the items sorted: the order of a gold file could reveal something about its values."""
        return Items(sorted_ids(self.ids), self.labels)

    def only(self, places: Iterable[int]) -> Items:
        """Return the items at these places."""
        return Items(tuple(self.ids[place] for place in places), self.labels)


def read_blind_ids(
    data: bytes,
    id_column: str,
    answer_column: str,
    labels: tuple[str, ...] | None,
    lists: Mapping[str, str] | None = None,
) -> Items | None:
    """Read the items in the order of a blind file; None if it is gold, with answers. Raises InvalidItems.

    labels: the declared ones, None: any; lists: as for `read_any_table`.
    """
    problems = Problems()
    table = read_any_table(data, [id_column], problems, optional=[answer_column], others=True, lists=lists)
    if table is None:
        raise InvalidItems(problems.errors, problems.omitted)
    if answer_column in table:
        return None
    check_ids(table, id_column, problems)
    problems.raise_if_any(InvalidItems)
    return Items(tuple(table[id_column]), labels)


def check_ids(table: Table, column: str, problems: Problems) -> None:
    """Check that an organisers' file has at least one id, and that each is unique, not empty, without spaces around it,
    and does not look like another.
    """
    first: dict[str, int] = {}
    faults = RowProblems()
    for line, id_ in zip(table.lines, table[column], strict=True):
        if fault := id_fault(id_):
            faults.add("bad-id", fault, line, column, id_)
        elif (before := first.setdefault(id_, line)) != line:
            faults.add("duplicate-id", _twice(id_, before), line, column, id_)
    note_names(((line, id_) for id_, line in first.items()), column, faults)
    faults.report(problems)
    if not len(table) and not table.skipped_rows:
        problems.add("empty-file", "the file has no items, only a header")


def match_ids(table: Table, column: str, ids: Sequence[str], faults: RowProblems, problems: Problems) -> None:
    """Check that a prediction has each of these ids once, and no other; report `faults`, then the missing ids."""
    known, first, likely = set(ids), dict[str, int](), LookAlikes(ids)
    for line, id_ in zip(table.lines, table[column], strict=True):
        if id_ not in known:
            fault = id_fault(id_) if not id_.strip() else f"id {quoted(id_)} is not an item{likely.hint(id_)}"
            faults.add("unknown-id", fault or "", line, column, id_)
        elif (before := first.setdefault(id_, line)) != line:
            faults.add("duplicate-id", _twice(id_, before), line, column, id_)
    faults.report(problems)
    missing = [id_ for id_ in ids if id_ not in first]
    if missing and not table.skipped_rows:
        problems.add("missing-id", f"{len(missing)} of {len(ids)} ids are missing: {listed(missing)}", column=column)


def values_in_order(gold: Items, values: Mapping[str, Value]) -> tuple[Value, ...]:
    """Return the predicted values in gold's order; raises InvalidGold unless there is one for each of its items."""
    if missing := [id_ for id_ in gold.ids if id_ not in values]:
        message = f"{len(missing)} gold items are not in the items file: {listed(missing)}"
        raise InvalidGold([Problem("unknown-id", message)])
    return tuple(values[id_] for id_ in gold.ids)


def sorted_ids(ids: Iterable[str]) -> tuple[str, ...]:
    """Sort ids in an order that reveals nothing: short ones first, then by letters."""
    return tuple(sorted(ids, key=lambda id_: (len(id_), id_)))


def _twice(id_: str, before: int) -> str:
    return f"id {shorten(id_)} appears twice, first on line {before}"
