"""The Ladder: a board that shows a team only real improvements, so that many submissions cannot climb on noise.

Blum & Hardt (2015), "The Ladder: A Reliable Leaderboard for Machine Learning Competitions", algorithm 1, stated there
for losses, here for scores of either direction.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction


def ladder(values: Sequence[float | None], step: float, *, higher_is_better: bool = True) -> list[float | None]:
    """Return the score shown after each submission: the team's record, rounded to whole steps; None before the first
    defined score.

    values: a team's n scores in the order of submission, None where undefined; n are returned. step: more than 0, in
    the score's own unit; a submission moves the record only if it is better than the shown record by more than one
    step. The shown record is within half a step of a score that the team really had, so it may lie outside the metric's
    range by as much; it is rounded half to even. A value equal to the record plus one step does not move it, as in the
    paper; the comparison is exact, not of rounded binary fractions.

    Raises ValueError for a step that is not positive and finite.
    """
    return [None if at is None else record for at, record in _climbed(values, step, higher_is_better)]


def record_holder(values: Sequence[float | None], step: float, *, higher_is_better: bool = True) -> int | None:
    """Return the index in `values` of the submission that holds the record at the end; None if all are undefined."""
    climbed = _climbed(values, step, higher_is_better)
    return climbed[-1][0] if climbed else None


def _climbed(values: Sequence[float | None], step: float, higher_is_better: bool) -> list[tuple[int | None, float]]:
    """Return (index of the record's holder, record shown) after each value."""
    if not 0 < step < float("inf"):
        raise ValueError("a step is more than 0")
    exact_step, sign = Fraction(str(step)), 1 if higher_is_better else -1
    holder: int | None = None
    record = Fraction(0)
    climbed = []
    for at, value in enumerate(values):
        if value is not None:
            score = Fraction(str(value))
            if holder is None or sign * (score - record) > exact_step:
                holder, record = at, round(score / exact_step) * exact_step
        climbed.append((holder, float(record)))
    return climbed
