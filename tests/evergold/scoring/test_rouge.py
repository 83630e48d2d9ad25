"""ROUGE-L by rapidfuzz has the numbers of Google's rouge_score, of texts as long as an organiser may allow."""

from __future__ import annotations

import random

import pytest

from evergold.scoring.option_types import MOST_CHARACTERS
from evergold.scoring.tables.rouge import longest_common_subsequence, rouge_f1

SEED, PAIRS = 38, 2_000


def text(chance: random.Random) -> str:
    """Return a text of 0 to 60 words from few or many, with separators that are no words."""
    words = ["a", "b", "Running", "runs", "día", "x-1", "日本", "THE"]
    words += [f"w{n}" for n in range(chance.choice((0, 9, 90)))]
    return chance.choice((" ", ", ", "\n")).join(chance.choices(words, k=chance.randrange(60)))


@pytest.mark.parametrize("stemmer", [False, True])
@pytest.mark.parametrize(("metric", "name"), [("rouge_1", "rouge1"), ("rouge_2", "rouge2"), ("rouge_l", "rougeL")])
def test_random_pairs_have_the_numbers_of_the_reference_library(metric: str, name: str, stemmer: bool) -> None:
    reference = pytest.importorskip("rouge_score.rouge_scorer").RougeScorer([name], use_stemmer=stemmer)
    chance = random.Random(SEED)
    pairs = [(text(chance) or "a", text(chance)) for _ in range(PAIRS)]
    ours = rouge_f1(metric, [[gold] for gold, _ in pairs], [own for _, own in pairs], stemmer=stemmer)
    assert ours == [reference.score(gold, own)[name].fmeasure for gold, own in pairs]


def test_of_several_references_the_best_counts_and_missing_ones_do_not() -> None:
    assert rouge_f1("rouge_l", [["x", None, "", "a b c"]], ["a b c"], stemmer=False) == [1.0]


def test_a_subsequence_by_hand() -> None:
    # a b c d e f and b x d y f a: b d f
    assert longest_common_subsequence("abcdef", "bxdyfa") == 3
    assert longest_common_subsequence([], ["a"]) == 0


def test_the_longest_texts_are_compared_without_a_table_of_all_pairs() -> None:
    """65,536 words on either side: the table would be 4 milliard cells, and take an hour."""
    words = MOST_CHARACTERS // 2
    one, other = "a b " * (words // 2), "b a " * (words // 2)
    # All of one but its first a, in the order of the other but for its last a.
    assert rouge_f1("rouge_l", [[one]], [other], stemmer=False) == [(words - 1) / words]
