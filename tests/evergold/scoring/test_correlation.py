"""correlation: rho, r and tau against scipy and by hand, and where they are undefined."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.stats import kendalltau, pearsonr, rankdata, spearmanr

from evergold.scoring.correlation import (
    CONSTANT_GOLD,
    CONSTANT_PREDICTION,
    TOO_FEW,
    average_ranks,
    kendall,
    pearson,
    spearman,
    spearman_of_parts,
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


# ------------------------------------------------------------------------------------------ Pearson's r, Kendall's tau


def test_pearson_by_hand() -> None:
    """Deviations -2 -1 0 1 2 and -1 -2 1 0 2: products 2 + 2 + 0 + 0 + 4 = 8; both have squares of sum 10."""
    assert pearson(floats(1, 2, 3, 4, 5), floats(2, 1, 4, 3, 5)) == pytest.approx(0.8, abs=1e-15)


def test_pearson_is_about_lines_not_ranks() -> None:
    x = floats(1, 2, 3)
    assert pearson(x, x * 10 - 7) == pytest.approx(1)
    assert pearson(x, -x) == pytest.approx(-1)
    assert pearson(x, floats(0, 0, 3)) == pytest.approx(3 / 12**0.5)  # 3 / (√2 · √6)


def test_pearson_survives_tiny_numbers() -> None:
    x = floats(1, 2, 3)
    assert pearson(x * 1e-160, x) == pytest.approx(1)


def test_kendall_by_hand() -> None:
    """Ten pairs, of which 1-2 and 3-4 are turned around: (8 - 2) / 10."""
    assert kendall(floats(1, 2, 3, 4, 5), floats(2, 1, 4, 3, 5)) == pytest.approx(0.6, abs=1e-15)


def test_kendall_takes_ties_into_account() -> None:
    """Six pairs, one of them tied on the left: 5 concordant ones over √(5 · 6)."""
    assert kendall(floats(1, 1, 2, 3), floats(1, 2, 3, 4)) == pytest.approx(5 / 30**0.5, abs=1e-15)


def test_pearson_and_kendall_are_scipys() -> None:
    random = np.random.default_rng(4)
    for size in (2, 3, 5, 30):
        x, y = floats(*random.integers(0, 6, size)), floats(*random.normal(size=size))
        x[0], x[1] = 7.0, -1.0  # never constant
        assert pearson(x, y) == pytest.approx(pearsonr(x, y).statistic, abs=1e-12)
        assert kendall(x, y) == pytest.approx(kendalltau(x, y).statistic, abs=1e-12)


@pytest.mark.parametrize("coefficient", [pearson, kendall])
@pytest.mark.parametrize(("x", "y"), [([], []), ([1.0], [2.0]), ([1.0, 1.0], [1.0, 2.0]), ([1.0, 2.0], [3.0, 3.0])])
def test_too_few_or_constant_numbers_have_neither(coefficient: Any, x: list[float], y: list[float]) -> None:
    assert coefficient(floats(*x), floats(*y)) is None


@pytest.mark.parametrize("coefficient", [pearson, kendall])
def test_pairs_must_be_pairs_of_numbers(coefficient: Any) -> None:
    with pytest.raises(ValueError, match="same length"):
        coefficient(floats(1, 2), floats(1))
    with pytest.raises(ValueError, match="finite"):
        coefficient(floats(1, 2), floats(1, float("nan")))


@pytest.mark.parametrize("distinct", [1, 2, 5, 10_000])
def test_parts_are_correlated_as_each_alone(distinct: int) -> None:
    """Check that they are equal to the bit: their ranks are the same numbers in the same order."""
    random = np.random.default_rng(distinct)
    gold, prediction = random.integers(0, distinct, (2, 300)) / distinct - 0.5
    parts = [np.flatnonzero(random.random(300) < share) for share in (0.0, 0.005, 0.1, 0.5, 1.0)]
    found = spearman_of_parts(gold, prediction, parts)
    alone = [(gold[places], prediction[places]) for places in parts]
    assert found == [(spearman(*pair), undefined_because(*pair)) for pair in alone]
    for wrong in (floats(1, np.nan), floats(1, 2, 3)):
        with pytest.raises(ValueError, match="only finite|same length"):
            spearman_of_parts(floats(1, 2), wrong, [])
