"""Detecting matrices: questions about sums of hidden bits that together tell every one of them (the coin problem).

B. Lindström, On a combinatorial detection problem I (1964); D. Cantor and W. Mills, Determination of a subset from
certain combinatorial properties (1966). Each step doubles the questions and more than doubles the bits.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Whole = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Design:
    """Questions (rows) about bits (columns); `inner`: what it was made from; is_signed: whether a bit may be
    subtracted."""

    rows: Whole
    is_signed: bool
    inner: Design | None = None

    def solve(self, sums: Sequence[int]) -> Whole:
        """Return the bits, given rows @ bits."""
        answers = np.asarray(sums, dtype=np.int64)
        if self.inner is None:
            return answers
        return self._solve_signed(answers, self.inner) if self.is_signed else self._solve_plain(answers, self.inner)

    def _solve_signed(self, sums: Whole, inner: Design) -> Whole:
        """Return the bits for [A A I; A -A 0]: the sum of both halves is twice A x, odd where z is 1."""
        m = len(inner.rows)
        first, second = sums[:m], sums[m:]
        z = (first + second) % 2
        x = inner.solve(list((first + second - z) // 2))
        y = inner.solve(list((first - second - z) // 2))
        return np.concatenate([x, y, z])

    def _solve_plain(self, sums: Whole, inner: Design) -> Whole:
        """Return the bits for [D D I 0; D J-D 0 1; 0 J 0 1]: like `_solve_signed`; the last question yields the sum of
        y and the last bit.
        """
        m = len(inner.rows)
        first, second, last = sums[:m], sums[m : 2 * m] - sums[2 * m], int(sums[2 * m])
        z = (first + second) % 2
        x = inner.solve(list((first + second - z) // 2))
        y = inner.solve(list((first - second - z) // 2))
        return np.concatenate([x, y, z, [last - int(y.sum())]])


def signed_design(steps: int) -> Design:
    """Return 2^k questions about (k + 2) · 2^(k - 1) bits, each added, subtracted or left out."""
    found = Design(np.ones((1, 1), dtype=np.int64), is_signed=True)
    for _ in range(steps):
        a = found.rows
        m = len(a)
        top = np.hstack([a, a, np.eye(m, dtype=np.int64)])
        bottom = np.hstack([a, -a, np.zeros((m, m), dtype=np.int64)])
        found = Design(np.vstack([top, bottom]), True, found)
    return found


def plain_design(steps: int) -> Design:
    """Return 2^(k + 1) - 1 questions about (k + 1) · 2^k bits, each added or left out."""
    found = Design(np.ones((1, 1), dtype=np.int64), is_signed=False)
    for _ in range(steps):
        d = found.rows
        m, n = d.shape
        no_m, no_n = np.zeros((m, m), dtype=np.int64), np.zeros((1, n), dtype=np.int64)
        one = np.ones((m, 1), dtype=np.int64)
        top = np.hstack([d, d, np.eye(m, dtype=np.int64), 0 * one])
        middle = np.hstack([d, 1 - d, no_m, one])
        last = np.hstack([no_n, no_n + 1, np.zeros((1, m), dtype=np.int64), np.ones((1, 1), dtype=np.int64)])
        found = Design(np.vstack([top, middle, last]), False, found)
    return found


def designs_within(questions: int, items: int, *, is_signed: bool) -> list[Design]:
    """Return the largest designs that fit into so many questions, one after the other, until they cover the items."""
    found: list[Design] = []
    make = signed_design if is_signed else plain_design
    while questions > 0 and items > 0:
        steps = 0
        while len(make(steps + 1).rows) <= questions and make(steps).rows.shape[1] < items:
            steps += 1
        one = make(steps)
        found.append(one)
        questions -= len(one.rows)
        items -= one.rows.shape[1]
    return found
