"""Pearson's r of a prediction that is a power of two at a few items and 0 elsewhere: one score has a bit for each.

With r shown to d decimals, r · n · sd(prediction) · sd(gold) is the sum of the powers where gold is 1, less a constant
that follows from how many labels are 1. As many powers as the digits keep apart: all of 44 in a double, some ten of
1,000 items in four decimals. How many labels are 1 is what all answers agree on.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tests.attacks.reading import Ask, Reading

#: So many first files spare some digits, to find out how many labels are 1.
SPARING, SPARED_BITS = 4, 3


@dataclass(frozen=True, slots=True)
class _Answer:
    """places: the items with powers 1, 2, 4, …; spread: n · the standard deviation of the prediction; r: as shown."""

    places: tuple[int, ...]
    spread: float
    r: float

    def read(self, ones: int, items: int, error: float) -> int | None:
        """Return the only sum of powers that fits if so many labels are 1; None if none or several do."""
        scale = self.spread * math.sqrt(ones / items * (1 - ones / items))
        mean = (2 ** len(self.places) - 1) / items
        middle, slack = self.r * scale + mean * ones, error * scale + 1e-6
        low, high = math.ceil(middle - slack), math.floor(middle + slack)
        fits = [number for number in range(max(low, 0), min(high, 2 ** len(self.places) - 1) + 1)]
        return fits[0] if len(fits) == 1 else None


def attack(ask: Ask, items: int, submissions: int, decimals: int) -> Reading:
    """Read as many labels as these submissions allow, one group of items after the other."""
    error = 0.5 * 10.0**-decimals
    most = _most_bits(items, error)
    answers: list[_Answer] = []
    start = 0
    while len(answers) < submissions and start < items:
        bits = max(1, most - SPARED_BITS) if len(answers) < SPARING else most
        places = tuple(range(start, min(start + bits, items)))
        start += len(places)
        prediction = np.zeros(items)
        prediction[list(places)] = 2.0 ** np.arange(len(places))
        answers.append(_Answer(places, items * float(prediction.std()), ask(list(prediction))))
    return Reading(_agreed(answers, items, error), len(answers))


def _most_bits(items: int, error: float) -> int:
    """Return for how many powers two sums never share a shown value, whatever the labels are."""
    bits = 1
    while bits < min(items, 44):
        powers = np.zeros(items)
        powers[: bits + 1] = 2.0 ** np.arange(bits + 1)
        if items * float(powers.std()) * 0.5 * 2 * error >= 1:
            break
        bits += 1
    return bits


def _agreed(answers: Sequence[_Answer], items: int, error: float) -> dict[int, int]:
    """Return the labels that are the same for every number of ones that all answers fit."""
    found: list[dict[int, int]] = []
    for ones in range(1, items):
        sums = [answer.read(ones, items, error) for answer in answers]
        if None not in sums:
            found.append(
                {
                    place: number >> power & 1
                    for answer, number in zip(answers, sums, strict=True)
                    for power, place in enumerate(answer.places)
                    if number is not None
                }
            )
    first = found[0] if found else {}
    return {place: label for place, label in first.items() if all(one[place] == label for one in found)}
