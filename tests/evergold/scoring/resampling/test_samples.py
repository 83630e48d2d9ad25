"""Scores recomputed from reweighted items: with weights of 1 they are the scores, with 0, 1, 2 … those of copies."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scipy.stats import spearmanr

from evergold.scoring.resampling.parts import Ranks, Shared
from evergold.scoring.resampling.sample import Sample
from evergold.scoring.resampling.units import Units
from tests.evergold.scoring.resampling.cases import GOLDEN, Run, golden_run, run_of, table_run

WITHOUT_ENCODER = (
    "idiom-detection",
    "idiom-similarity",
    "idiomaticity-probing",
    "meaning-matching",
    "multi-label",
    "mwe-identification",
    "ranking",
    "sequence-labelling",
    "table",
)
RHO = ("spearman", "all")


def assert_same(run: Run) -> None:
    """Check that every score of the run is in the sample, and that further ones are undefined."""
    found = run.sample.scores()
    compared = 0
    for score in run.scores:
        if score.value is not None:
            value = found.pop((score.metric, score.split))
            assert value == pytest.approx(score.value, abs=1e-12), (score.metric, score.split)
            compared += 1
        else:
            assert found.pop((score.metric, score.split), None) is None, (score.metric, score.split, score.reason)
    assert compared > 1
    assert not found, "these are no scores of the task"


@pytest.mark.parametrize("name", WITHOUT_ENCODER)
def test_weights_of_one_give_the_golden_scores(name: str) -> None:
    assert_same(golden_run(name))


@pytest.mark.parametrize("kind", ["labels", "numbers", "texts"])
def test_weights_of_one_give_every_metric_of_a_table(kind: str, tmp_path: Path) -> None:
    assert_same(table_run(tmp_path, kind, 60))
    assert_same(table_run(tmp_path, kind, 3))


@pytest.mark.parametrize("options", [{"lowercase": True, "bleu_tokenize": "char"}, {"references": ["other"]}])
def test_weights_of_one_give_scores_of_texts_under_options(options: dict[str, object], tmp_path: Path) -> None:
    assert_same(table_run(tmp_path, "texts", 40, options))


def test_weights_that_are_no_resamples_of_the_units_are_refused() -> None:
    sample = golden_run("idiom-detection").sample
    with pytest.raises(ValueError, match="resamples"):
        sample.weighted(np.ones((1, len(sample.units) + 1)))


def test_some_scores_alone_are_the_same_as_among_all(tmp_path: Path) -> None:
    run = table_run(tmp_path, "labels", 30)
    names = [("mcc", "language/mean"), ("accuracy", "all")]
    some = run.sample.only(names).scores()
    assert {name: some[name] for name in names} == {name: run.sample.scores()[name] for name in names}
    assert len(some) < len(run.sample.scores())


@pytest.mark.parametrize("kind", ["labels", "numbers", "texts"])
def test_weights_of_a_table_are_copies_of_its_items(kind: str, tmp_path: Path) -> None:
    weights = [(3 * place) % 4 for place in range(45)]
    assert_scores(table_run(tmp_path, kind, 45).sample, weights, table_run(tmp_path, kind, 45, copies=weights))


def test_weights_of_sentences_are_copies_of_them(tmp_path: Path) -> None:
    paths = [GOLDEN / "mwe-identification" / part for part in ("gold/FR/test.cupt", "prediction/FR/test.system.cupt")]
    sentences = [path.read_text().strip("\n").split("\n\n") for path in paths]
    weights = [1, *((5 * place) % 3 for place in range(1, len(sentences[0])))]  # the first one holds the header
    files = [tmp_path / "gold", tmp_path / "prediction"]
    for path, blocks in zip(files, sentences, strict=True):
        copied = [block for block, times in zip(blocks, weights, strict=True) for _ in range(times)]
        path.write_text("\n\n".join(copied) + "\n\n")
    once, often = (run_of("mwe-identification", gold, prediction) for gold, prediction in (paths, files))
    assert len(once.sample.units) == len(weights), "sentences without an expression are units too"
    assert_scores(once.sample, weights, often)


@pytest.mark.parametrize("macro", ["languages-with-gold", "all-languages"])
def test_macro_means_are_weighted_within_each_language(macro: str, tmp_path: Path) -> None:
    case = GOLDEN / "mwe-identification"
    run = run_of("mwe-identification", case / "gold", case / "prediction", {"macro": macro})
    assert_same(run)
    strata = run.sample.units.strata
    assert strata is not None
    fr = next(score for score in run.scores if (score.metric, score.split) == ("mwe_recall", "fr"))
    doubled = np.where(strata == 0, 2.0, 1.0)[None, :]
    assert run.sample.weighted(doubled)["mwe_recall", "fr"][0] == pytest.approx(fr.value, abs=1e-12)


def test_without_an_item_every_score_is_undefined(tmp_path: Path) -> None:
    for kind in ("labels", "numbers", "texts"):
        sample = table_run(tmp_path, kind, 20).sample
        found = sample.weighted(np.zeros((2, len(sample.units))))
        assert found
        assert all(np.isnan(values).all() for values in found.values())


def test_a_side_that_is_constant_under_the_weights_has_no_correlation(tmp_path: Path) -> None:
    sample = table_run(tmp_path, "numbers", 20).sample
    weights = np.zeros((1, 20))
    weights[0, 7] = 5.0
    found = sample.weighted(weights)
    assert all(np.isnan(found[metric, "all"][0]) for metric in ("pearson", "spearman", "kendall"))
    assert found["mae", "all"][0] >= 0


def assert_scores(sample: Sample, weights: list[int], expected: Run) -> None:
    found = sample.weighted(np.array([weights], dtype=np.float64))
    compared = 0
    for score in expected.scores:
        value = found.get((score.metric, score.split), np.array([np.nan]))[0]
        assert value == pytest.approx(np.nan if score.value is None else score.value, abs=1e-12, nan_ok=True), score
        compared += score.value is not None
    assert compared > 3


def test_one_label_alone_has_no_matthews_correlation_whatever_the_weights(tmp_path: Path) -> None:
    """Weights that are no integers leave a trace of rounding where there is no spread."""
    run = table_run(tmp_path, "labels", 40)
    gold = (tmp_path / "labels.gold.csv").read_text().splitlines()[1:]
    is_a = np.array([line.split(",")[1] == "a" for line in gold])
    found = run.sample.weighted(np.where(is_a, 40 / 39, 0.0)[None, :] * np.linspace(0.7, 1.3, 40))
    assert np.isnan(found["mcc", "all"][0])
    assert found["accuracy", "all"][0] > 0


def test_what_systems_share_changes_no_score() -> None:
    """Spearman's rho of systems with and without ties, items in clusters: one by one, together, and as scipy has it."""
    chance = np.random.default_rng(5)
    places, gold = np.arange(120) // 3, np.round(chance.standard_normal(120), 1)
    rough, fine = np.round(gold + chance.standard_normal(120)), gold + chance.standard_normal(120)
    constant = np.ones(120)
    units = Units(tuple(map(str, range(40))))
    weights = np.concatenate([np.ones((1, 40)), chance.integers(0, 3, (70, 40)).astype(float)])
    shared: Shared = {}
    for one in (rough, fine, constant):
        sample = Sample(units, (Ranks((RHO,), places, gold, one),))
        alone, together = sample.weighted(weights)[RHO], sample.weighted(weights, shared)[RHO]
        np.testing.assert_array_equal(alone, together)
        if one is constant:
            assert np.isnan(alone).all()
            assert np.isnan(sample.weighted(weights * 0.1)[RHO]).all(), "rounding makes no correlation"
        else:
            copies = np.repeat(np.arange(120), weights[1][places].astype(int))
            assert alone[0] == pytest.approx(spearmanr(gold, one).statistic, abs=1e-12)
            assert alone[1] == pytest.approx(spearmanr(gold[copies], one[copies]).statistic, abs=1e-12)
    assert len(shared) == 1
