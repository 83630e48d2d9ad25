"""Counting identified MWEs: by hand, and against the slow reference on random corpora of every kind."""

from __future__ import annotations

import math
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import product

import pytest
from hypothesis import given, settings, strategies as st

from evergold.scoring.cupt import scan
from evergold.scoring.cupt.corpus import CuptGold, Mwe, TrainingMwes, read_gold, read_training
from evergold.scoring.cupt.prediction import PredictedMwes, read_predicted_mwes
from evergold.scoring.diversity import diversity
from evergold.scoring.errors import Problems
from evergold.scoring.mwe import counts as mwe_pairing
from evergold.scoring.mwe.counts import (
    TRAINING_VIEWS,
    VIEWS,
    Cell,
    Counts,
    GoldMwes,
    count,
    counts_of,
    describe,
    found_diversity,
    macro,
    outcomes,
    prepare,
    shared_tokens,
)
from tests import lanes
from tests.evergold.scoring import mwe_reference

Tokens = tuple[int, ...]
HEADER = "# global.columns = ID FORM LEMMA MISC PARSEME:MWE\n"


def one_sentence(words: str, lemmas: str | None = None, mwes: Sequence[Mwe] = ()) -> CuptGold:
    return corpus_of([(words, lemmas or words)], mwes)


def corpus_of(sentences: Sequence[tuple[str, str]], mwes: Sequence[Mwe] = ()) -> CuptGold:
    """Words and lemmas of every sentence."""
    rows = [
        "\n".join(
            f"{n}\t{form}\t{lemma}\t*"
            for n, (form, lemma) in enumerate(zip(forms.split(), lemmas.split(), strict=True), 1)
        )
        for forms, lemmas in sentences
    ]
    text = "# global.columns = ID FORM LEMMA PARSEME:MWE\n" + "\n\n".join(rows) + "\n\n"
    return replace(read_gold(text.encode()), mwes=tuple(mwes))


def summed(gold: GoldMwes, predicted: Sequence[Mwe], lemmas: Sequence[bytes] | None = None) -> dict[Cell, Counts]:
    """The outcomes of all sentences together."""
    rows = outcomes(gold, describe(gold, predicted, lemmas))
    assert all(of_cell == sorted(of_cell) for of_cell in rows.values())
    return counts_of(rows)


def counts(gold: Sequence[Tokens], predicted: Sequence[Tokens]) -> dict[str, Counts]:
    corpus = one_sentence("a b c d e f g h", mwes=[Mwe(0, tokens, "VID") for tokens in gold])
    table = summed(prepare(corpus, None), [Mwe(0, tokens, "VID") for tokens in predicted])
    return {f"{split} {basis}": numbers for (split, basis), numbers in table.items()}


# --------------------------------------------------------------------------------------------------------- by hand


def test_perfect_predictions_have_one_everywhere() -> None:
    gold = [(0, 1), (2,), (3, 5)]
    for numbers in counts(gold, gold).values():
        assert (numbers.precision, numbers.recall, numbers.f1) == (1, 1, 1)


def test_nothing_predicted_and_nothing_in_gold_are_zero() -> None:
    assert counts([(0, 1)], [])["all mwe"] == Counts(0, 1, 0)
    assert counts([], [(0, 1)])["all token"] == Counts(0, 0, 2)
    for numbers in (Counts(0, 0, 2), Counts(0, 1, 0), Counts()):
        assert (numbers.precision, numbers.recall, numbers.f1) == (0, 0, 0)


def test_f1_is_the_harmonic_mean() -> None:
    assert Counts(1, 2, 3).f1 == pytest.approx(2 * 1 / (2 + 3))


def test_an_mwe_listed_twice_counts_once_but_once_in_each_of_its_categories() -> None:
    corpus = one_sentence("a b", mwes=[Mwe(0, (0, 1), "VID"), Mwe(0, (0, 1), "IRV"), Mwe(0, (0, 1), "VID")])
    table = summed(prepare(corpus, None), [Mwe(0, (0, 1), "VID")] * 2)
    assert table["all", "mwe"] == Counts(1, 1, 1)
    assert table["category/VID", "mwe"] == Counts(1, 1, 1)
    assert table["category/IRV", "mwe"] == Counts(0, 1, 0)


def test_the_category_does_not_matter_globally() -> None:
    corpus = one_sentence("a b", mwes=[Mwe(0, (0, 1), "VID")])
    table = summed(prepare(corpus, None), [Mwe(0, (0, 1), None)])
    assert table["all", "mwe"] == Counts(1, 1, 1)
    assert table["category/VID", "mwe"] == Counts(0, 1, 0)
    assert table["category/<unlabeled>", "mwe"] == Counts(0, 0, 1)


def test_the_same_tokens_of_different_sentences_do_not_match() -> None:
    corpus = corpus_of([("a b", "a b"), ("a b", "a b")], [Mwe(0, (0, 1), "VID")])
    assert summed(prepare(corpus, None), [Mwe(1, (0, 1), "VID")])["all", "mwe"] == Counts(0, 1, 1)


def test_the_order_of_mwes_does_not_matter() -> None:
    gold, predicted = [(0, 1), (1, 2), (4,)], [(0, 1, 2), (2, 3), (4, 5)]
    assert counts(gold, predicted) == counts(gold[::-1], predicted[::-1])


@pytest.mark.parametrize(
    ("tokens", "training", "views"),
    [
        ((1, 2), None, {"continuous", "multi_token"}),
        ((1, 3), None, {"discontinuous", "multi_token"}),
        ((1,), None, {"continuous", "single_token"}),
        ((0, 2), ("x y", "X y"), {"discontinuous", "multi_token", "unseen"}),
        ((0, 1), ("b a", "B A"), {"continuous", "multi_token", "seen", "variant"}),
        ((0, 1), ("b a", "A B"), {"continuous", "multi_token", "seen", "identical"}),
        ((0, 2), ("a c", "A C"), {"discontinuous", "multi_token", "seen", "variant"}),
        ((0, 2), ("a c", "A B C"), {"discontinuous", "multi_token", "seen", "identical"}),
        ((0, 2), ("a a c", "A B C"), {"discontinuous", "multi_token", "unseen"}),
    ],
)
def test_views_of_an_mwe(tokens: Tokens, training: tuple[str, str] | None, views: set[str]) -> None:
    known = None
    if training is not None:
        lemmas, span = training
        known = TrainingMwes(
            frozenset({"\t".join(sorted(lemmas.split())).encode()}), frozenset({"\t".join(span.split()).encode()})
        )
    gold = prepare(one_sentence("A B C D", "a b c d"), known)
    assert set(describe(gold, [Mwe(0, tokens, None)]).described[0, tokens].views) == views


@pytest.mark.parametrize(
    ("gold", "predicted", "shared"),
    [
        ([], [(0,)], 0),
        ([(0, 1)], [(2, 3)], 0),
        ([(0, 1, 2)], [(0, 1), (2,)], 2),
        ([(0, 1), (2,)], [(0, 1, 2)], 2),
        # The equal pair first leaves 0 + 1, all others less.
        ([(0, 1), (1, 2)], [(1, 2), (0, 2)], 3),
        # Each overlaps with one other only.
        ([(1, 2), (5, 6)], [(2, 3), (6, 7)], 2),
        # One of several overlaps with two, and is paired with the better one.
        ([(1, 2, 3), (9, 10)], [(1, 2), (3, 4)], 2),
        # (2, 3) overlaps with two, and is paired with one of them.
        ([(1, 2), (3, 4), (7, 8)], [(2, 3), (8, 9)], 2),
        # Greedy would pair (0,1,2) with (0,1,2,3): 3 + 0; best is 2 + 2.
        ([(0, 1, 2), (2, 3, 4)], [(0, 1, 3, 4), (1, 2)], 4),
    ],
)
def test_tokens_shared_under_the_best_pairing(gold: list[Tokens], predicted: list[Tokens], shared: int) -> None:
    assert shared_tokens(gold, predicted) == shared
    assert shared_tokens(predicted, gold) == shared


def test_crowded_sentences_are_paired_by_scipy_with_the_same_result(monkeypatch: pytest.MonkeyPatch) -> None:
    pairs = [tuple(pair) for pair in product(range(0, 6), range(6, 10))]
    gold, predicted = pairs[::5], [(*pair, 11) for pair in pairs[1::4]]
    expected = mwe_reference.every_pairing([frozenset(g) for g in gold], [frozenset(p) for p in predicted])
    assert shared_tokens(gold, predicted) == expected
    monkeypatch.setattr(mwe_pairing, "FEW_MWES", 0)
    assert shared_tokens(gold, predicted) == expected


def test_an_absurd_number_of_mwes_in_one_sentence_is_paired_in_time() -> None:
    gold = [(number, number + 1) for number in range(30)]
    predicted = [(a, b) for a in range(200) for b in range(a + 1, a + 40)]
    assert shared_tokens(gold, predicted) == 60


def test_pairing_ordinary_sentences_does_not_load_scipy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "scipy.optimize", None)  # importing it would raise
    assert shared_tokens([(0, 1, 2), (2, 3)], [(1, 2), (2, 3, 4)]) == 4


def test_macro_takes_f1_of_the_mean_precision_and_recall() -> None:
    # P: (1/2 + 0)/2, R: (1/4 + 0)/2; the language without such MWEs in gold stays out.
    expected = (1 / 4, 1 / 8, 2 * (1 / 4 * 1 / 8) / (1 / 4 + 1 / 8))
    assert macro([Counts(1, 4, 2), Counts(0, 3, 0), Counts(0, 0, 9), None]) == pytest.approx(expected)
    assert macro([Counts(0, 0, 9), None]) is None
    # With the absent as 0: P and R over four languages, (1/2)/4 and (1/4)/4.
    as_zero = (1 / 8, 1 / 16, 2 * (1 / 8) * (1 / 16) / (1 / 8 + 1 / 16))
    assert macro([Counts(1, 4, 2), Counts(0, 3, 0), Counts(0, 0, 9), None], absent_as_zero=True) == pytest.approx(
        as_zero
    )
    assert macro([Counts(0, 0, 9), None], absent_as_zero=True) is None
    # Two means first, then one F1: P (1/4 + 3/3)/2 = .625, R (1/2 + 3/4)/2 = .625; the mean of the F1s would be .595.
    assert macro([Counts(1, 2, 4), Counts(3, 4, 3)]) == pytest.approx((0.625, 0.625, 0.625))
    assert macro([Counts(0, 1, 1)]) == (0, 0, 0)


def test_diversity_of_what_was_found() -> None:
    # The types {a, b} (in two orders) and {c}: entropy of 2/3 and 1/3.
    corpus = one_sentence("a b b a c d", mwes=[Mwe(0, t, "VID") for t in ((0, 1), (2, 3), (4,), (5,))])
    gold = prepare(corpus, None)
    found = found_diversity(gold, [Mwe(0, t, None) for t in ((0, 1), (0, 1), (2, 3), (4,), (1, 2))])
    entropy = math.log(3) - 2 / 3 * math.log(2)
    assert found.richness == 2
    assert found.entropy == pytest.approx(entropy)
    assert found.evenness == pytest.approx(entropy / math.log(2))


@pytest.mark.parametrize(
    ("occurrences", "expected"),
    [
        ([], (0, None, None)),
        ([0, 0], (0, None, None)),
        ([7], (1, 0.0, None)),
        ([5, 5, 5, 0], (3, math.log(3), 1.0)),
        ([1, 3], (2, math.log(4) - 3 / 4 * math.log(3), (math.log(4) - 3 / 4 * math.log(3)) / math.log(2))),
    ],
)
def test_richness_entropy_and_evenness(occurrences: list[int], expected: tuple[float | None, ...]) -> None:
    assert diversity(occurrences) == pytest.approx(expected)
    assert diversity(occurrences[::-1]) == diversity(occurrences)


def test_a_negative_occurrence_is_a_mistake_of_the_caller() -> None:
    with pytest.raises(ValueError, match="less than 0"):
        diversity([1, -1])


# ------------------------------------------------------------------------------------- against the slow reference

CATEGORIES = st.sampled_from(["VID", "IRV", "LVC.full", ""])
Rows = list[tuple[str, str, str]]


@st.composite
def token_rows(draw: st.DrawFn) -> Rows:
    """ID, FORM and LEMMA of a sentence with ranges and empty nodes; few forms and lemmas, so that they recur."""
    rows: Rows = []
    covered = 0
    for number in range(1, draw(st.integers(1, 6)) + 1):
        if number > covered and draw(st.integers(0, 4)) == 0:
            covered = number + draw(st.integers(0, 2))
            rows.append((f"{number}-{covered}", "du", "_"))
        rows.append((str(number), draw(st.sampled_from("ABC")), draw(st.sampled_from("abc_"))))
        if draw(st.integers(0, 5)) == 0:
            rows.append((f"{number}.1", draw(st.sampled_from("A_")), draw(st.sampled_from("ab_"))))
    return rows


@st.composite
def codes(draw: st.DrawFn, rows: Rows) -> list[str]:
    """The MWE column: any number of MWEs on any lines; the category on the first, on all or on some of its lines."""
    column: list[list[str]] = [[] for _ in rows]
    for number in range(1, draw(st.integers(0, 4)) + 1):
        category = draw(CATEGORIES)
        places = sorted(draw(st.sets(st.integers(0, len(rows) - 1), min_size=1, max_size=4)))
        where = draw(st.sampled_from(["first", "all", "last"]))
        for place in places:
            named = where == "all" or place == places[0 if where == "first" else -1]
            column[place].append(f"{number}:{category}" if category and named else str(number))
    return [";".join(draw(st.permutations(field))) or "*" for field in column]


@st.composite
def corpora(draw: st.DrawFn) -> tuple[str, str, list[str]]:
    """Gold, a prediction with other lemmas and comments, and any number of training files."""
    sentences = draw(st.lists(token_rows(), min_size=1, max_size=3))
    gold = [(rows, draw(codes(rows))) for rows in sentences]
    predicted = []
    for rows, column in gold:
        others = [(number, form, draw(st.sampled_from("abcx_"))) for number, form, _ in rows]
        predicted.append((others, column if draw(st.integers(0, 3)) == 0 else draw(codes(rows))))
    train = draw(st.lists(st.lists(token_rows().flatmap(lambda r: st.tuples(st.just(r), codes(r)))), max_size=2))
    return written(gold), written(predicted, "# a comment\n"), [written(sentences) for sentences in train]


def written(sentences: Sequence[tuple[Rows, list[str]]], comment: str = "# sent_id = 1\n") -> str:
    blocks = [
        comment + "".join("\t".join((*row, "_", code)) + "\n" for row, code in zip(rows, column, strict=True)) + "\n"
        for rows, column in sentences
    ]
    return HEADER + "".join(blocks)


def read(gold: str, prediction: str, train: Sequence[str]) -> tuple[GoldMwes, PredictedMwes, Problems]:
    training: TrainingMwes | None = None
    for text in train:
        of_file = read_training(text.encode())
        training = of_file if training is None else training | of_file
    corpus, problems = read_gold(gold.encode()), Problems()
    return prepare(corpus, training), read_predicted_mwes(prediction.encode(), corpus.items, problems), problems


def nonzero(table: Mapping[tuple[str, str], tuple[float, float, float]]) -> dict[tuple[str, str], tuple[float, ...]]:
    """Views are MWE-based only, and what is nowhere is not in our table."""
    views = (*VIEWS, *TRAINING_VIEWS)
    return {
        cell: tuple(numbers)
        for cell, numbers in table.items()
        if any(numbers) and (cell[1] == "mwe" or cell[0] not in views)
    }


@settings(deadline=None, max_examples=lanes.examples(40))
@given(corpora())
def test_counts_equal_those_of_the_slow_reference(texts: tuple[str, str, list[str]]) -> None:
    gold, predicted, problems = read(*texts)
    assert problems.errors == []
    ours = summed(gold, predicted.mwes)
    assert nonzero(ours) == nonzero(mwe_reference.evaluate(*texts))
    official = summed(gold, predicted.mwes, predicted.lemmas)
    assert nonzero(official) == nonzero(mwe_reference.evaluate(*texts, lemmas_of="prediction"))
    assert count(gold, describe(gold, predicted.mwes)) == ours
    assert count(gold, describe(gold, predicted.mwes, predicted.lemmas)) == official
    types = mwe_reference.found_types(texts[0], texts[1])
    assert found_diversity(gold, predicted.mwes) == diversity(types)


@settings(deadline=None, max_examples=lanes.examples(20))
@given(corpora())
def test_the_quick_and_the_slow_reader_agree(texts: tuple[str, str, list[str]]) -> None:
    gold, quick, problems = read(*texts)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(scan, "scan", lambda data, header, items: None)
        noted = Problems()
        slow = read_predicted_mwes(texts[1].encode(), gold.corpus.items, noted)
    assert quick == slow
    assert (problems.errors, problems.warnings) == (noted.errors, noted.warnings)


sets_of_tokens = st.lists(
    st.sets(st.integers(0, 6), min_size=1, max_size=4).map(lambda tokens: tuple(sorted(tokens))),
    max_size=5,
    unique=True,
)


@settings(deadline=None, max_examples=lanes.examples(40))
@given(sets_of_tokens, sets_of_tokens, st.sampled_from([0, 2, 6]))
def test_pairing_equals_trying_every_pairing(gold: list[Tokens], predicted: list[Tokens], few: int) -> None:
    expected = mwe_reference.every_pairing([frozenset(g) for g in gold], [frozenset(p) for p in predicted])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(mwe_pairing, "FEW_MWES", few)
        assert shared_tokens(gold, predicted) == expected
