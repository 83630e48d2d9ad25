"""The demo's idiom-detection systems: small, real, trained on practice items and one-shot examples alone.

A detector answers one setting: it gets the items to label, the labelled practice items, and the labelled
examples of the expressions in question, which are none in the zero-shot setting.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from demo.source import Occurrence
from demo.text import character_ngrams, cosine, inverse_document_frequencies, weighted_words, words

IDIOMATIC, LITERAL = 0, 1
Labelled = tuple[Occurrence, int]
Items = Sequence[Occurrence]
Known = Sequence[Labelled]
Detector = Callable[[Items, Known, Known], list[int]]
Vector = NDArray[np.float64]

EXAMPLE_WEIGHT = 2.0  # chosen on practice

INDEFINITE = {
    "EN": {"a", "an", "another", "one"},
    "PT": {"um", "uma", "num", "numa", "outro", "outra"},
    "GL": {"un", "unha", "nun", "nunha", "dun", "dunha", "cun", "cunha", "outro", "outra"},
}
DEFINITE = {
    "EN": {"the", "this", "that", "these", "those"},
    "PT": {"o", "a", "os", "as", "do", "da", "no", "na", "ao", "à", "aos", "às", "pelo", "pela"},
    "GL": {"o", "a", "os", "as", "do", "da", "no", "na", "ao", "á", "aos", "ás", "polo", "pola", "co", "coa"},
}
TO_BE = {
    "EN": {"is", "are", "was", "were", "be", "been", "am", "remains", "remained"},
    "PT": {"é", "são", "era", "eram", "foi", "foram", "ser", "será"},
    "GL": {"é", "son", "era", "eran", "foi", "foron", "ser", "será"},
}


def majority_class(items: Items, practice: Known, examples: Known) -> list[int]:
    """The more frequent label of practice, idiomatic where both are as frequent, for every item."""
    literal = sum(label for _, label in practice)
    return [LITERAL if 2 * literal > len(practice) else IDIOMATIC] * len(items)


def naive_bayes(items: Items, practice: Known, examples: Known) -> list[int]:
    """Magpie: multinomial naive Bayes over the words around the expression and a few cues, one model for all.

    The examples of an item's own expression are added to the training data five times over.
    """
    plain = _bayes(practice)
    own = {item: _examples_of(item, examples) * 5 for item in items}
    models = {item: _bayes([*practice, *own[item]]) if own[item] else plain for item in items}
    return [models[item].label(cues(item)) for item in items]


def logistic_regression(items: Items, practice: Known, examples: Known) -> list[int]:
    """Saudade Lab: logistic regression over a handful of cues; one-shot adds which example is more alike."""
    rows = np.array([_numbers(occurrence) for occurrence, _ in practice])
    labels = np.array([label for _, label in practice], dtype=np.float64)
    weights = _fit(rows, labels)
    margins = np.array([_numbers(item) for item in items]) @ weights
    leanings = np.array([_leaning(item, examples) for item in items])
    return [int(margin > 0) for margin in margins + EXAMPLE_WEIGHT * leanings]


def nearest_example(items: Items, practice: Known, examples: Known) -> list[int]:
    """Loureiro: the label of the nearest example by tf-idf of words; idiomatic if no word is shared."""
    known = [occurrence for occurrence, _ in [*practice, *examples]]
    weights = inverse_document_frequencies(context(occurrence) for occurrence in [*known, *items])

    def likeness(item: Occurrence, label: int) -> float:
        bag = weighted_words(context(item), weights)
        own = [other for other, other_label in _examples_of(item, examples) if other_label == label]
        return max((cosine(bag, weighted_words(context(other), weights)) for other in own), default=0.0)

    return [int(likeness(item, LITERAL) > likeness(item, IDIOMATIC)) for item in items]


def context(item: Occurrence) -> str:
    """The three sentences without the expression itself."""
    before, _, after = _around(item)
    return f"{item.previous} {before} {after} {item.next}"


def cues(item: Occurrence) -> list[str]:
    """Words of the context, marked by language, and how the expression is placed, in any language."""
    named = [name for name, value in _named(item).items() if value]
    return [f"{item.language} {word}" for word in words(context(item))] + named * 2


def _around(item: Occurrence) -> tuple[str, str, str]:
    """The target before the expression, the expression as written, and the target after it."""
    start = item.target.casefold().index(item.mwe.casefold())
    end = start + len(item.mwe)
    return item.target[:start], item.target[start:end], item.target[end:]


def _named(item: Occurrence) -> dict[str, bool]:
    before, written, after = _around(item)
    preceding = words(before)
    last = preceding[-1] if preceding else ""
    return {
        "<capitals>": written[1:] != written[1:].lower(),
        "<a>": last in INDEFINITE[item.language],
        "<the>": last in DEFINITE[item.language],
        "<opens>": len(preceding) <= 1,
        "<closes>": not words(after),
        "<is>": bool(TO_BE[item.language] & set(preceding[-3:])),
        "<details>": len(words(after)) > 8,
    }


def _examples_of(item: Occurrence, examples: Known) -> list[Labelled]:
    return [
        (other, label)
        for other, label in examples
        if (other.language, other.mwe) == (item.language, item.mwe) and other != item
    ]


@dataclass(slots=True)
class _Bayes:
    """Counts of cues per label; add-one smoothing over all cues seen."""

    counts: dict[int, Counter[str]] = field(default_factory=lambda: {0: Counter(), 1: Counter()})
    labels: Counter[int] = field(default_factory=Counter)

    def label(self, seen: Sequence[str]) -> int:
        return int(self._log_probability(seen, LITERAL) > self._log_probability(seen, IDIOMATIC))

    def _log_probability(self, seen: Sequence[str], label: int) -> float:
        vocabulary = len(self.counts[IDIOMATIC] | self.counts[LITERAL])
        total = self.counts[label].total() + vocabulary
        prior = math.log(self.labels[label] + 1)
        return prior + math.fsum(math.log((self.counts[label][cue] + 1) / total) for cue in seen)


def _bayes(known: Known) -> _Bayes:
    model = _Bayes()
    for occurrence, label in known:
        model.counts[label].update(cues(occurrence))
        model.labels[label] += 1
    return model


def _numbers(item: Occurrence) -> list[float]:
    """The cues as numbers, and a 1 for the intercept."""
    return [1.0, *(float(value) for value in _named(item).values()), len(words(item.target)) / 20]


def _fit(rows: Vector, labels: Vector, steps: int = 400, rate: float = 0.5, penalty: float = 0.02) -> Vector:
    """The weights of a logistic regression with a quadratic penalty, by plain gradient descent."""
    weights = np.zeros(rows.shape[1])
    for _ in range(steps):
        errors = 1 / (1 + np.exp(-rows @ weights)) - labels
        weights -= rate * (rows.T @ errors / len(labels) + penalty * weights)
    return weights


def _leaning(item: Occurrence, examples: Known) -> float:
    """By how much the item's character n-grams are closer to the literal example than to the other."""
    bag = character_ngrams(context(item), 3, 5)
    return sum(
        (1 if label == LITERAL else -1) * cosine(bag, character_ngrams(context(other), 3, 5))
        for other, label in _examples_of(item, examples)
    )
