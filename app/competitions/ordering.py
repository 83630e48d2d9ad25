"""Comparison of values to a number of decimals."""

from __future__ import annotations

from app.competitions.columns import BoardColumn
from app.competitions.visibility import EXACT_DECIMALS, is_exact, min_decimals, rounded


def goodness(value: float | None, sign: float) -> tuple[bool, float]:
    """Return a key that sorts better values first and undefined ones last; sorting is stable.

    sign: -1 if higher is better.
    """
    return value is None, sign * (value or 0.0)


def sign_of(column: BoardColumn) -> float:
    """Return -1 if higher is better, else 1."""
    return -1.0 if column.higher_is_better else 1.0


def difference_of(value: float | None, other: float | None, decimals: int | None) -> float | None:
    """Return the difference of two values as displayed, with no more decimals than they have."""
    if value is None or other is None:
        return None
    less, more = rounded(other, decimals) or 0.0, rounded(value, decimals) or 0.0
    return rounded(more - less, EXACT_DECIMALS if decimals is None else decimals)


def effective_decimals(column: BoardColumn, precision: int | None) -> int | None:
    """Return the decimals of a column's values at this precision, at most those displayed, to avoid double rounding.

    EXACT_DECIMALS, with which unrounded values are compared, are the same for all columns.
    """
    if precision is None or column.out_of is not None:
        return None
    if is_exact(precision):
        return EXACT_DECIMALS
    return min_decimals(precision, column.decimals + 2 * column.percent)
