"""correlation: Spearman's rho against scipy, and where it is undefined."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import rankdata, spearmanr

from scoring.correlation import (
    CONSTANT_GOLD,
    CONSTANT_PREDICTION,
    TOO_FEW,
    average_ranks,
    spearman,
    undefined_because,
)


def floats(*values: float) -> np.ndarray:
    return np.array(values, dtype=np.float64)


def test_ties_share_the_mean_of_their_ranks() -> None:
    assert average_ranks(floats(0.4, 1.0, 0.4, 0.2)).tolist() == [2.5, 4.0, 2.5, 1.0]
    assert average_ranks(floats()).tolist() == []
    assert average_ranks(floats(0.0, -0.0)).tolist() == [1.5, 1.5]


def test_hand_calculation_with_ties() -> None:
    # ranks 3,1.5,1.5 and 3,1,2, centred 1,-.5,-.5 and 1,-1,0: 1.5 / sqrt(1.5 * 2)
    assert spearman(floats(1, 0.4, 0.4), floats(0.8, 0.2, 0.6)) == pytest.approx(3**0.5 / 2, abs=1e-15)


def test_same_order_is_one_and_reversed_order_minus_one() -> None:
    values = floats(0.1, 5, -3, 2e300, 7)
    assert spearman(values, np.cbrt(values)) == 1.0
    assert spearman(values, -values) == -1.0


@pytest.mark.parametrize("distinct", [2, 3, 10, 10_000])
def test_equals_scipy_on_random_values(distinct: int) -> None:
    random = np.random.default_rng(distinct)
    compared = 0
    for size in (2, 3, 5, 50, 3000):
        for _ in range(10):
            gold, prediction = random.integers(0, distinct, (2, size)) / distinct
            assert (average_ranks(gold) == rankdata(gold)).all()
            if undefined_because(gold, prediction) is None:
                compared += 1
                assert spearman(gold, prediction) == pytest.approx(spearmanr(gold, prediction).statistic, abs=1e-12)
    assert compared > 20


@pytest.mark.parametrize(
    ("gold", "prediction", "reason"),
    [
        (floats(), floats(), TOO_FEW),
        (floats(1), floats(2), TOO_FEW),
        (floats(1, 2, 3), floats(0.5, 0.5, 0.5), CONSTANT_PREDICTION),
        (floats(1, 1), floats(0.5, 0.6), CONSTANT_GOLD),
        (floats(1, 1), floats(0.5, 0.5), CONSTANT_PREDICTION),
    ],
)
def test_too_few_or_constant_values_are_undefined_with_a_reason(
    gold: np.ndarray, prediction: np.ndarray, reason: str
) -> None:
    assert spearman(gold, prediction) is None
    assert undefined_because(gold, prediction) == reason


def test_order_does_not_matter() -> None:
    random = np.random.default_rng(1)
    gold, prediction = random.integers(0, 9, (2, 200)) / 9
    order = random.permutation(200)
    assert spearman(gold, prediction) == spearman(gold[order], prediction[order])


def test_nan_infinity_and_different_lengths_are_refused() -> None:
    for bad in (np.nan, np.inf):
        with pytest.raises(ValueError, match="finite"):
            spearman(floats(1, 2), floats(1, bad))
    with pytest.raises(ValueError, match="same length"):
        spearman(floats(1, 2), floats(1))
