"""The number of labels that each attack reads from displayed scores: the figures in docs/statistics.md."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from app.competitions.visibility import HIDDEN_GOLD_DECIMALS, rounded
from evergold.scoring.halves import Division, Half
from evergold.scoring.tables.metrics import score_labels, score_numbers
from tests.attacks import correlation, counting, macro_f1
from tests.attacks.reading import Ask
from tests.attacks.weighing import designs_within, plain_design, signed_design

#: As the defaults of a phase with hidden gold have it.
SUBMISSIONS, ITEMS = 50, 1000


def labels(items: int = ITEMS) -> list[int]:
    return [int(one) for one in np.random.default_rng(7).integers(0, 2, items)]


def asking(gold: Sequence[int], metric: str, decimals: int | None) -> Ask:
    """Return the displayed score of a prediction."""

    def ask(prediction: Sequence[float | int | str]) -> float:
        if metric == "pearson":
            value, _ = score_numbers(metric, np.array(gold, dtype=float), np.array(prediction, dtype=float))
        else:
            value, _ = score_labels(metric, [str(one) for one in gold], [str(one) for one in prediction])
        return rounded(value, decimals) or 0.0

    return ask


@pytest.mark.parametrize("steps", range(6))
def test_a_design_tells_every_bit_from_fewer_sums(steps: int) -> None:
    chance = np.random.default_rng(steps)
    for design in (signed_design(steps), plain_design(steps)):
        bits = chance.integers(0, 2, design.rows.shape[1])
        assert design.solve(list(design.rows @ bits)).tolist() == bits.tolist()
    assert signed_design(steps).rows.shape == (2**steps, (steps + 2) * 2**steps // 2)
    assert plain_design(steps).rows.shape == (2 ** (steps + 1) - 1, (steps + 1) * 2**steps)


def test_designs_stay_within_their_questions() -> None:
    assert [one.rows.shape for one in designs_within(50, 1000, is_signed=True)] == [(32, 112), (16, 48), (2, 3)]
    assert [one.rows.shape for one in designs_within(49, 1000, is_signed=False)] == [(31, 80), (15, 32), (3, 4)]


def test_all_digits_of_a_correlation_tell_all_labels_in_two_dozen_files() -> None:
    """Check what was readable before there was a resolution: 44 bits of a double each."""
    gold = labels()
    found = correlation.attack(asking(gold, "pearson", None), ITEMS, SUBMISSIONS, 15)
    assert (found.right(gold), found.submissions <= 27) == (ITEMS, True)


@pytest.mark.parametrize(("decimals", "share"), [(4, 0.49), (3, 0.29), (2, 0.15), (1, 0.05)])
def test_each_digit_fewer_of_a_correlation_hides_more(decimals: int, share: float) -> None:
    gold = labels()
    found = correlation.attack(asking(gold, "pearson", decimals), ITEMS, SUBMISSIONS, decimals)
    assert found.right(gold) <= share * ITEMS


def test_accuracy_alone_tells_three_labels_a_file() -> None:
    gold = labels()
    ask = asking(gold, "accuracy", HIDDEN_GOLD_DECIMALS)
    assert counting.attack(ask, ITEMS, SUBMISSIONS, any_label=True).right(gold) == 163
    assert counting.attack(ask, ITEMS, SUBMISSIONS, any_label=False).right(gold) == 116
    assert counting.attack(ask, ITEMS, 30, any_label=True).right(gold) < 100, "thirty files: below a tenth"


def test_a_private_half_leaves_few_labels_even_of_the_public_one() -> None:
    """Check the default of a competition made in the browser: below a tenth is read."""
    gold = labels()
    public = [
        place for place in range(ITEMS) if Division(0.5, "nobody-guesses-this").half_of(str(place)) is Half.PUBLIC
    ]

    def ask(prediction: Sequence[float | int | str]) -> float:
        own = [str(gold[place]) for place in public]
        value, _ = score_labels("accuracy", own, [str(prediction[place]) for place in public])
        return rounded(value, HIDDEN_GOLD_DECIMALS) or 0.0

    found = counting.attack_divided(ask, ITEMS, SUBMISSIONS)
    assert found.submissions == SUBMISSIONS
    assert 20 < found.right(gold) < 50
    assert set(found.labels) <= set(public)


def test_macro_f1_tells_as_much_of_a_small_test_set() -> None:
    gold = labels(217)
    found = macro_f1.attack(asking(gold, "macro_f1", HIDDEN_GOLD_DECIMALS), 217, SUBMISSIONS)
    assert (found.right(gold), found.submissions) == (116, SUBMISSIONS)
