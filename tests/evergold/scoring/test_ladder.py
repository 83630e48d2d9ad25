"""The Ladder (Blum & Hardt 2015, algorithm 1): records move by real improvements only."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from evergold.scoring.ladder import ladder, record_holder

SCORES = st.lists(st.none() | st.floats(0, 1), max_size=20)
STEPS = st.sampled_from([0.001, 0.005, 0.01, 0.1])


def test_only_an_improvement_of_more_than_a_step_is_told() -> None:
    # By hand, step 0.01: 0.614 -> 0.61; 0.619 is better than 0.61 by 0.009: not told; 0.6201 by 0.0101: told as 0.62;
    # 0.5 is worse; 0.63 is better by exactly one step: not told; 0.6301: told as 0.63.
    values = [0.614, 0.619, 0.6201, 0.5, 0.63, 0.6301]
    assert ladder(values, 0.01) == [0.61, 0.61, 0.62, 0.62, 0.62, 0.63]
    assert record_holder(values, 0.01) == 5
    assert record_holder(values[:5], 0.01) == 2


def test_lower_may_be_better() -> None:
    # By hand: 0.43 is better than 0.5 by 0.07, less than a step; 0.38 by 0.12.
    assert ladder([0.5, 0.43, 0.38], 0.1, higher_is_better=False) == [0.5, 0.5, 0.4]


def test_undefined_scores_neither_set_nor_move_a_record() -> None:
    assert ladder([None, 0.5, None], 0.1) == [None, 0.5, 0.5]
    assert record_holder([None], 0.1) is None
    assert ladder([], 0.1) == []


@pytest.mark.parametrize("step", [0, -0.1, float("inf"), float("nan")])
def test_a_step_is_positive(step: float) -> None:
    with pytest.raises(ValueError, match="more than 0"):
        ladder([0.5], step)


@given(SCORES, STEPS)
def test_what_is_told_never_falls_and_is_near_what_its_holder_scored(values: list[float | None], step: float) -> None:
    told = [one for one in ladder(values, step) if one is not None]
    assert told == sorted(told)
    holder = record_holder(values, step)
    if holder is not None:
        score = values[holder]
        assert score is not None
        assert abs(told[-1] - score) <= step / 2 + 1e-12


@given(SCORES, STEPS)
def test_direction_is_a_mirror(values: list[float | None], step: float) -> None:
    mirrored = [None if one is None else -one for one in values]
    told = ladder(mirrored, step, higher_is_better=False)
    assert [None if one is None else -one + 0.0 for one in told] == ladder(values, step)


@given(st.lists(st.floats(0, 1), max_size=200), st.sampled_from([0.05, 0.1]))
def test_a_team_learns_few_numbers_however_often_it_submits(values: list[float], step: float) -> None:
    """Check the number of different answers, which the range over the step bounds: that is the point."""
    assert len(set(ladder(values, step))) <= 1 / step + 1
