"""The queries of an attack, and the labels that it has read."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

#: Sends a prediction, a value for each item in order, and returns the score as it is shown.
Ask = Callable[[Sequence[float | int | str]], float]


@dataclass(frozen=True, slots=True)
class Reading:
    """The labels that an attack claims to know for certain, by the item's place, and how many files it sent."""

    labels: Mapping[int, int]
    submissions: int

    def right(self, gold: Sequence[int]) -> int:
        """Return how many labels are right; raise AssertionError if one is wrong, since an attack claims only certain
        ones.
        """
        wrong = [place for place, label in self.labels.items() if gold[place] != label]
        if wrong:
            raise AssertionError(f"{len(wrong)} of {len(self.labels)} labels are wrong, the first at {wrong[0]}")
        return len(self.labels)
