"""Values of gold that people cannot distinguish but a scorer can: with spaces around them, with invisible characters,
or equal to another value except for blanks, case or Unicode's forms.

A scorer would treat each as a separate class, document or item, and silently score every team wrong. Used by every
reader of gold. Labels, types and categories may not differ by case alone unless they are declared; ids may. Where they
are not declared, predictions must follow the same rules: a value that gold cannot have is a slip, and reporting it
reveals nothing about gold.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterable, Sequence

from evergold.scoring.characters import character_name, difference, find_invisible, folded, folded_but_case
from evergold.scoring.errors import quoted
from evergold.scoring.slips import spaces_fault
from evergold.scoring.tables.row_problems import RowProblems

SPACES, INVISIBLE, LOOK_ALIKE = "spaces-around-value", "invisible-character", "looks-like-another"
NOT_NFC = "not-normalised"

#: A value and its line.
Written = tuple[int, str]


def note_labels(values: Iterable[Written], column: str, option: str | None, faults: RowProblems) -> None:
    """Report undeclared values that cannot be intended, see the module's description.

    values: labels, types or categories with their lines, repeated as in the file; option: where organisers may declare
    them, so that values that differ only by case can be kept; None for a prediction.
    """
    first = _first_lines(values)
    for value, line in list(first.items()):
        if fault := _fault(value):
            faults.add(*fault, line, column, value)
            del first[value]
    way_out = f"; declare both under `{option}` if both are meant" if option else ""
    _note_pairs(first, folded, column, faults, way_out)


def note_names(values: Iterable[Written], column: str, faults: RowProblems, *, spaces: bool = False) -> None:
    """Report ids (of items, documents, clusters, …) that differ from an earlier one only by invisible characters,
    blanks or Unicode's forms.

    Ids that differ in case are distinct. spaces: True to report spaces around ids, too.
    """
    first = _first_lines(values)
    for value, line in list(first.items()):
        if fault := spaces_fault(value):
            del first[value]
            if spaces:
                faults.add(SPACES, fault, line, column, value)
    _note_pairs(first, folded_but_case, column, faults)


def _first_lines(values: Iterable[Written]) -> dict[str, int]:
    first: dict[str, int] = {}
    for line, value in values:
        first.setdefault(value, line)
    return first


def _fault(value: str) -> tuple[str, str] | None:
    if fault := spaces_fault(value):
        return SPACES, f"{fault}: a scorer takes it for a different value than {quoted(value.strip())}"
    if hidden := next(find_invisible(value), None):
        message = f"character {hidden[0] + 1} of {quoted(value)} is {character_name(hidden[1])}, an invisible character"
        return INVISIBLE, message
    composed = unicodedata.normalize("NFC", value)
    return None if composed == value else (NOT_NFC, f"{quoted(value)}: {difference(value, composed)}")


def _note_pairs(
    first: dict[str, int], key_of: Callable[[str], str], column: str, faults: RowProblems, way_out: str = ""
) -> None:
    """Report every value that looks like an earlier one. first: by value, the line on which it first occurs, in the
    file's order.
    """
    if key_of is folded_but_case and not any(map(_is_odd, first)):  # as in nearly every file, of up to a million ids
        return
    by_key: dict[str, str] = {}
    for value, line in first.items():
        before = by_key.setdefault(key_of(value), value)
        if before != value:
            message = (
                f"{quoted(value)} looks like {quoted(before)} on line {first[before]}: {difference(value, before)}"
            )
            faults.add(LOOK_ALIKE, message + way_out, line, column, value)


def _is_odd(value: str) -> bool:
    """Return whether a value could look like another one that differs from it by more than case."""
    return not value.isascii() or " " in value or not value.isprintable()


def values_with_lines(lines: Sequence[int], values: Sequence[str]) -> Iterable[Written]:
    """Return the values of a column with their lines, without empty ones, which are reported elsewhere."""
    return ((line, value) for line, value in zip(lines, values, strict=True) if value.strip())
