"""The manual score of a paraphrase, by hand."""

from __future__ import annotations

import pytest

from evergold.scoring.judgement import Marks, is_whole, manual_score, mean, weighted_sum


@pytest.mark.parametrize(
    ("marks", "score"),
    [
        (Marks(True, 3, 3, 3), 1.0),
        (Marks(True, 0, 0, 0), 0.0),
        (Marks(True, 3, 0, 0), 6 / 12),  # the sense of the expression counts double …
        (Marks(True, 0, 3, 0), 3 / 12),
        (Marks(True, 0, 0, 3), 3 / 12),
        (Marks(True, 2, 3, 1), 8 / 12),  # 2·2 + 3 + 1
        (Marks(False, 3, 3, 3), 0.0),  # … and nothing counts where it is still there
        (Marks(False), 0.0),
    ],
)
def test_the_manual_score_is_2a_plus_b_plus_c_over_12(marks: Marks, score: float) -> None:
    assert manual_score(marks) == pytest.approx(score, abs=1e-15)
    assert is_whole(marks)


@pytest.mark.parametrize("marks", [Marks(), Marks(True, 3, 3, None), Marks(True, None, 0, 0)])
def test_a_missing_mark_makes_no_score(marks: Marks) -> None:
    assert manual_score(marks) is None
    assert weighted_sum(marks) is None
    assert not is_whole(marks)


def test_the_sum_goes_from_0_to_12() -> None:
    every = [Marks(True, a, b, c) for a in range(4) for b in range(4) for c in range(4)]
    assert {weighted_sum(marks) for marks in every} == set(range(13))


def test_the_mean_of_nothing_is_nothing() -> None:
    assert mean([]) is None
    assert mean([0.0, 1.0, 0.5]) == 0.5
