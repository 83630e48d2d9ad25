"""The demo's idiom-similarity systems: small, real; the fine-tuned ones learn from practice gold alone.

A measure answers one setting: it gets the pairs to compare, and pairs with their gold similarity, which are
none in the pre-train setting.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from demo.source import Pair
from demo.text import character_ngrams, cosine, inverse_document_frequencies, jaccard, weighted_words, words

Rated = tuple[Pair, float]
Measure = Callable[[Sequence[Pair], Sequence[Rated]], list[float]]
Vector = NDArray[np.float64]

PENALTY = 0.1


def word_overlap(pairs: Sequence[Pair], rated: Sequence[Rated]) -> list[float]:
    """The baseline: the share of words that both sentences have, whatever was rated."""
    return [jaccard(words(pair.sentence1), words(pair.sentence2)) for pair in pairs]


def character_cosine(pairs: Sequence[Pair], rated: Sequence[Rated]) -> list[float]:
    """Magpie, pre-train: the cosine of character n-grams."""
    return [cosine(character_ngrams(pair.sentence1), character_ngrams(pair.sentence2)) for pair in pairs]


def tf_idf_cosine(pairs: Sequence[Pair], rated: Sequence[Rated]) -> list[float]:
    """Saudade Lab, pre-train: the cosine of words, weighted by how rare they are among the pairs."""
    sentences = [(pair.sentence1, pair.sentence2) for pair in pairs]
    weights = inverse_document_frequencies(text for both in sentences for text in both)
    return [cosine(weighted_words(one, weights), weighted_words(two, weights)) for one, two in sentences]


def surface_regression(pairs: Sequence[Pair], rated: Sequence[Rated]) -> list[float]:
    """Magpie, fine-tune: ridge regression over four ways of being alike on the surface."""
    return _regress(pairs, rated, with_idiom=False)


def idiom_aware_regression(pairs: Sequence[Pair], rated: Sequence[Rated]) -> list[float]:
    """Saudade Lab, fine-tune: the same, told in addition which pairs hold an idiomatic expression."""
    return _regress(pairs, rated, with_idiom=True)


def _regress(pairs: Sequence[Pair], rated: Sequence[Rated], *, with_idiom: bool) -> list[float]:
    known = _features([pair for pair, _ in rated], with_idiom)
    wanted = np.array([sim for _, sim in rated], dtype=np.float64)
    weights = np.linalg.solve(known.T @ known + PENALTY * np.eye(known.shape[1]), known.T @ wanted)
    return [float(value) for value in _features(pairs, with_idiom) @ weights]


def _features(pairs: Sequence[Pair], with_idiom: bool) -> Vector:
    columns = [
        [1.0] * len(pairs),
        word_overlap(pairs, []),
        character_cosine(pairs, []),
        tf_idf_cosine(pairs, []),
        [_shorter_to_longer(pair) for pair in pairs],
    ]
    if with_idiom:
        columns.append([float(pair.mwe is not None) for pair in pairs])
    return np.array(columns, dtype=np.float64).T


def _shorter_to_longer(pair: Pair) -> float:
    lengths = sorted((len(pair.sentence1), len(pair.sentence2)))
    return lengths[0] / lengths[1]
