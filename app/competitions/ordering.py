"""Which of two values is better, as far as their digits count."""

from __future__ import annotations

from app.competitions.columns import BoardColumn
from app.competitions.visibility import coarser


def goodness(value: float | None, sign: float) -> tuple[bool, float]:
    """Sorts better values first and undefined ones last; equal ones keep their order. sign: -1 if higher is better."""
    return value is None, sign * (value or 0.0)


def sign_of(column: BoardColumn) -> float:
    """For `goodness`."""
    return -1.0 if column.higher_is_better else 1.0


def decimals_of(column: BoardColumn, precision: int | None) -> int | None:
    """Decimals of a column's values under this precision: no more than it shows, so that nothing is rounded twice."""
    if precision is None or column.out_of is not None:
        return None
    return coarser(precision, column.decimals + 2 * column.percent)
