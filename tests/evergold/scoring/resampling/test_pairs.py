"""Comparisons of two systems: differences, intervals and p against scipy's and sacreBLEU's tests, within Monte-Carlo
error.
"""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sacrebleu.metrics.bleu import BLEU
from sacrebleu.metrics.chrf import CHRF
from sacrebleu.significance import PairedTest
from scipy import stats
from sklearn.metrics import f1_score

from evergold.scoring.resampling.draws import Draws
from evergold.scoring.resampling.pairs import Difference, compare, compare_all, two_sided_p
from evergold.scoring.resampling.parts import Floats, Ranks, Shared
from evergold.scoring.resampling.sample import Sample
from evergold.scoring.resampling.swaps import NotComparable, swapped_differences
from evergold.scoring.resampling.units import Units, group_items
from evergold.scoring.samples.tables import label_sums, mean_sums
from tests.evergold.scoring.resampling.cases import GOLDEN, golden_run, run_of, table_run

RESAMPLES = 4000
#: Four standard errors of a share of 0.5 from 4,000 permutations on either side.
CLOSE = 4 * np.sqrt(2) * 0.5 / np.sqrt(RESAMPLES)


def units(n: int) -> Units:
    return Units(tuple(map(str, range(n))))


def mean_of(values: Floats) -> Sample:
    every = np.arange(len(values))
    return Sample(units(len(values)), (mean_sums(("mean",), "all", [values], every),))


def labels_of(gold: Any, predicted: Any, labels: tuple[str, ...] = ("a", "b")) -> Sample:
    every = np.arange(len(gold))
    return Sample(units(len(gold)), (label_sums(("macro_f1", "accuracy"), "all", labels, (gold, predicted), every),))


def pair_of_answers(n: int = 200) -> tuple[Any, Any, Any]:
    chance = np.random.default_rng(11)
    gold = (chance.random(n) < 0.3).astype(np.intp)
    first, second = (np.where(chance.random(n) < right, gold, 1 - gold) for right in (0.68, 0.8))
    return gold, first, second


def test_means_are_compared_as_scipy_compares_them() -> None:
    chance = np.random.default_rng(2)
    a = chance.normal(size=30)
    b = a + chance.normal(0.25, 1.0, 30)
    found = compare(mean_of(a), mean_of(b), Draws(units(30), "x", RESAMPLES))["mean", "all"]
    assert found.difference == pytest.approx(b.mean() - a.mean(), abs=1e-12)
    theirs = stats.permutation_test(
        (b, a), lambda x, y, axis: (x - y).mean(axis=axis), permutation_type="samples", vectorized=True, rng=1,
        n_resamples=RESAMPLES,
    )  # fmt: skip
    assert found.p == pytest.approx(theirs.pvalue, abs=CLOSE)
    again = stats.bootstrap((b - a,), np.mean, n_resamples=RESAMPLES, method="percentile", rng=1).confidence_interval
    # Ours reaches a little further out: by t / z · sqrt(n / (n - 1)) = 1.061 for 30 items.
    width = (again.high - again.low) / 2
    assert found.low is not None
    assert found.high is not None
    assert (found.high - found.low) / 2 == pytest.approx(1.061 * width, rel=0.06)


def test_macro_f1_is_compared_as_scipy_compares_it() -> None:
    gold, first, second = pair_of_answers()

    def macro_f1(x: Any) -> Any:
        """Return 2·TP / (gold + predicted) of both labels."""
        each = [2 * ((gold == n) & (x == n)).sum(-1) / ((gold == n).sum() + (x == n).sum(-1)) for n in (0, 1)]
        return (each[0] + each[1]) / 2

    def difference(x: Any, y: Any, axis: int) -> Any:
        return macro_f1(np.moveaxis(x, axis, -1)) - macro_f1(np.moveaxis(y, axis, -1))

    assert macro_f1(first) == pytest.approx(f1_score(gold, first, average="macro"), abs=1e-12)
    few = 4999
    theirs = stats.permutation_test(
        (second, first), difference, permutation_type="samples", n_resamples=few, rng=4, vectorized=True
    )
    found = compare(labels_of(gold, first), labels_of(gold, second), Draws(units(200), "x", RESAMPLES))
    one = found["macro_f1", "all"]
    assert one.difference == pytest.approx(theirs.statistic, abs=1e-12)
    assert one.p == pytest.approx(theirs.pvalue, abs=4 * np.sqrt(theirs.pvalue / few + one.p / RESAMPLES))
    assert 0 < one.p < 0.5


def test_rank_correlations_swap_ranks_that_were_given_within_each_system() -> None:
    chance = np.random.default_rng(6)
    gold = chance.normal(size=60)
    first, second = gold + chance.normal(size=60), (gold + chance.normal(size=60) * 0.8) * 1000 + 7
    every = np.arange(60)
    samples = [Sample(units(60), (Ranks((("rho", "all"),), every, gold, one),)) for one in (first, second)]
    found = compare(samples[0], samples[1], Draws(units(60), "x", RESAMPLES))["rho", "all"]
    assert found.difference == pytest.approx(
        stats.spearmanr(gold, second).statistic - stats.spearmanr(gold, first).statistic, abs=1e-12
    )
    ranks = [stats.rankdata(side) for side in (gold, second, first)]

    def difference(x: Floats, y: Floats) -> float:
        return float(np.corrcoef(ranks[0], x)[0, 1] - np.corrcoef(ranks[0], y)[0, 1])

    theirs = stats.permutation_test(ranks[1:], difference, permutation_type="samples", n_resamples=999, rng=4)
    assert found.p == pytest.approx(theirs.pvalue, abs=4 * np.sqrt(0.25 / 999))


@pytest.mark.parametrize(("metric", "scorer"), [("bleu", BLEU()), ("chrf", CHRF())])
def test_texts_are_compared_as_sacrebleu_compares_them(
    metric: str, scorer: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SACREBLEU_SEED", "5")
    gold, answers, samples = [], [], []
    for seed in (1, 2):  # the same gold, since it is drawn first from the same words
        folder = tmp_path / str(seed)
        folder.mkdir()
        samples.append(table_run(folder, "texts", 80, seed=1, other_answers=seed).sample)
        gold = [line.split(",")[1] for line in (folder / "texts.gold.csv").read_text().splitlines()[1:]]
        answers.append([line.split(",")[1] for line in (folder / "texts.csv").read_text().splitlines()[1:]])
    found = compare(samples[0], samples[1], Draws(samples[0].units, "x", RESAMPLES))[metric, "all"]
    few = 1000
    _, theirs = PairedTest([("first", answers[0]), ("second", answers[1])], {metric: scorer}, [gold],
                           test_type="ar", n_samples=few)()  # fmt: skip
    result: Any = theirs[next(key for key in theirs if key != "System")][1]
    assert result.score / 100 == pytest.approx(found.second, abs=1e-12)
    assert found.p == pytest.approx(result.p_value, abs=4 * np.sqrt(0.25 / few))
    _, drawn = PairedTest([("first", answers[0]), ("second", answers[1])], {metric: scorer}, [gold],
                          test_type="bs", n_samples=few)()  # fmt: skip
    again: Any = drawn[next(key for key in drawn if key != "System")][1]
    assert again.score / 100 == pytest.approx(found.second)


def test_a_system_is_not_better_than_itself() -> None:
    gold, first, _ = pair_of_answers()
    for one in compare(labels_of(gold, first), labels_of(gold, first), Draws(units(200), "x", 500)).values():
        # No resample differs from another, which is no proof that other items could not: there is no interval.
        assert (one.difference, one.low, one.high, one.p) == (0, None, None, 1)


def test_one_discordant_item_says_nothing() -> None:
    gold = np.zeros(50, dtype=np.intp)
    gold[:20] = 1
    almost = gold.copy()
    almost[0] = 0
    found = compare(labels_of(gold, almost), labels_of(gold, gold), Draws(units(50), "x", 500))["accuracy", "all"]
    assert found.difference == pytest.approx(0.02)
    assert found.p == 1, "swapped or not, one of the two is better by as much"


def test_order_of_the_two_changes_signs_alone() -> None:
    gold, first, second = pair_of_answers()
    draws = Draws(units(200), "x", 700)
    there = compare(labels_of(gold, first), labels_of(gold, second), draws)
    back = compare(labels_of(gold, second), labels_of(gold, first), draws)
    for name, one in there.items():
        other = back[name]
        assert (one.difference, one.p) == pytest.approx((-other.difference, other.p), abs=1e-12)
        assert (one.low, one.high) == pytest.approx((-(other.high or 0), -(other.low or 0)), abs=1e-12)


def test_a_pair_on_a_board_has_the_numbers_that_it_has_alone() -> None:
    gold, first, second = pair_of_answers()
    third = np.random.default_rng(1).permutation(second)
    samples, draws = [labels_of(gold, one) for one in (first, second, third)], Draws(units(200), "x", 600)
    board = compare_all(samples, [("macro_f1", "all")], draws)["macro_f1", "all"]
    assert list(board) == [(0, 1), (0, 2), (1, 2)]
    assert board[1, 2] == compare(samples[1], samples[2], draws)["macro_f1", "all"]
    newest = compare_all(samples, [("macro_f1", "all")], draws, [(0, 2)])["macro_f1", "all"]
    assert newest == {(0, 2): board[0, 2]}


def test_labels_that_only_one_system_uses_are_swapped_too() -> None:
    gold = np.array([0, 1] * 20)
    odd = np.where(np.arange(40) < 6, 2, gold)
    draws = Draws(units(40), "x", 400)
    wide = compare(labels_of(gold, gold, ("a", "b", "c")), labels_of(gold, odd, ("a", "b", "c")), draws)
    narrow = compare(labels_of(gold, gold), labels_of(gold, odd, ("a", "b", "c")), draws)
    assert wide == narrow


def test_systems_of_other_items_cannot_be_compared() -> None:
    with pytest.raises(NotComparable, match="same items"):
        compare(mean_of(np.arange(3.0)), mean_of(np.arange(4.0)), Draws(units(3), "x", 10))


def test_clusters_are_swapped_and_drawn_whole() -> None:
    """Check that ten copies of each item in one cluster give the same result as one of each."""
    chance = np.random.default_rng(8)
    a, b = chance.normal(size=(2, 25))
    grouped, places = group_items([str(n) for n in range(25) for _ in range(10)])
    copied = [Sample(grouped, (mean_sums(("mean",), "all", [one.repeat(10)], places),)) for one in (a, b)]
    draws = Draws(units(25), "x", 500)
    once, often = compare(mean_of(a), mean_of(b), draws), compare(copied[0], copied[1], draws)
    assert once["mean", "all"].p == often["mean", "all"].p
    assert once["mean", "all"].low == pytest.approx(often["mean", "all"].low, abs=1e-12)


def test_every_score_of_a_golden_case_can_be_compared() -> None:
    for name in ("idiom-detection", "idiom-similarity", "idiomaticity-probing", "meaning-matching",
                 "mwe-identification", "table"):  # fmt: skip
        sample = golden_run(name).sample
        found = compare(sample, sample, Draws(sample.units, "x", 50))
        defined = [one for one, value in sample.scores().items() if value is not None and one not in sample.constant]
        assert list(found) == [one for one in defined if not one[0].endswith("_p")]
        assert {one.p for one in found.values()} == {1.0}


def test_undefined_resamples_are_counted_and_too_many_leave_no_interval() -> None:
    gold, a, b = np.array([0.0, 1.0, 2.0]), np.array([1.0, 2.0, 3.0]), np.array([2.0, 1.0, 3.0])
    samples = [Sample(units(3), (Ranks((("rho", "all"),), np.arange(3), gold, one),)) for one in (a, b)]
    found = compare(samples[0], samples[1], Draws(units(3), "x", 900))["rho", "all"]
    # All three the same: 3 of 27 resamples.
    assert found.undefined == pytest.approx(100, abs=40)
    assert (found.low, found.high) == (None, None)


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("power", [-200, -12, -9, -6, -3, 3, 6, 9, 12, 200])
def test_verdict_is_the_same_in_any_unit(power: int, seed: int) -> None:
    """Errors in steps of a tenth: many swaps make exactly the difference that was seen, but for rounding."""
    chance = np.random.default_rng(seed)
    few, draws = 12, Draws(units(12), "x", 2000)
    steps = chance.integers(0, 6, (2, few))

    def compared(unit: str) -> Difference:
        errors = [np.array([float(f"{step}{unit}") for step in own]) for own in steps]
        return compare(mean_of(errors[0]), mean_of(errors[1]), draws)["mean", "all"]

    one, other = compared("e-1"), compared(f"e{power - 1}")
    assert one.p == other.p
    assert other.difference == pytest.approx(one.difference * 10.0**power, rel=1e-9)
    assert (one.low is None) == (other.low is None)
    if one.low is not None:
        assert other.low == pytest.approx(one.low * 10.0**power, rel=1e-9, abs=10.0 ** (power - 12))


@pytest.mark.parametrize("power", [-9, -6, -3, 3, 6, 9])
def test_verdict_on_numbers_is_the_same_in_any_unit(power: int, tmp_path: Path) -> None:
    """Through files, for every metric of numbers: p, and for correlations the interval, too."""

    def compared(unit: int) -> dict[tuple[str, str], Difference]:
        runs = []
        for system in (1, 2):
            chance = np.random.default_rng(system)
            rows = [
                (n, gold, gold + int(chance.integers(-3, 4))) for n, gold in enumerate((5, 1, 8, 3, 9, 2, 7, 4, 6, 5))
            ]
            folder = tmp_path / f"{unit}.{system}"
            folder.mkdir()
            for place, name in ((1, "gold.csv"), (2, "mine.csv")):
                text = "id,label\n" + "".join(f"{row[0]},{row[place]}e{unit}\n" for row in rows)
                (folder / name).write_text(text)
            metrics = {"metrics": ["pearson", "spearman", "kendall", "mae", "rmse"]}
            runs.append(run_of("table", folder / "gold.csv", folder / "mine.csv", metrics).sample)
        return compare(runs[0], runs[1], Draws(runs[0].units, "x", 1000))

    ones, others = compared(-1), compared(power - 1)
    assert {name: one.p for name, one in ones.items()} == {name: one.p for name, one in others.items()}
    for metric in ("pearson", "spearman", "kendall"):
        assert others[metric, "all"].low == pytest.approx(ones[metric, "all"].low, abs=1e-9)


def test_p_of_large_units_is_not_halved() -> None:
    """Check that two of eight swaps, all or none, are as large as the observed one: p is near 2/8, in millions as in
    ones.
    """
    first, second = np.array([0.1, 0.2, 0.4]), np.array([0.4, 0.6, 0.9])
    draws, name = Draws(units(3), "x", 4000), ("mean", "all")
    found = [compare(mean_of(first * unit), mean_of(second * unit), draws)[name].p for unit in (1.0, 1e6, 1e9)]
    assert len(set(found)) == 1
    assert found[0] == pytest.approx(2 / 8, abs=CLOSE)


def test_p_below_what_permutations_can_show_is_bounded_and_never_0() -> None:
    chance = np.array([1.0, -1.0] * 500)  # of spread 1
    assert two_sided_p(0.0, chance, 1.0) == two_sided_p(1.0, chance, 1.0) == 1
    # 3.1787 · P(|Z| > 3.3) = .0031: no less than that none of the thousand was as large.
    assert two_sided_p(3.3, chance, 1.0) == 1 / 1001
    assert two_sided_p(8.0, chance, 1.0) == pytest.approx(3.1787 * 1.2442e-15, rel=1e-3)
    assert two_sided_p(1e6, chance, 1.0) > 0


def test_signature_says_how_and_with_which_seed() -> None:
    gold, first, second = pair_of_answers()
    draws = Draws(units(200), "x", 60)
    found: Difference = compare(labels_of(gold, first), labels_of(gold, second), draws)["accuracy", "all"]
    assert found.method == f"paired:2|resamples:60|units:item,200|seed:{draws.seed}"
    assert (found.resamples, found.level, found.undefined) == (60, 0.95, 0)


def test_a_language_that_one_system_left_out_counts_in_the_macro_mean_alone(tmp_path: Path) -> None:
    case = GOLDEN / "mwe-identification"
    both = tmp_path / "both"
    shutil.copytree(case / "prediction", both)
    (both / "HR").mkdir()
    shutil.copy(case / "gold/HR/test.cupt", both / "HR/test.system.cupt")
    one, other = (run_of("mwe-identification", case / "gold", path) for path in (case / "prediction", both))
    found = compare(one.sample, other.sample, Draws(one.sample.units, "x", 200))
    assert {split.partition("/")[0] for _, split in found} == {"fr", "macro"}
    macro = found["mwe_f1", "macro"]
    assert macro.second > macro.first
    # Swapped are whole sentences: had the first system HR's, it would have what the second has.
    assert found["mwe_f1", "fr"].difference == 0
    assert found["mwe_f1", "fr"].p == 1
    assert 0 < macro.p <= 1
    assert found["richness", "macro"].difference == other.sample.scores()["richness", "hr"] / 2  # type: ignore[operator]


def test_a_score_that_only_one_of_them_has_is_not_compared() -> None:
    every, gold = np.arange(6), np.arange(6.0)
    rising, constant = (
        Sample(units(6), (Ranks((("rho", "all"),), every, gold, predicted),)) for predicted in (gold, np.zeros(6))
    )
    draws = Draws(units(6), "x", 100)
    assert [list(compare(one, other, draws)) for one, other in ((rising, constant), (constant, rising))] == [[], []]
    assert list(compare(rising, rising, draws)) == [("rho", "all")]


def test_ranks_of_other_items_and_of_other_gold_are_kept_apart() -> None:
    """Check that two settings with the same gold on other items, and two tasks with other gold on the same items, are
    separate.
    """
    chance = np.random.default_rng(4)
    gold, other, predicted = (chance.normal(size=5) for _ in range(3))
    name = (("rho", "all"),)
    parts = [
        Ranks(name, places, values, predicted)
        for places, values in ((np.arange(5), gold), (np.arange(5, 10), gold), (np.arange(5), other))
    ]
    weights = chance.integers(0, 3, (40, 10)).astype(np.float64)
    shared: Shared = {}
    for part in parts:
        np.testing.assert_array_equal(part.weighted(weights, shared), part.weighted(weights))


def test_swaps_leave_out_what_does_not_depend_on_items() -> None:
    """A constant has no difference, whichever score is compared with it."""
    samples = [
        Sample(one.units, one.parts, constant={("languages", "all"): 2.0})
        for one in (mean_of(np.arange(8.0)), mean_of(np.arange(8.0) ** 2))
    ]
    draws = Draws(units(8), "x", 50)
    assert list(swapped_differences(samples, [(0, 1)], draws)) == [("mean", "all")]
    assert list(compare_all(samples, [("mean", "all"), ("languages", "all")], draws)) == [("mean", "all")]
