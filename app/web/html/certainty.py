"""Uncertainty of scores as text for pages: confidence intervals, p-values and verdicts of tests."""

from __future__ import annotations

import math

from app.boards.pair_tests import PairTest
from app.boards.rows import Interval
from app.competitions.columns import BoardColumn
from app.web.html.words import format_difference, format_score, language_name
from evergold.scoring.task import Metric

#: Maximum number of names in a sentence.
NAMES_TOLD = 3


def ends(interval: Interval, column: BoardColumn) -> str:
    """Return `70.1 to 78.2`, rounded outward with the decimals of the column."""
    low, high = _outward(interval.low, interval.high, column)
    return f"{format_score(low, column)} to {format_score(high, column)}"


def interval_words(interval: Interval | None, column: BoardColumn) -> str:
    """Return `95 % interval: 70.1 to 78.2`, or "" without an interval."""
    return f"{100 * interval.level:g} % interval: {ends(interval, column)}" if interval else ""


def p_words(p: float) -> str:
    """Return `p < .001` or `p = .034`."""
    short = p_short(p)
    return f"p {short}" if " " in short else f"p = {short}"


def p_short(p: float) -> str:
    """Return `< .001` or `.034`: three digits, rounded up so that no p looks smaller than it is."""
    if p < 0.001:
        return "< .001"
    if p > 0.999:
        return "> .999"
    return f"{math.ceil(1000 * p - 1e-9) / 1000:.3f}".replace("0.", ".")


def difference_ends(test: PairTest, column: BoardColumn) -> str:
    """Return `+0.4 to +2.1`, or "" if the difference has no interval."""
    if test.low is None or test.high is None:
        return ""
    low, high = _outward(test.low, test.high, column)
    return f"{format_difference(low, column)} to {format_difference(high, column)}"


def verdict(test: PairTest, column: BoardColumn) -> str:
    """Return `better`, `worse` or `may be chance`."""
    if not test.is_significant:
        return "may be chance"
    return "better" if (test.difference > 0) == column.higher_is_better else "worse"


def smallest(difference: float, column: BoardColumn) -> str:
    """Return `6.1 points` for percentages or `0.061` otherwise, rounded up to the decimals of the column."""
    _, high = _outward(0.0, difference, column)
    return f"{format_score(high, column)} points" if column.percent else format_score(high, column)


def part_title(split: str) -> str:
    """Return the language of a split as a title, such as `Portuguese` for `zero_shot/pt`."""
    name = split.rpartition("/")[2]
    return language_name(name) or name


def plain_column(metric: Metric | None) -> BoardColumn:
    """Return a column for a score that is on no board: a fraction with four decimals."""
    return BoardColumn("", "", "", 4, False, metric is None or metric.higher_is_better, "")


def _outward(low: float, high: float, column: BoardColumn) -> tuple[float, float]:
    scale = 10**column.decimals * (100 if column.percent else 1)
    return math.floor(low * scale + 1e-9) / scale, math.ceil(high * scale - 1e-9) / scale
