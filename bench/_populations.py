"""Known populations for `bench.coverage`: each gives data sets of n items, a `Sample` with one score, and its truth."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
import numpy.typing as npt

from evergold.scoring.resampling.blocks import Dense, collect
from evergold.scoring.resampling.formulas import (
    diversity,
    mean_and_deviation,
    mean_of_sums,
    pearson_of_sums,
    precision_recall_f1,
    root_mean_of_sums,
)
from evergold.scoring.resampling.parts import Concordance, Part, Ranks, Sums
from evergold.scoring.resampling.sample import Derived, Sample
from evergold.scoring.resampling.texts import bleu
from evergold.scoring.resampling.units import Units, group_items
from evergold.scoring.samples.tables import label_sums, mean_sums

Floats = npt.NDArray[np.float64]
Chance = np.random.Generator
NAME = ("score", "all")
#: So many items are as good as the population.
MANY = 200_000
#: Items of a cluster, where there are clusters.
CLUSTER = 10


@dataclass(frozen=True)
class Population:
    """family: what kind of score it is; low, high: the score's range; draw: a data set of n items; truth: the score of
    the population, None: the expected score of n items (of how many types there are nobody asks without a size)."""

    family: str
    title: str
    low: float | None
    high: float | None
    draw: Callable[[int, Chance], Sample]
    has_truth: bool = True
    largest: int = 10**9

    @property
    def is_share(self) -> bool:
        """Whether each item counts as 0 or 1."""
        return self.family == "share"

    def truth(self, chance: Chance, items: int | None = None) -> float:
        """Return the score of very many items."""
        return _value(self.draw(items or MANY, chance))


def _value(sample: Sample) -> float:
    part = sample.parts[0]
    if isinstance(part, Concordance):
        from scipy.stats import kendalltau

        return float(kendalltau(part.gold, part.predicted).statistic)
    return float(sample.weighted(np.ones((1, len(sample.units))))[NAME][0])


def items(n: int) -> Units:
    """Draw n independent items."""
    return Units(tuple(map(str, range(n))))


def one(units: Units, part: Part) -> Sample:
    return Sample(units, (part,))


# ------------------------------------------------------------------------------------------------------------- labels


def labels(metric: str, shares: tuple[float, ...], right: tuple[float, ...], n: int, chance: Chance) -> Sample:
    """Draw labelled items. shares: of the labels in gold; right: how often each is recognised and not replaced."""
    gold = chance.choice(len(shares), n, p=shares)
    other = (gold + chance.integers(1, len(shares), n)) % len(shares)
    predicted = np.where(chance.random(n) < np.array(right)[gold], gold, other)
    return one(
        items(n),
        _renamed(label_sums((metric,), "all", tuple("abcdef"[: len(shares)]), (gold, predicted), np.arange(n))),
    )


def clustered_labels(metric: str, n: int, chance: Chance) -> Sample:
    """Draw clusters of items that are all easy or all hard; units are the clusters."""
    cluster = np.arange(n) // CLUSTER
    ease = chance.beta(4, 1.2, n // CLUSTER + 1)[cluster]
    gold = chance.integers(0, 2, n)
    predicted = np.where(chance.random(n) < ease, gold, 1 - gold)
    units, places = group_items([str(number) for number in cluster])
    return one(units, _renamed(label_sums((metric,), "all", ("a", "b"), (gold, predicted), places)))


def _renamed(sums: Sums) -> Sums:
    return Sums((NAME,), sums.blocks, sums.finish, sums.keys, sums.kinds_by_label)


# ---------------------------------------------------------------------------------------------------- found, in gold


def _f1(sums: Floats) -> Floats:
    return precision_recall_f1(sums)[..., 2:]


def _found(n: int, rate: float, recall: float, extra: float, chance: Chance) -> Floats:
    """Draw n sentences, some hard and some easy, with their numbers of MWEs found, in gold, predicted."""
    gold = chance.poisson(chance.gamma(1.0, rate, n))
    found = chance.binomial(gold, np.clip(chance.normal(recall, 0.15, n), 0.0, 1.0))
    return np.stack([found, gold, found + chance.poisson(extra, n)], axis=1).astype(np.float64)


def mwes(rate: float, recall: float, extra: float, n: int, chance: Chance) -> Sample:
    return one(items(n), Sums((NAME,), (Dense(np.arange(n), _found(n, rate, recall, extra, chance)),), _f1, (0, 1, 2)))


def macro_mwes(n: int, chance: Chance) -> Sample:
    """Draw four languages of different size and difficulty; the score is the mean of their F1."""
    sizes = [n // 2, n // 4, n // 8, n - n // 2 - n // 4 - n // 8]
    units = Units(tuple(map(str, range(n))), np.repeat(np.arange(4), sizes))
    parts, start = list[Part](), 0
    for number, (size, recall) in enumerate(zip(sizes, (0.8, 0.6, 0.7, 0.4), strict=True)):
        name = ("score", str(number))
        parts.append(
            Sums(
                (name,),
                (Dense(np.arange(start, start + size), _found(size, 1.0, recall, 0.3, chance)),),
                _f1,
                (0, 1, 2),
            )
        )
        start += size
    return Sample(units, tuple(parts), (Derived((NAME,), tuple(p.names[0] for p in parts), _mean),))


def _mean(values: Floats) -> Floats:
    found: Floats = values.mean(axis=-1, keepdims=True)
    return found


# -------------------------------------------------------------------------------------------------------- correlation


def _pairs(rho: float, n: int, chance: Chance, steps: float | None, heavy: bool) -> tuple[Floats, Floats]:
    a, b = chance.standard_normal((2, n))
    b = rho * a + np.sqrt(1 - rho * rho) * b
    if heavy:
        scale = 1 / np.sqrt(chance.chisquare(4, n) / 4)
        a, b = a * scale, b * scale
    return (a, b) if steps is None else (np.round(a * steps), np.round(b * steps))


def ranks(rho: float, n: int, chance: Chance, steps: float | None = None) -> Sample:
    return one(items(n), Ranks((NAME,), np.arange(n), *_pairs(rho, n, chance, steps, False)))


def concordance(rho: float, n: int, chance: Chance) -> Sample:
    return one(items(n), Concordance((NAME,), np.arange(n), *_pairs(rho, n, chance, None, False)))


def pearson(rho: float, heavy: bool, n: int, chance: Chance) -> Sample:
    x, y = _pairs(rho, n, chance, None, heavy)
    x, y = x / np.abs(x).max(), y / np.abs(y).max()
    return one(items(n), mean_sums(("score",), "all", [x, y, x * x, y * y, x * y], np.arange(n), pearson_of_sums))


# -------------------------------------------------------------------------------------------------- means, diversity


def means(kind: str, n: int, chance: Chance) -> Sample:
    every = np.arange(n)
    if kind == "bertscore":  # many zeros, the others high
        values = np.where(chance.random(n) < 0.3, 0.0, chance.beta(20, 3, n))
        return one(items(n), mean_sums(("score",), "all", [values], every, mean_of_sums))
    errors = chance.standard_normal(n) if kind == "even rmse" else chance.standard_t(4, n)
    if kind == "mae":
        return one(items(n), mean_sums(("score",), "all", [np.abs(errors)], every, mean_of_sums))
    if kind.endswith("rmse"):
        return one(items(n), mean_sums(("score",), "all", [errors**2], every, root_mean_of_sums))
    values = chance.beta(4, 2, n)
    return one(items(n), mean_sums(("score",), "all", [values, values**2], every, _deviation))


def _deviation(sums: Floats) -> Floats:
    return mean_and_deviation(sums)[..., 1:]


def texts(n: int, chance: Chance) -> Sample:
    """Draw BLEU's statistics of sentences, whose words are right with a different chance in each."""
    length = chance.integers(5, 30, n)
    ease = chance.beta(6, 3, n)
    every = np.stack([np.maximum(length - order, 0) for order in range(4)], axis=1)
    matched = np.stack([chance.binomial(every[:, order], ease ** (order + 1)) for order in range(4)], axis=1)
    lengths = np.stack([length, length + chance.integers(-1, 3, n)], axis=1)
    columns = np.concatenate([lengths, matched, every], axis=1).astype(np.float64)
    return one(items(n), mean_sums(("score",), "all", list(columns.T), np.arange(n), bleu))


def types(part: int, n: int, chance: Chance) -> Sample:
    """Draw occurrences of 400 types by Zipf's law; richness, entropy or evenness."""
    law = 1 / np.arange(1, 401)
    drawn = chance.choice(400, n, p=law / law.sum())
    block = collect(400, np.arange(n), drawn)
    return one(items(n), Sums((NAME,), (block,), partial(_one_of, part), tuple((NAME, k) for k in range(400)), 1))


def _one_of(part: int, sums: Floats) -> Floats:
    return diversity(sums)[..., part : part + 1]


HALF, SKEWED, THREE = (0.5, 0.5), (0.95, 0.05), (0.7, 0.25, 0.05)
POPULATIONS = (
    Population("share", "accuracy 0.60", 0, 1, partial(labels, "accuracy", HALF, (0.6, 0.6))),
    Population("share", "accuracy 0.80", 0, 1, partial(labels, "accuracy", HALF, (0.8, 0.8))),
    Population("share", "accuracy 0.90", 0, 1, partial(labels, "accuracy", HALF, (0.9, 0.9))),
    Population("share", "accuracy 0.95", 0, 1, partial(labels, "accuracy", HALF, (0.95, 0.95))),
    Population("share", "accuracy 0.99", 0, 1, partial(labels, "accuracy", HALF, (0.99, 0.99))),
    Population("share", "accuracy, clusters of 10", 0, 1, partial(clustered_labels, "accuracy")),
    Population("f1", "macro F1, balanced", 0, 1, partial(labels, "macro_f1", HALF, (0.75, 0.75))),
    Population("f1", "macro F1, 5 % positive", 0, 1, partial(labels, "macro_f1", SKEWED, (0.95, 0.5))),
    Population("f1", "macro F1, three labels", 0, 1, partial(labels, "macro_f1", THREE, (0.9, 0.7, 0.5))),
    Population("f1", "macro F1, near 1", 0, 1, partial(labels, "macro_f1", HALF, (0.98, 0.98))),
    Population("f1", "macro F1, clusters of 10", 0, 1, partial(clustered_labels, "macro_f1")),
    Population("f1", "MWE F1, middle", 0, 1, partial(mwes, 1.0, 0.6, 0.4)),
    Population("f1", "MWE F1, near 0", 0, 1, partial(mwes, 0.6, 0.02, 0.4)),
    Population("f1", "MWE F1, near 1", 0, 1, partial(mwes, 1.0, 0.97, 0.03)),
    Population("f1", "mean of 4 languages", 0, 1, macro_mwes),
    Population("correlation", "Spearman 0.30", -1, 1, partial(ranks, 0.3)),
    Population("correlation", "Spearman 0.80", -1, 1, partial(ranks, 0.8)),
    Population("correlation", "Spearman 0.98", -1, 1, partial(ranks, 0.98)),
    Population("correlation", "Spearman 0.60, ties", -1, 1, partial(ranks, 0.6, steps=1.0)),
    Population("correlation", "Pearson 0.60", -1, 1, partial(pearson, 0.6, False)),
    Population("correlation", "Pearson 0.60, heavy tails", -1, 1, partial(pearson, 0.6, True)),
    Population("correlation", "Kendall 0.41", -1, 1, partial(concordance, 0.6), largest=300),
    Population("correlation", "MCC, 5 % positive", -1, 1, partial(labels, "mcc", SKEWED, (0.95, 0.5))),
    Population("mean", "mean with zeros", None, None, partial(means, "bertscore")),
    Population("error", "MAE, heavy tails", 0, None, partial(means, "mae")),
    Population("error", "RMSE", 0, None, partial(means, "even rmse")),
    Population("error", "RMSE, heavy tails", 0, None, partial(means, "rmse")),
    Population("error", "standard deviation", 0, None, partial(means, "sd")),
    Population("text", "BLEU", 0, 1, texts),
    Population("diversity", "richness", 0, None, partial(types, 0), has_truth=False),
    Population("diversity", "entropy", 0, None, partial(types, 1), has_truth=False),
    Population("diversity", "evenness", 0, 1, partial(types, 2), has_truth=False),
)
