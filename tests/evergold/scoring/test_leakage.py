"""Bits of gold and bits of scores, against numbers worked out by hand."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from evergold.scoring.gold_size import entropy_bits, size_of_gold, size_of_items
from evergold.scoring.leakage import (
    FULL_BITS,
    GoldSize,
    Shown,
    bits_of_ladder,
)
from evergold.scoring.task import read_options
from evergold.scoring.tasks import get_task

TABLE = get_task("table")
HALF_OF_1000 = GoldSize(1000, 1000.0, 2)


def test_entropy_counts_how_often_each_answer_occurs() -> None:
    assert entropy_bits("aabb") == 4.0  # four answers of one bit
    assert entropy_bits("aaaa") == 0.0
    assert entropy_bits("abcdefgh") == 24.0  # eight of three bits
    # three of a, one of b: 3 · log2(4/3) + log2(4)
    assert entropy_bits("aaab") == pytest.approx(3 * math.log2(4 / 3) + 2)
    assert entropy_bits("") == 0.0


def test_accuracy_has_one_value_more_than_there_are_items() -> None:
    accuracy = TABLE.metrics["accuracy"]
    assert Shown(accuracy, 4).bits(HALF_OF_1000) == math.log2(1001)
    assert Shown(accuracy, None).bits(HALF_OF_1000) == math.log2(1001)
    assert Shown(accuracy, 2).bits(HALF_OF_1000) == math.log2(101)  # 0.00 to 1.00
    assert Shown(accuracy, 4).bits(None) == math.log2(10_001)


def test_a_correlation_is_bounded_by_its_digits_alone() -> None:
    pearson = TABLE.metrics["pearson"]
    size = GoldSize(1000, 1000.0)
    assert Shown(pearson, 4).bits(size) == math.log2(20_001)  # -1.0000 to 1.0000
    assert Shown(pearson, None).bits(size) == FULL_BITS


def test_intervals_and_tests_are_numbers_too() -> None:
    pearson = TABLE.metrics["pearson"]
    size = GoldSize(1000, 1000.0)
    # the score, two ends, and of the test against the submission before two ends and a p of three decimals
    assert Shown(pearson, 4, has_statistics=True).bits(size) == 5 * math.log2(20_001) + math.log2(10_001)
    accuracy = TABLE.metrics["accuracy"]
    assert Shown(accuracy, 4, has_statistics=True).bits(HALF_OF_1000) == math.log2(1001), "the count says all of it"


def test_an_error_without_bounds_tells_more_than_a_fraction() -> None:
    rmse, pearson = TABLE.metrics["rmse"], TABLE.metrics["pearson"]
    assert Shown(pearson, 4).bits(None) < Shown(rmse, 4).bits(None) < FULL_BITS


@pytest.mark.parametrize(("decimals", "shown"), [(2, 4), (6, 6)])
def test_an_error_without_bounds_has_five_digits_at_least(decimals: int, shown: int) -> None:
    # Up to 10 with so many decimals, of either sign; and 9 · 10^shown numbers in each of 300 decades.
    values = 2 * 10 ** (decimals + 1) + 300 * 9 * 10**shown
    assert Shown(TABLE.metrics["rmse"], decimals).bits(None) == pytest.approx(math.log2(values), abs=1e-12)


def test_macro_f1_of_two_labels_follows_from_one_count_and_of_three_from_three() -> None:
    macro = TABLE.metrics["macro_f1"]
    assert Shown(macro, None).bits(GoldSize(217, 217.0, 2)) == math.log2(218)
    assert Shown(macro, None).bits(GoldSize(217, 217.0, 3)) == 3 * math.log2(218)


def test_a_ladder_tells_only_how_its_records_rise() -> None:
    # Two submissions on steps 0, 0.5, 1: of three values two that never fall: 5 · 4 / 2 of them
    assert bits_of_ladder(2, 0.5) == pytest.approx(math.log2(10))


def test_the_gold_of_a_table_is_measured_and_items_are_taken_as_they_are_asked(tmp_path: Path) -> None:
    path = tmp_path / "gold.csv"
    path.write_text("id,label\n1,a\n2,b\n3,b\n4,b\n", encoding="utf-8")
    options = read_options(TABLE, {"metrics": ["accuracy"], "value": "label"})
    size = size_of_gold(TABLE, TABLE.read_gold(path, options), options)
    assert size is not None
    assert (size.items, size.labels) == (4, 3), "a, b, and labels that no gold has"
    assert size.bits == pytest.approx(3 * math.log2(4 / 3) + 2)
    asked = size_of_items(TABLE, TABLE.read_items(path, options), options)
    assert asked == GoldSize(4, 4.0, None, is_measured=False)
    declared = read_options(TABLE, {"metrics": ["accuracy"], "value": "label", "labels": ["a", "b", "c", "d"]})
    assert size_of_items(TABLE, TABLE.read_items(path, declared), declared) == GoldSize(4, 8.0, 4, is_measured=False)


def test_numbers_count_as_distinct_as_they_are_given(tmp_path: Path) -> None:
    path = tmp_path / "gold.csv"
    path.write_text("id,value\n1,0.5\n2,0.5\n3,1\n4,2\n", encoding="utf-8")
    options = read_options(TABLE, {"metrics": ["pearson"], "value": "value"})
    assert size_of_gold(TABLE, TABLE.read_gold(path, options), options) == GoldSize(4, 6.0)  # 2 · 1 + 2 · 2 bits
