"""The measures of probing against hand calculations, and their correlation against scipy."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from evergold.scoring.probing.measures import (
    MEASURES,
    Floats,
    _moments,
    correlate,
    cosines,
    histogram,
    measure_compounds,
    quantiles,
    summarise,
)

# Probes in order:          syn  head mod. words rand1..rand5
SENTENCE_1 = [0.9, 0.6, 0.7, 0.5, 0.1, 0.2, 0.3, 0.4, 0.5]
SENTENCE_2 = [0.7, 0.8, 0.2, 0.6, 0.0, 0.0, 0.0, 0.0, 0.5]


def similarities(*compounds: list[list[float]]) -> Floats:
    return np.array(compounds, dtype=np.float64)


def test_measures_of_one_compound_by_hand() -> None:
    found = measure_compounds(similarities([SENTENCE_1, SENTENCE_2]))
    # rand: (0.1+…+0.5)/5 = 0.3 and 0.5/5 = 0.1; comp: max(0.6, 0.7) = 0.7 and max(0.8, 0.2) = 0.8
    expected = {
        "sim_syn": (0.9 + 0.7) / 2,
        "sim_comp": (0.7 + 0.8) / 2,
        "sim_wordssyn": (0.5 + 0.6) / 2,
        "sim_rand": (0.3 + 0.1) / 2,
        "affinity_syn_wordssyn": (0.4 + 0.1) / 2,
        "affinity_syn_rand": (0.6 + 0.6) / 2,
        "simr_syn": (0.6 / 0.7 + 0.6 / 0.9) / 2,
        "simr_wordssyn": (0.2 / 0.7 + 0.5 / 0.9) / 2,
    }
    assert {name: values[0] for name, values in found.items()} == pytest.approx(expected, abs=1e-12)
    assert tuple(found) == MEASURES


def test_ideal_system_reaches_the_maximum() -> None:
    found = measure_compounds(similarities([[1.0] + [0.0] * 8], [[1.0] + [0.0] * 8]))
    for name in ("sim_syn", "affinity_syn_rand", "simr_syn"):
        assert summarise(found[name], np.array([1.0, 2.0])).mean.value == 1.0


def test_order_of_sentences_does_not_matter() -> None:
    forwards, backwards = (
        measure_compounds(similarities(x)) for x in ([SENTENCE_1, SENTENCE_2], [SENTENCE_2, SENTENCE_1])
    )
    assert all(forwards[name] == pytest.approx(backwards[name], abs=1e-15) for name in MEASURES)


def test_scaled_similarity_is_undefined_where_random_probes_are_identical() -> None:
    found = measure_compounds(similarities([SENTENCE_1], [[1.0] * 9]))
    summary = summarise(found["simr_syn"], np.array([1.0, 2.0]))
    assert summary.mean.value is None
    assert summary.mean.reason == summary.rho.reason == "undefined for 1 of 2 compounds"
    assert summarise(found["sim_syn"], np.array([1.0, 2.0])).mean.value == pytest.approx(0.95)


def test_mean_and_sample_sd_by_hand() -> None:
    summary = summarise(np.array([1.0, 2.0, 6.0]), np.array([1.0, 2.0, 3.0]))
    assert summary.mean.value == 3.0
    assert summary.sd.value == pytest.approx(np.sqrt((4 + 1 + 9) / 2))


def test_compound_without_human_score_counts_in_the_mean_only() -> None:
    with_it = summarise(np.array([0.1, 0.2, 0.4, 0.9]), np.array([1.0, 3.0, 2.0, np.nan]))
    without = summarise(np.array([0.1, 0.2, 0.4]), np.array([1.0, 3.0, 2.0]))
    assert with_it.mean.value == pytest.approx(0.4)
    assert (with_it.rho, with_it.p) == (without.rho, without.p)
    assert with_it.rho.value == pytest.approx(0.5)  # ranks 1,2,3 and 1,3,2: 1 - 6·2/(3·8)


@pytest.mark.parametrize("n", [3, 4, 30, 279])
def test_rho_and_p_agree_with_scipy_with_and_without_ties(n: int) -> None:
    random = np.random.default_rng(n)
    human = random.integers(0, max(3, n // 3), n).astype(np.float64)
    human[0], human[1] = -1.0, -2.0
    for values in (random.random(n), np.round(random.random(n) + human / n, 1) + np.arange(n) % 2):
        official = stats.spearmanr(values, human)
        rho, p = correlate(values, human)
        assert rho.value == pytest.approx(official.statistic, abs=1e-12)
        assert p.value == pytest.approx(official.pvalue, rel=1e-9)


def test_perfect_correlation_has_p_zero() -> None:
    rho, p = correlate(np.array([0.1, 0.2, 0.3]), np.array([1.0, 2.0, 3.0]))
    assert (rho.value, p.value) == (1.0, 0.0)


def test_undefined_correlations_are_none_with_a_reason() -> None:
    constant, human = np.full(4, 0.3), np.array([1.0, 2.0, 3.0, 4.0])
    for rho, p in (correlate(constant, human), correlate(human, constant), correlate(human[:1], human[:1])):
        assert rho.value is None
        assert rho.reason
        assert (p.value, p.reason) == (None, rho.reason)


def test_two_compounds_have_a_rho_but_no_p() -> None:
    rho, p = correlate(np.array([0.1, 0.2]), np.array([2.0, 1.0]))
    assert rho.value == -1.0
    assert (p.value, p.reason) == (None, "fewer than three items")


def test_rounding_of_binary_fractions_breaks_no_tie() -> None:
    # All similarities of a compound are equal, so every affinity is 0 but for the rounding of the mean of five.
    levels = np.linspace(0.1, 0.9, 20)
    found = measure_compounds(np.repeat(levels, 9).reshape(20, 1, 9))
    summary = summarise(found["affinity_syn_rand"], np.arange(20.0))
    assert summary.mean.value == pytest.approx(0, abs=1e-12)
    assert summary.rho.value is None


def test_no_compound_and_one_compound() -> None:
    nothing, single = summarise(np.zeros(0), np.zeros(0)), summarise(np.array([0.5]), np.array([1.0]))
    assert nothing.mean.reason == "there is no compound"
    assert single.mean.value == 0.5
    assert single.sd.reason == "a single compound has no deviation"


def test_cosines_by_hand() -> None:
    vectors = np.array([[1, 0], [0, 2], [3, 3], [-1, 0], [0, 0]], dtype=np.float16)
    found = cosines(vectors, [0, 0, 0, 0, 0], [0, 1, 2, 3, 4])
    assert found[:4] == pytest.approx([1.0, 0.0, np.sqrt(0.5), -1.0], abs=1e-15)
    assert np.isnan(found[4])


def test_standardised_cosines_by_hand() -> None:
    # Dimension 1 has mean 3 and variance 4: -1, 1, -1, 1. Dimension 2 has mean 20, variance 100: -1, 1, 1, -1.
    # Dimension 3 never changes and disappears, however large it is.
    vectors = np.array([[1, 10, 500], [5, 30, 500], [1, 30, 500], [5, 10, 500]], dtype=np.float32)
    found = cosines(vectors, [0, 0, 0], [1, 2, 3], standardised=True)
    assert found == pytest.approx([-1.0, 0.0, 0.0], abs=1e-12)
    assert cosines(vectors, [0], [1])[0] > 0.99


def test_a_dimension_that_never_changes_has_an_infinite_deviation_whatever_its_mean_is_rounded_to() -> None:
    """The mean of three times 0.1 is 0.10000000000000002: its deviation from that is not 0."""
    vectors = np.array([[0.1, -1.0], [0.1, 2.0], [0.1, 5.0]])
    mean, deviation = _moments(vectors)
    assert mean[0] != 0.1
    assert mean[1] == 2
    assert deviation.tolist() == [np.inf, np.sqrt(6)]  # (9 + 0 + 9) / 3


def test_blocks_do_not_change_cosines(monkeypatch: pytest.MonkeyPatch) -> None:
    vectors = np.random.default_rng(1).standard_normal((50, 8))
    pairs = list(range(49)), list(range(1, 50))
    whole = cosines(vectors, *pairs, standardised=True)
    monkeypatch.setattr("evergold.scoring.probing.measures._BLOCK_ROWS", 7)
    assert cosines(vectors, *pairs, standardised=True) == pytest.approx(whole, abs=1e-12)


def test_histogram_counts_what_lies_outside_at_the_edges() -> None:
    assert histogram(np.array([-7.0, -0.6, 0.1, 1.0]), -1.0, 1.0, 4) == {
        "low": -1.0,
        "high": 1.0,
        "counts": [2, 0, 1, 1],
    }


def test_quantiles_interpolate_and_are_empty_for_nothing() -> None:
    assert quantiles(np.array([1.0, 2.0, 3.0, 4.0]), [0.0, 0.5, 1.0]) == [1.0, 2.5, 4.0]
    assert quantiles(np.zeros(0), [0.5]) == []
