"""Human judgements of a paraphrase, and the manual score computed from them: PARSEME 2.0, subtask 2.

An annotator first decides whether the multiword expression is gone. If it is, three marks from 0 to 3 follow: is the
sense of the expression kept, is the sense of the rest kept, is the sentence natural. The application collects the
marks; `agreement` computes the agreement of annotators.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

#: The questions in the order in which annotators answer them, and their weights.
WEIGHTS = {"mwe_sense": 2, "rest_sense": 1, "naturalness": 1}
QUESTIONS = tuple(WEIGHTS)
LOWEST, HIGHEST = 0, 3
#: Weighted sum of three best marks.
FULL = HIGHEST * sum(WEIGHTS.values())


@dataclass(frozen=True, slots=True)
class Marks:
    """One annotator's marks for one paraphrase; None: not given. is_removed: True if the expression is gone."""

    is_removed: bool = True
    mwe_sense: int | None = None
    rest_sense: int | None = None
    naturalness: int | None = None

    @property
    def given(self) -> tuple[int | None, ...]:
        """The three marks in the order of QUESTIONS."""
        return self.mwe_sense, self.rest_sense, self.naturalness


def is_whole(marks: Marks) -> bool:
    """Return whether the marks make a score: all three, or none needed because the expression is still there."""
    return not marks.is_removed or None not in marks.given


def weighted_sum(marks: Marks) -> int | None:
    """Return 2a + b + c, from 0 to FULL; 0 if the expression is still in the sentence; None if a mark is missing."""
    if not marks.is_removed:
        return 0
    sums = [weight * mark for weight, mark in zip(WEIGHTS.values(), marks.given, strict=True) if mark is not None]
    return sum(sums) if len(sums) == len(WEIGHTS) else None


def manual_score(marks: Marks) -> float | None:
    """Return (2a + b + c) / 12, from 0 to 1; 0 if the expression is still in the sentence; None if a mark is missing.

    a, b, c: the marks for the sense of the expression, the sense of the rest, and naturalness, each 0 to 3. Source:
    PARSEME 2.0, subtask 2, which prints it times 100.
    """
    total = weighted_sum(marks)
    return None if total is None else total / FULL


def mean(values: Sequence[float]) -> float | None:
    """Return the mean of n numbers; None for no numbers."""
    return sum(values) / len(values) if values else None
