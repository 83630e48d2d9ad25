"""f1: counts, macro-F1 and accuracy against scikit-learn and by hand."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import accuracy_score, confusion_matrix, f1_score

from evergold.scoring.f1 import accuracy, confusion, macro_f1


def numbers(*values: int) -> np.ndarray:
    return np.array(values, dtype=np.intp)


def test_macro_f1_is_the_mean_of_the_labels_f1() -> None:
    # label 1: 2 hits, 3 in gold, 2 predicted: 4/5; label 0: 1 hit, 1 in gold, 2 predicted: 2/3
    counts = confusion(numbers(1, 0, 1, 1), numbers(1, 0, 0, 1), 2)
    assert macro_f1(counts) == pytest.approx((4 / 5 + 2 / 3) / 2, abs=1e-15)
    assert accuracy(counts) == 3 / 4


def test_perfect_prediction_has_one_even_when_gold_has_one_class() -> None:
    for gold in (numbers(0, 1, 1), numbers(1, 1), numbers(0)):
        counts = confusion(gold, gold, 2)
        assert macro_f1(counts) == 1.0
        assert accuracy(counts) == 1.0


def test_label_that_is_never_hit_counts_as_zero() -> None:
    # gold all 1, one predicted 0: label 1 has 2*1/(2+1), label 0 has 0
    assert macro_f1(confusion(numbers(1, 1), numbers(1, 0), 2)) == pytest.approx(1 / 3, abs=1e-15)


def test_nothing_counted_is_undefined() -> None:
    counts = confusion(numbers(), numbers(), 2)
    assert macro_f1(counts) is None
    assert accuracy(counts) is None


@pytest.mark.parametrize("labels", [2, 3, 7])
@pytest.mark.parametrize("weighted", [False, True])
def test_equals_scikit_learn_on_random_labels(labels: int, weighted: bool) -> None:
    random = np.random.default_rng(labels)
    for size in (1, 2, 3, 10, 500):
        for _ in range(20):
            gold, prediction = random.integers(0, labels, (2, size))
            weights = random.integers(0, 4, size).astype(float) if weighted else None
            if weights is not None and not weights.any():
                weights[0] = 1.0
            kept = weights > 0 if weights is not None else np.ones(size, dtype=bool)
            counts = confusion(gold, prediction, labels, weights)
            theirs = confusion_matrix(gold, prediction, labels=range(labels), sample_weight=weights)
            assert (counts == theirs).all()
            # scikit-learn averages over labels that occur at all, also with weight 0; we over those that count.
            expected = f1_score(
                gold[kept],
                prediction[kept],
                average="macro",
                sample_weight=None if weights is None else weights[kept],
            )
            assert macro_f1(counts) == pytest.approx(expected, abs=1e-12)
            assert accuracy(counts) == pytest.approx(accuracy_score(gold, prediction, sample_weight=weights), abs=1e-12)


def test_weights_count_items_that_often() -> None:
    gold, prediction = numbers(1, 0, 1), numbers(1, 1, 0)
    weighted = confusion(gold, prediction, 2, np.array([2.0, 0.0, 1.0]))
    repeated = confusion(numbers(1, 1, 1), numbers(1, 1, 0), 2)
    assert (weighted == repeated).all()


def test_order_does_not_matter() -> None:
    random = np.random.default_rng(0)
    gold, prediction = random.integers(0, 2, (2, 99))
    order = random.permutation(99)
    assert (confusion(gold, prediction, 2) == confusion(gold[order], prediction[order], 2)).all()


def test_wrong_lengths_and_labels_out_of_range_are_refused() -> None:
    with pytest.raises(ValueError, match="same length"):
        confusion(numbers(0, 1), numbers(0), 2)
    of_two = (numbers(0, 1), numbers(0, 2)), (numbers(2, 1), numbers(0, 1)), (numbers(1, -1), numbers(0, 0))
    for gold, prediction in ((numbers(0), numbers(2)), (numbers(-1), numbers(0)), *of_two):
        with pytest.raises(ValueError, match="label numbers"):
            confusion(gold, prediction, 2)
