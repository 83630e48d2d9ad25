"""Macro F1 of two labels: it rises with each right item, so it says how many of those predicted 1 are 1.

How many labels are 1 follows from one file that predicts 1 everywhere: the F1 of label 0 is 0 then, and that of label 1
is 2 · ones / (items + ones).
"""

from __future__ import annotations

from tests.attacks.reading import Ask, Reading
from tests.attacks.weighing import designs_within


def attack(ask: Ask, items: int, submissions: int) -> Reading:
    """Read as many labels as these submissions allow."""
    half = ask([1] * items)  # ones / (items + ones)
    ones = round(half * items / (1 - half))
    labels: dict[int, int] = {}
    start, spent = 0, 1
    for design in designs_within(submissions - 1, items, is_signed=False):
        places = range(start, min(start + design.rows.shape[1], items))
        sums = []
        for row in design.rows.tolist():
            prediction = [0] * items
            for place, is_asked in zip(places, row, strict=False):
                prediction[place] = is_asked
            sums.append(_hits(ask(prediction), items, ones, sum(prediction)))
        spent += len(sums)
        labels |= dict(zip(places, map(int, design.solve(sums)), strict=False))
        start += len(places)
    return Reading(labels, spent)


def _hits(shown: float, items: int, ones: int, predicted: int) -> int:
    """Return how many of those predicted 1 are 1: the number whose macro F1 is nearest to the one shown."""
    return min(range(min(ones, predicted) + 1), key=lambda hits: abs(macro_f1(items, ones, predicted, hits) - shown))


def macro_f1(items: int, ones: int, predicted: int, hits: int) -> float:
    """Return the macro F1 of two labels, computed from the counts."""
    zeros_right = items - ones - predicted + hits
    return hits / (ones + predicted) + zeros_right / (2 * items - ones - predicted)
