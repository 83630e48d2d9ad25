"""Intervals against textbooks and scipy; what has none, and why."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from evergold.scoring.resampling.draws import Draws
from evergold.scoring.resampling.intervals import Interval, intervals, method_for
from evergold.scoring.resampling.jackknife import MOST_GROUPS, Jackknife
from evergold.scoring.resampling.methods import METHODS, Evidence
from evergold.scoring.resampling.parts import Floats
from evergold.scoring.resampling.sample import Sample
from evergold.scoring.resampling.units import Units
from evergold.scoring.samples.tables import mean_sums
from evergold.scoring.task import Metric
from evergold.scoring.tasks import TASKS
from tests.evergold.scoring.resampling.cases import golden_run, table_run


def mean_of(values: Floats, units: Units | None = None) -> Sample:
    every = np.arange(len(values))
    return Sample(units or Units(tuple(map(str, every))), (mean_sums(("mean",), "all", [values], every),))


ANY = {"mean": Metric("mean", "Mean", "Any number.", None, None)}
SHARE = {"mean": Metric("mean", "Share", "From 0 to 1.")}


def the(sample: Sample, metrics: dict[str, Metric]) -> Interval:
    found = intervals(sample, metrics)["mean", "all"]
    assert isinstance(found, Interval), found
    return found


def test_interval_of_a_mean_is_students() -> None:
    values = np.random.default_rng(3).exponential(size=40)
    expected = stats.ttest_1samp(values, 0).confidence_interval(0.95)
    found = the(mean_of(values), ANY)
    assert (found.low, found.high) == pytest.approx((expected.low, expected.high), abs=1e-12)
    assert (found.level, found.method) == (0.95, "jackknife-t:2|units:item,40")


def test_interval_of_a_stratified_mean_has_the_variance_within_strata_alone() -> None:
    values, strata = np.array([1.0, 2.0, 3.0, 101.0, 103.0, 105.0]), np.array([0, 0, 0, 1, 1, 1])
    found = the(mean_of(values, Units(tuple("abcdef"), strata)), ANY)
    # Var of the mean = (3/6)² · (1/3) + (3/6)² · (4/3) = 5/12; t with 4 degrees is 2.776445.
    far = 2.776445105 * np.sqrt(5 / 12)
    assert (found.low, found.high) == pytest.approx((values.mean() - far, values.mean() + far), abs=1e-8)
    assert found.method.endswith("|within:strata")


def test_score_interval_is_wilsons() -> None:
    # Wilson's interval of 8 in 10, by his formula with z = 1.959964: 0.4902 to 0.9433.
    evidence = Evidence(0.8, np.full(10, np.sqrt(0.16 / 10 / 10)), 10**9, 10, low=0, high=1)
    assert METHODS["score-t"](evidence, 0.95) == pytest.approx((0.4902, 0.9433), abs=1e-4)


def test_perfect_score_of_a_share_is_not_certain() -> None:
    found = the(mean_of(np.ones(10)), SHARE)
    # Wilson: n / (n + t²) with t = 2.262157 of 9 degrees.
    assert (found.low, found.high) == pytest.approx((10 / (10 + 2.262157**2), 1.0), abs=1e-6)


def test_logit_interval_of_a_share_is_that_of_log_odds() -> None:
    values = np.array([1.0] * 30 + [0.0] * 10)
    error = np.sqrt(0.75 * 0.25 / 39)  # of the mean, n - 1
    ends = np.log(3) + np.array([-1, 1]) * 2.022691 * error / (0.75 * 0.25)
    found = the(mean_of(values), SHARE)
    assert (found.low, found.high) == pytest.approx(tuple(1 / (1 + np.exp(-ends))), abs=1e-6)


def test_interval_of_a_correlation_lies_within_its_range_and_is_not_symmetric(tmp_path: Path) -> None:
    run = table_run(tmp_path, "numbers", 60)
    found = intervals(run.sample, TASKS["table"].metrics)
    for metric in ("pearson", "spearman", "kendall"):
        one, value = found[metric, "all"], run.sample.scores()[metric, "all"]
        assert isinstance(one, Interval)
        assert value is not None
        assert -1 < one.low < value < one.high < 1
        assert value - one.low > one.high - value


@pytest.mark.parametrize(("method", "name"), [("percentile", "percentile"), ("bca", "BCa")])
def test_bootstrap_intervals_are_scipys_within_chance(method: str, name: str) -> None:
    values = np.random.default_rng(5).lognormal(size=60)
    sample = mean_of(values)
    draws, jackknife = Draws(sample.units, "scipy", 10_000), Jackknife(sample.units)
    replicates = np.concatenate([sample.weighted(weights)["mean", "all"] for weights in draws.weights()])
    moves = jackknife.influences(jackknife.values(sample)["mean", "all"])
    ours = METHODS[method](Evidence(float(values.mean()), moves, 59, 60, replicates), 0.95)
    theirs = stats.bootstrap((values,), np.mean, n_resamples=10_000, method=name, rng=7).confidence_interval
    # The standard error of such a quantile from 10,000 resamples is about 1/20 of that of the mean.
    error = float(values.std(ddof=1) / np.sqrt(60))
    assert ours == pytest.approx((theirs.low, theirs.high), abs=error / 5)


def test_many_units_are_left_out_in_groups_and_the_error_stays() -> None:
    values = np.random.default_rng(9).normal(size=5 * MOST_GROUPS)
    jackknife = Jackknife(mean_of(values).units)
    moves = jackknife.influences(jackknife.values(mean_of(values))["mean", "all"])
    assert len(moves) == MOST_GROUPS
    # A variance from 1,000 groups is known to about 4.5 %.
    assert np.sqrt((moves**2).sum()) == pytest.approx(values.std(ddof=1) / np.sqrt(len(values)), rel=0.08)


def test_method_follows_from_the_range_of_the_metric() -> None:
    ranges = {(0.0, 1.0): "logit-t", (-1.0, 1.0): "atanh-t", (-2.0, 2.0): "atanh-t", (0.0, None): "log-t"}
    assert {ends: method_for(*ends) for ends in ranges} == ranges
    assert method_for(None, None) == method_for(None, 1.0) == "t"
    assert method_for(0.0, 1.0, is_share=True) == "wilson"


def test_what_has_no_interval_says_why() -> None:
    run = golden_run("mwe-identification")
    found = intervals(run.sample, TASKS["mwe-identification"].metrics)
    assert found["languages", "macro"] == "it does not depend on which items there are"
    probing = golden_run("idiomaticity-probing")
    reasons = intervals(probing.sample, TASKS["idiomaticity-probing"].metrics)
    assert {reason for (metric, _), reason in reasons.items() if metric.endswith("_p")} == {
        "it does not depend on which items there are"
    }


def test_a_score_that_single_items_decide_has_no_interval(tmp_path: Path) -> None:
    found = intervals(table_run(tmp_path, "numbers", 3).sample, TASKS["table"].metrics)
    assert found["spearman", "language/en"] == "the score is undefined without some items, 2 of 3 times"
    assert found["mae", "language/pt"] == "it rests on fewer than two items"


def test_every_interval_holds_its_score() -> None:
    for name in ("idiom-detection", "idiom-similarity", "meaning-matching", "mwe-identification", "table"):
        run = golden_run(name)
        values, found = run.sample.scores(), intervals(run.sample, TASKS[name].metrics)
        assert found.keys() == values.keys()
        for score, one in found.items():
            if isinstance(one, Interval):
                assert one.low <= (values[score] or 0.0) <= one.high, score


@pytest.mark.parametrize("name", ["idiom-detection", "meaning-matching", "mwe-identification", "table"])
def test_leaving_a_group_out_is_the_same_by_sums_and_by_weights(name: str) -> None:
    sample = golden_run(name).sample
    jackknife = Jackknife(sample.units)
    by_sums = jackknife.values(sample)
    by_weights = [sample.weighted(weights) for weights in jackknife.weights()]
    for score, values in by_sums.items():
        assert np.concatenate([chunk[score] for chunk in by_weights]) == pytest.approx(values, abs=1e-12, nan_ok=True)


def test_an_interval_by_students_t_ends_where_the_metric_does_and_not_before() -> None:
    # sd / √n of the influences' sum: 0.1 in all; t with 9 degrees is 2.262157.
    moves = np.full(10, 0.1 / np.sqrt(10))
    ends = [METHODS["t"](Evidence(value, moves, 9, 10, low=0, high=1), 0.95) for value in (0.5, 0.9, 0.1)]
    far = 0.2262157
    assert ends == [pytest.approx(one, abs=1e-6) for one in ((0.5 - far, 0.5 + far), (0.9 - far, 1), (0, 0.1 + far))]
