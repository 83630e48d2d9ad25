"""Which of two values is better, as far as their digits count."""

from __future__ import annotations

from app.competitions.columns import BoardColumn
from app.competitions.visibility import EXACT_DECIMALS, coarser, is_exact, rounded


def goodness(value: float | None, sign: float) -> tuple[bool, float]:
    """Sorts better values first and undefined ones last; equal ones keep their order. sign: -1 if higher is better."""
    return value is None, sign * (value or 0.0)


def sign_of(column: BoardColumn) -> float:
    """For `goodness`."""
    return -1.0 if column.higher_is_better else 1.0


def difference_of(value: float | None, other: float | None, decimals: int | None) -> float | None:
    """How much more a value is than another, of both as they are shown, with no more decimals than they have."""
    if value is None or other is None:
        return None
    less, more = rounded(other, decimals) or 0.0, rounded(value, decimals) or 0.0
    return rounded(more - less, EXACT_DECIMALS if decimals is None else decimals)


def decimals_of(column: BoardColumn, precision: int | None) -> int | None:
    """Decimals of a column's values under this precision: no more than it shows, so that nothing is rounded twice.
    EXACT_DECIMALS, which compare values that are shown whole, are the same for all columns."""
    if precision is None or column.out_of is not None:
        return None
    if is_exact(precision):
        return EXACT_DECIMALS
    return coarser(precision, column.decimals + 2 * column.percent)
