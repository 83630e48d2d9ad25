"""Spans of tags and their agreement: against seqeval in both of its modes, and pairs against trying all of them."""

from __future__ import annotations

import random
from collections.abc import Sequence
from functools import partial
from itertools import permutations

import numpy as np
import pytest

from evergold.scoring.spans import (
    PREFIXES,
    Floats,
    Reading,
    Scheme,
    Span,
    breaks_scheme,
    count_spans,
    overall_scores,
    spans_of,
    type_scores,
)
from tests import lanes

SCHEMES: tuple[Scheme, ...] = ("bio", "bioes")
READINGS: tuple[Reading, ...] = ("lenient", "strict")


def made_up(scheme: Scheme, chance: random.Random) -> list[list[str]]:
    """Tags at random, most of which break the scheme somewhere."""
    types = ("PER", "LOC", "A-B")[: chance.randint(1, 3)]
    tags = ["O", "O", *(f"{prefix}-{type_}" for prefix in PREFIXES[scheme] for type_ in types)]
    return [chance.choices(tags, k=chance.randint(1, 9)) for _ in range(chance.randint(1, 5))]


def tables(gold: Sequence[Sequence[str]], ours: Sequence[Sequence[str]], scheme: Scheme, reading: Reading) -> Floats:
    """The counts of every type, sorted."""
    counts: dict[str, Floats] = {}
    for one, other in zip(gold, ours, strict=True):
        for type_, of_type in count_spans(spans_of(one, scheme, reading), spans_of(other, scheme, reading)).items():
            counts[type_] = counts.get(type_, np.zeros(4)) + np.array(of_type)
    return np.array([counts[type_] for type_ in sorted(counts)]).reshape(-1, 4)


def assert_equal_to_seqeval(seed: int) -> None:
    usual, v1 = (pytest.importorskip(f"seqeval.metrics.{name}") for name in ("sequence_labeling", "v1"))
    schemes = pytest.importorskip("seqeval.scheme")
    chance = random.Random(seed)
    scheme, reading = SCHEMES[seed % 2], READINGS[seed // 2 % 2]
    gold = made_up(scheme, chance)
    tags = [tag for sentence in made_up(scheme, chance) for tag in sentence]
    ours = [[tag if chance.random() < 0.6 else chance.choice(tags) for tag in sentence] for sentence in gold]
    table = tables(gold, ours, scheme, reading)
    strict = {"scheme": schemes.IOB2 if scheme == "bio" else schemes.IOBES}
    metrics, how = (v1, strict) if reading == "strict" else (usual, {})
    if not len(table):
        return
    support_of = partial(metrics.precision_recall_fscore_support, gold, ours, zero_division=0, **how)
    overall = overall_scores(table)
    for average, scores in (("micro", overall[:3]), ("macro", overall[6:9])):
        precision, recall, f1, _ = support_of(average=average)
        assert scores.tolist() == pytest.approx([f1, precision, recall], abs=1e-12), (seed, average)
    precision, recall, f1, support = support_of(average=None)
    each = type_scores(table)
    assert each[:, :3].T.tolist() == pytest.approx(np.array([f1, precision, recall]), abs=1e-12), seed
    assert table[:, 2].tolist() == support.tolist()


@pytest.mark.parametrize("first", range(0, 100, 25))
def test_scores_are_those_of_seqeval(first: int) -> None:
    for seed in range(first, first + 25):
        assert_equal_to_seqeval(seed)


@pytest.mark.soak
def test_scores_are_those_of_seqeval_in_a_thousand_cases() -> None:
    first = lanes.soak_seed()
    for seed in range(first, first + 1000):
        assert_equal_to_seqeval(seed)


@pytest.mark.parametrize(
    ("tags", "scheme", "lenient", "strict"),
    [
        ("B-X I-X O", "bio", [(0, 2, "X")], [(0, 2, "X")]),
        ("I-X I-X", "bio", [(0, 2, "X")], []),
        ("B-X I-Y", "bio", [(0, 1, "X"), (1, 2, "Y")], [(0, 1, "X")]),
        ("B-X B-X", "bio", [(0, 1, "X"), (1, 2, "X")], [(0, 1, "X"), (1, 2, "X")]),
        ("S-X B-X I-X E-X", "bioes", [(0, 1, "X"), (1, 4, "X")], [(0, 1, "X"), (1, 4, "X")]),
        ("B-X I-X O", "bioes", [(0, 2, "X")], []),
        ("E-X I-X", "bioes", [(0, 1, "X"), (1, 2, "X")], []),
    ],
)
def test_what_tags_mark(
    tags: str, scheme: Scheme, lenient: list[tuple[int, int, str]], strict: list[tuple[int, int, str]]
) -> None:
    assert spans_of(tags.split(), scheme, "lenient") == lenient
    assert spans_of(tags.split(), scheme, "strict") == strict


@pytest.mark.parametrize("scheme", SCHEMES)
def test_tags_that_keep_to_the_scheme_are_read_alike(scheme: Scheme) -> None:
    """And where the two readings differ, some tag breaks it."""
    chance = random.Random(5)
    for _ in range(300):
        for tags in made_up(scheme, chance):
            pairs = zip(["O", *tags], [*tags, "O"], strict=True)
            is_broken = any(breaks_scheme(one, two, scheme) for one, two in pairs)
            alike = spans_of(tags, scheme, "lenient") == spans_of(tags, scheme, "strict")
            assert alike or is_broken


def test_as_many_spans_are_paired_as_can_be() -> None:
    """Check separate or nested spans, on either side: as many as by trying every order."""
    chance = random.Random(3)
    for case in range(200):
        gold, ours = ({span(chance, apart=case % 2 == 0) for _ in range(chance.randint(0, 5))} for _ in range(2))
        counts = count_spans(gold, ours)
        for type_, of_type in counts.items():
            sides = ([one for one in side if one.type == type_] for side in (gold, ours))
            assert of_type.overlapping == most_pairs(*sides)
            assert of_type.exact == len({one for one in gold if one.type == type_} & ours)


def span(chance: random.Random, *, apart: bool) -> Span:
    start = 3 * chance.randint(0, 4) if apart else chance.randint(0, 12)
    return Span(start, start + chance.randint(1, 2 if apart else 6), chance.choice("XXY"))


def most_pairs(gold: list[Span], ours: list[Span]) -> int:
    small, large = sorted((gold, ours), key=len)
    return max(
        sum(one.start < other.end and other.start < one.end for one, other in zip(small, order, strict=True))
        for order in permutations(large, len(small))
    )
