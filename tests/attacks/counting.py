"""Accuracy alone: how many of chosen items have the label 1, and from such counts every label (`weighing`).

Where a prediction may have any label, items that are not asked about get one that no gold has, and a bit can be added
or subtracted. Where only 0 and 1 are taken, one more file says how many are 0, and bits can only be added.
"""

from __future__ import annotations

from tests.attacks.reading import Ask, Reading
from tests.attacks.weighing import Design, designs_within

OTHER = "?"


def attack(ask: Ask, items: int, submissions: int, *, any_label: bool) -> Reading:
    """Read as many labels as these submissions allow."""
    zeros = 0 if any_label else round(ask([0] * items) * items)
    spent = 0 if any_label else 1
    labels: dict[int, int] = {}
    start = 0
    for design in designs_within(submissions - spent, items, is_signed=any_label):
        places = range(start, min(start + design.rows.shape[1], items))
        sums = [_sum(ask, items, places, row, zeros, any_label=any_label) for row in design.rows.tolist()]
        spent += len(sums)
        labels |= dict(zip(places, map(int, design.solve(sums)), strict=False))
        start += len(places)
    return Reading(labels, spent)


def attack_divided(ask: Ask, items: int, submissions: int) -> Reading:
    """Read labels where some items are private: what counts is public and has the requested label; all else looks
    alike.

    The number of public items is needed to turn every score into a count.
    """
    asked: list[tuple[Design, range, list[float]]] = []
    start = 0
    for design in designs_within(submissions, items, is_signed=False):
        places = range(start, min(start + design.rows.shape[1], items))
        scores = []
        for row in design.rows.tolist():
            prediction: list[float | int | str] = [OTHER] * items
            for place, is_asked in zip(places, row, strict=False):
                if is_asked:
                    prediction[place] = 1
            scores.append(ask(prediction))
        asked.append((design, places, scores))
        start += len(places)
    known = [ones for public in _numbers_that_fit(asked, items) if (ones := _ones(asked, public)) is not None]
    certain = set.intersection(*known) if known else set()
    return Reading(dict.fromkeys(sorted(certain), 1), sum(len(scores) for *_, scores in asked))


def _numbers_that_fit(asked: list[tuple[Design, range, list[float]]], items: int) -> list[int]:
    scores = [score for *_, own in asked for score in own]
    return [
        public
        for public in range(1, items + 1)
        if all(abs(score * public - round(score * public)) <= public * 0.5e-4 + 1e-9 for score in scores)
    ]


def _ones(asked: list[tuple[Design, range, list[float]]], public: int) -> set[int] | None:
    found: set[int] = set()
    for design, places, scores in asked:
        bits = design.solve([round(score * public) for score in scores])
        if not set(bits.tolist()) <= {0, 1}:
            return None  # so many are not public
        found |= {place for place, bit in zip(places, bits, strict=False) if bit == 1}
    return found


def _sum(ask: Ask, items: int, places: range, row: list[int], zeros: int, *, any_label: bool) -> int:
    """Return row @ labels of the places; columns beyond the last item count as label 0."""
    prediction: list[float | int | str] = [OTHER if any_label else 0] * items
    for place, sign in zip(places, row, strict=False):
        if sign:
            prediction[place] = 1 if sign > 0 else 0
    right = round(ask(prediction) * items)
    if any_label:
        subtracted = sum(sign < 0 for sign in row[: len(places)])
        return right - subtracted
    # Of the items asked about those with label 1 are right now, those with label 0 no longer.
    asked = sum(row[: len(places)])
    return (right - zeros + asked) // 2
