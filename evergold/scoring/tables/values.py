"""Valid cells of the value column of `table`: a label, a number or a text."""

from __future__ import annotations

import re
from collections.abc import Sequence

from evergold.scoring.characters import LookAlikes
from evergold.scoring.errors import quoted, shorten
from evergold.scoring.option_types import TOO_LONG, length_fault
from evergold.scoring.slips import blank_fault, number_fault
from evergold.scoring.tables.options import TableOptions
from evergold.scoring.tables.reading import Table
from evergold.scoring.tables.row_problems import RowProblems
from evergold.scoring.tables.settings import listed

_ROUGE_WORD = re.compile("[a-z0-9]")
#: Numbers beyond this are a slip, and their squares would leave the range of floating point.
LARGEST = 1e100


def note_values(
    table: Table,
    column: str,
    labels: Sequence[str] | None,
    options: TableOptions,
    faults: RowProblems,
    gold: bool = False,
) -> None:
    """Report faults of the cells of the value column. labels: the allowed labels; None: any."""
    likely = LookAlikes(labels or ())
    for line, value in zip(table.lines, table[column], strict=True):
        if fault := _value_fault(value, labels, likely, options, gold):
            faults.add("bad-value", fault, line, column, value)
    if options.kind == "texts":
        note_lengths(table, column, options, faults)


def note_lengths(table: Table, column: str, options: TableOptions, faults: RowProblems) -> None:
    """Report the texts of a column that are too long."""
    for line, text in zip(table.lines, table[column], strict=True):
        if fault := length_fault(text, options.max_characters):
            faults.add(TOO_LONG, fault, line, column, text)


def _value_fault(
    value: str, labels: Sequence[str] | None, likely: LookAlikes, options: TableOptions, gold: bool
) -> str | None:
    """Return the fault of a cell of the value column; None if the cell is valid."""
    is_text = options.kind == "texts"
    if not (value if is_text and not gold else value.strip()) and not (options.allow_empty and not gold and is_text):
        return blank_fault(value)
    if gold and options.uses_rouge and not _ROUGE_WORD.search(value.lower()):
        return f"{quoted(value)} has no letter a to z and no digit, and ROUGE knows no others: use chrf"
    if options.kind == "labels" and labels is not None and value not in labels:
        return f"invalid label {quoted(value)}: expected one of {listed(labels)}{likely.hint(value)}"
    if options.kind == "numbers":
        return _number_fault(value, None if gold else options.minimum, None if gold else options.maximum)
    return None


def _number_fault(text: str, minimum: float | None, maximum: float | None) -> str | None:
    if fault := number_fault(text, LARGEST):
        return fault
    number = float(text)
    if minimum is not None and number < minimum:
        return f"{shorten(text)} is smaller than {minimum:g}"
    if maximum is not None and number > maximum:
        return f"{shorten(text)} is larger than {maximum:g}"
    return None
