"""Files that answer every item alike, of each task type: no interval pretends that other items could not differ."""

from __future__ import annotations

import csv
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats

from evergold.scoring.resampling.draws import Draws
from evergold.scoring.resampling.intervals import Interval, intervals
from evergold.scoring.resampling.methods import METHODS, Evidence
from evergold.scoring.resampling.pairs import compare
from evergold.scoring.resampling.power import resolutions
from evergold.scoring.tasks import TASKS
from tests.evergold.scoring.resampling.cases import GOLDEN, Run, run_of

Case = tuple[Path, Path, Mapping[str, Any]]
STILL = "it is the same without any {0}: they do not show how far other {0}s would move it"


def write(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def table(folder: Path, values: str, metrics: list[str], **options: Any) -> Case:
    """A file that is its own gold: an item for each character."""
    text = "id,label\n" + "".join(f"{number},{value}\n" for number, value in enumerate(values))
    return write(folder / "gold.csv", text), write(folder / "mine.csv", text), {"metrics": metrics, **options}


def numbers(folder: Path) -> Case:
    return table(folder, "123", ["pearson", "spearman", "kendall", "mae", "rmse"])


def labels(folder: Path) -> Case:
    return table(folder, "abab", ["accuracy", "macro_f1", "micro_f1", "weighted_f1", "mcc"], labels=["a", "b"])


def texts(folder: Path) -> Case:
    return table(folder, "abc", ["exact_match", "chrf", "bleu", "ter", "rouge_1"])


def detection(folder: Path) -> Case:
    rows = [(number, "EN" if number < 4 else "PT", number % 2) for number in range(8)]
    gold = "ID,DataID,Language,Label\n" + "".join(f"{n},test.{lang}.{n},{lang},{label}\n" for n, lang, label in rows)
    mine = "ID,Language,Setting,Label\n" + "".join(f"{n},{lang},zero_shot,{label}\n" for n, lang, label in rows)
    return write(folder / "gold.csv", gold), write(folder / "mine.csv", mine), {}


def similarity(folder: Path) -> Case:
    rows = [(number, "EN", number / 10) for number in range(5)]
    gold = "ID,DataID,Language,sim,otherID\n" + "".join(f"{n},test.{lang}.{n}.1,{lang},{s},\n" for n, lang, s in rows)
    mine = "ID,Language,Setting,Sim\n" + "".join(f"{n},{lang},pre_train,{s}\n" for n, lang, s in rows)
    return write(folder / "gold.csv", gold), write(folder / "mine.csv", mine), {}


def matching(folder: Path) -> Case:
    rows = [(3 * sentence + meaning, f"s{sentence}", int(not meaning)) for sentence in range(4) for meaning in range(3)]
    gold = "ID,Language,SentenceID,Label\n" + "".join(f"{n},EN,{sentence},{label}\n" for n, sentence, label in rows)
    mine = "ID,Language,Setting,Label,Score\n" + "".join(f"{n},EN,zero_shot,{label},{label}\n" for n, _, label in rows)
    return write(folder / "gold.csv", gold), write(folder / "mine.csv", mine), {}


def sets(folder: Path) -> Case:
    text = "id,labels\n1,joy|fear\n2,joy\n3,fear\n4,joy\n"
    return write(folder / "gold.csv", text), write(folder / "mine.csv", text), {"labels": ["fear", "joy"]}


def spans(folder: Path) -> Case:
    text = "a\tB-PER\nb\tI-PER\nc\tO\n\nd\tB-LOC\n\ne\tB-PER\nf\tB-LOC\n\n"
    return write(folder / "gold.conll", text), write(folder / "mine.conll", text), {"types": ["LOC", "PER"]}


def rankings(folder: Path) -> Case:
    gold = "query,document,relevance\n" + "".join(f"q{n},a,1\nq{n},b,0\n" for n in range(3))
    mine = "query,document,score\n" + "".join(f"q{n},a,2\nq{n},b,1\n" for n in range(3))
    return write(folder / "gold.csv", gold), write(folder / "mine.csv", mine), {}


def mwes(folder: Path) -> Case:
    for gold in sorted((GOLDEN / "mwe-identification" / "gold").glob("*/test.cupt")):
        write(folder / "mine" / gold.parent.name / "test.system.cupt", gold.read_text())
    return GOLDEN / "mwe-identification" / "gold", folder / "mine", {}


def probing(folder: Path) -> Case:
    """Write a prediction in which every probe of every compound has its own similarity: no compound differs from
    another.
    """
    with (GOLDEN / "idiomaticity-probing" / "prediction.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    probes = list(dict.fromkeys(row["probe"] for row in rows))
    mine = folder / "mine.csv"
    with mine.open("w", newline="") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows({**row, "sim": f"0.{1 + probes.index(row['probe'])}"} for row in rows)
    return GOLDEN / "idiomaticity-probing" / "gold.csv", mine, {"languages": ["pt"]}


CASES: Mapping[str, tuple[str, Callable[[Path], Case]]] = {
    "numbers": ("table", numbers),
    "labels": ("table", labels),
    "texts": ("table", texts),
    "detection": ("idiom-detection", detection),
    "similarity": ("idiom-similarity", similarity),
    "matching": ("meaning-matching", matching),
    "sets": ("multi-label", sets),
    "spans": ("sequence-labelling", spans),
    "rankings": ("ranking", rankings),
    "mwes": ("mwe-identification", mwes),
    "probing": ("idiomaticity-probing", probing),
}


def made(name: str, folder: Path) -> tuple[Run, str]:
    task, make = CASES[name]
    gold, mine, options = make(folder)
    return run_of(task, gold, mine, options), task


@pytest.mark.parametrize("name", CASES)
def test_no_metric_of_any_task_type_is_certain(name: str, tmp_path: Path) -> None:
    run, task = made(name, tmp_path)
    found, scores = intervals(run.sample, TASKS[task].metrics), run.sample.scores()
    assert found
    seen = {score: one for score, one in found.items() if isinstance(one, Interval)}
    assert all(one.high - one.low > 0.1 * abs(scores[score] or 1) for score, one in seen.items()), seen
    assert all(one.low <= (scores[score] or 0.0) <= one.high for score, one in seen.items()), seen


@pytest.mark.parametrize("name", CASES)
def test_difference_of_equal_answers_has_no_interval_and_a_p_of_1(name: str, tmp_path: Path) -> None:
    run, _ = made(name, tmp_path)
    found = compare(run.sample, run.sample, Draws(run.sample.units, "x", 100))
    assert {(one.low, one.high, one.p) for one in found.values()} == {(None, None, 1.0)}


@pytest.mark.parametrize("name", CASES)
def test_no_test_set_tells_any_two_systems_apart(name: str, tmp_path: Path) -> None:
    run, _ = made(name, tmp_path)
    assert all(one.smallest > 0 for one in resolutions([run.sample]).values())


@pytest.mark.parametrize("metric", ["pearson", "spearman", "kendall", "mae", "rmse"])
def test_perfect_correlations_and_errors_have_a_reason(metric: str, tmp_path: Path) -> None:
    run, task = made("numbers", tmp_path)
    assert intervals(run.sample, TASKS[task].metrics)[metric, "all"] == STILL.format("item")


def test_perfect_labels_have_intervals_of_shares_and_a_reason_for_mcc(tmp_path: Path) -> None:
    run, task = made("labels", tmp_path)
    found = intervals(run.sample, TASKS[task].metrics)
    accuracy, macro = found["accuracy", "all"], found["macro_f1", "all"]
    assert isinstance(accuracy, Interval)
    assert isinstance(macro, Interval)
    # Wilson's lower end of four in four: n / (n + z²), z = 1.959964; for F1 with t = 3.182446 of 3 degrees.
    assert (accuracy.low, accuracy.high) == pytest.approx((4 / (4 + 1.959964**2), 1), abs=1e-6)
    assert (macro.low, macro.high) == pytest.approx((4 / (4 + 3.182446**2), 1), abs=1e-6)
    assert (accuracy.method, macro.method) == (
        "jackknife-wilson:2|units:item,4",
        "jackknife-score-t:2|units:item,4",
    )
    assert found["mcc", "all"] == STILL.format("item")


def test_three_items_on_a_curve_have_no_interval_of_pearsons_r(tmp_path: Path) -> None:
    """Check that without any of three items two are left, which always lie on a line: r is not 1, all others are."""
    gold = write(tmp_path / "gold.csv", "id,label\n1,1\n2,2\n3,3\n")
    mine = write(tmp_path / "mine.csv", "id,label\n1,1\n2,4\n3,9\n")
    run = run_of("table", gold, mine, {"metrics": ["pearson"]})
    assert 0.98 < (run.sample.scores()["pearson", "all"] or 0) < 0.99
    assert intervals(run.sample, TASKS["table"].metrics)["pearson", "all"] == STILL.format("item")


def test_errors_that_are_all_alike_are_not_certain_either(tmp_path: Path) -> None:
    gold = write(tmp_path / "gold.csv", "id,label\n1,1\n2,2\n3,3\n4,7\n")
    mine = write(tmp_path / "mine.csv", "id,label\n1,1.1\n2,2.1\n3,3.1\n4,7.1\n")
    run = run_of("table", gold, mine, {"metrics": ["mae", "rmse"]})
    found = intervals(run.sample, TASKS["table"].metrics)
    assert {found["mae", "all"], found["rmse", "all"]} == {STILL.format("item")}


def test_a_language_all_right_and_one_all_wrong_are_not_a_certain_half(tmp_path: Path) -> None:
    gold = "id,label,language\n" + "".join(f"{n},{'ab'[n % 2]},{'en' if n < 4 else 'pt'}\n" for n in range(8))
    mine = "id,label\n" + "".join(f"{n},{'ab'[(n % 2) ^ (n >= 4)]}\n" for n in range(8))
    paths = write(tmp_path / "gold.csv", gold), write(tmp_path / "mine.csv", mine)
    options = {"metrics": ["accuracy", "macro_f1"], "labels": ["a", "b"], "groups": {"language": ["en", "pt"]}}
    found = intervals(run_of("table", *paths, options).sample, TASKS["table"].metrics)
    for score in (("accuracy", "all"), ("accuracy", "language/mean"), ("macro_f1", "language/mean")):
        one = found[score]
        assert isinstance(one, Interval)
        assert one.low < 0.3
        assert one.high > 0.7


def test_score_rests_on_the_units_that_have_what_it_counts() -> None:
    """MWEs rest on the sentences of the language with a prediction (P), in gold (R) or either (F1)."""
    gold, mine = GOLDEN / "mwe-identification" / "gold", GOLDEN / "mwe-identification" / "prediction"
    sizes = run_of("mwe-identification", gold, mine).sample.sizes()
    # As expected.json says, fr-1 to fr-4 have MWEs on both sides, hr-1 in gold alone; fr-3 and fr-4 unseen ones.
    assert (sizes["mwe_precision", "fr"], sizes["mwe_recall", "fr"], sizes["mwe_f1", "fr"]) == (4, 4, 4)
    assert (sizes["mwe_precision", "macro"], sizes["mwe_recall", "macro"]) == (4, 5)
    assert sizes["mwe_recall", "fr/unseen"] == 2


def test_share_is_wilsons_where_items_are_independent() -> None:
    right = np.array([1.0] * 16 + [0.0] * 4)
    influences = (right - 0.8) / np.sqrt(20 * 19)
    found = METHODS["wilson"](Evidence(0.8, influences, 19, 20, low=0, high=1), 0.95)
    theirs = stats.binomtest(16, 20).proportion_ci(method="wilson")
    assert found == pytest.approx((theirs.low, theirs.high), abs=1e-9)


@pytest.mark.parametrize(("items", "share"), [(10, 0.95), (20, 0.99), (100, 0.99)])
def test_ends_near_0_and_1_are_poissons(items: int, share: float) -> None:
    """Check that with one wrong, Poisson's limit is -ln(0.95) / n (Brown, Cai & DasGupta 2001), below Wilson's."""
    right = np.array([1.0] * (items - 1) + [0.0])
    influences = (right - right.mean()) / np.sqrt(items * (items - 1))
    low, high = METHODS["wilson"](Evidence(float(right.mean()), influences, items - 1, items, low=0, high=1), 0.95)
    assert high == pytest.approx(1 + np.log(0.95) / items, abs=1e-9)
    assert low < share < high


@pytest.mark.parametrize("items", [10, 20, 50, 200])
def test_intervals_of_shares_hold_the_truth_95_times_in_100(items: int) -> None:
    """Exactly, by the binomial distribution: the mean over shares from 0.02 to 0.98, and the worst of them."""
    ends = []
    for right in range(items + 1):
        outcomes = np.array([1.0] * right + [0.0] * (items - right))
        influences = (outcomes - outcomes.mean()) / np.sqrt(items * (items - 1))
        evidence = Evidence(float(outcomes.mean()), influences, items - 1, items, low=0, high=1)
        ends.append(METHODS["wilson"](evidence, 0.95))
    shares = np.linspace(0.02, 0.98, 97)
    low, high = np.array(ends).T[:, :, None]
    chances = stats.binom.pmf(np.arange(items + 1)[:, None], items, shares)
    coverage = np.where((low <= shares) & (shares <= high), chances, 0.0).sum(axis=0)
    assert coverage.mean() == pytest.approx(0.95, abs=0.01)
    assert coverage.min() > 0.91
