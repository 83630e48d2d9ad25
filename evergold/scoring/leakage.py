"""Upper bounds on the information about hidden gold in shown scores: the bits of each score.

By counting: m scores with v possible values each reveal m · log2(v) bits and no more, however clever the
predictions were. `gold_size` measures the gold.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from evergold.scoring.task import Metric

#: Information in a number shown with all its digits: the bits of a double's fraction.
FULL_BITS = 53.0
#: Powers of ten that a number without bounds may have.
DECADES = 300
#: Minimum number of digits shown of a number of 10 or more: see `rounded` in `app.competitions.visibility`.
DIGITS = 5
#: A p is shown with four decimals.
P_BITS = math.log2(10_001)
#: Scores that count right items, so that n items allow n + 1 values.
SHARES_OF_ITEMS = frozenset({"accuracy", "exact_match", "subset_accuracy"})


@dataclass(frozen=True, slots=True)
class GoldSize:
    """The amount of information in gold.

    items: number of items with an answer of their own.
    bits: the entropy of all answers together, each taken by itself.
    labels: number of different labels a prediction may have, None if answers are not labels or come in clusters.
    is_measured: True if computed from gold, False if estimated from the items.
    """

    items: int
    bits: float
    labels: int | None = None
    is_measured: bool = True

    def part(self, share: float) -> GoldSize:
        """Return the size of a part of the items, on average."""
        return replace(self, items=round(self.items * share), bits=self.bits * share)


@dataclass(frozen=True, slots=True)
class Shown:
    """A score that is shown for each submission.

    decimals: number of decimals that are shown of the fraction; None: all.
    has_statistics: True if its interval is shown, too, and a test against the previous submission.
    """

    metric: Metric
    decimals: int | None
    has_statistics: bool = False

    def bits(self, size: GoldSize | None) -> float:
        """Return the maximum number of bits of gold that this score reveals per submission.

        size: of gold, which lowers the maximum for scores that count items; None if unknown.
        """
        number = _bits_of_number(self.metric, self.decimals)
        digits = 5 * number + P_BITS if self.has_statistics and self.metric.has_interval else number
        outcomes = self._bits_of_outcomes(size) if size is not None else None
        return digits if outcomes is None else min(digits, outcomes)

    def _bits_of_outcomes(self, size: GoldSize) -> float | None:
        """Return the base-2 logarithm of the number of possible outcomes, given the size of gold; None if it has no
        bound.

        Scores of labels, and their intervals, follow from how many items of each label are right; with two labels one
        number determines both. A test, which compares two submissions, doubles the number of these counts.
        """
        if size.labels is None:
            return None
        if self.metric.name in SHARES_OF_ITEMS:
            numbers = 2 if self.has_statistics and size.labels > 2 else 1
        else:
            numbers = (1 if size.labels <= 2 else size.labels) * (2 if self.has_statistics else 1)
        return numbers * math.log2(size.items + 1)


def _bits_of_number(metric: Metric, decimals: int | None) -> float:
    if decimals is None:
        return FULL_BITS
    if metric.minimum is not None and metric.maximum is not None:
        values = (metric.maximum - metric.minimum) * 10**decimals + 1
    else:
        values = 2 * 10.0 ** (decimals + 1) + DECADES * 9 * 10.0 ** max(DIGITS - 1, decimals)
    return min(FULL_BITS, math.log2(values))


def bits_of_ladder(submissions: int, step: float) -> float:
    """Return the most bits that a Ladder reveals in n submissions: its records rise step by step, and never fall."""
    steps = math.floor(1 / step) + 1
    return _log2_of_choices(submissions + steps, submissions)


def _log2_of_choices(of: int, chosen: int) -> float:
    return (math.lgamma(of + 1) - math.lgamma(chosen + 1) - math.lgamma(of - chosen + 1)) / math.log(2)
