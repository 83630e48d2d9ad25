"""Scores from sums, for many resamples at once: the last axis holds the sums, NaN means undefined.

Each equals the scalar formula of the task types (`f1`, `mwe.counts`, `diversity`, `tables.metrics`), which tests
compare.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]

#: A variance below this share of the sum of squares is rounding error of zero.
_NOTHING = 1e-12


def ratio(over: Floats, under: Floats, otherwise: float = np.nan) -> Floats:
    """Return over / under, and `otherwise` where under is 0."""
    found: Floats = np.divide(over, under, out=np.full(np.broadcast(over, under).shape, otherwise), where=under > 0)
    return found


def accuracy(sums: Floats) -> Floats:
    """Compute the share of right labels, which is micro F1 too.

    Here and below, sums are hits, occurrences in gold and predictions of each of n labels: … × 3n.
    """
    hits, gold, _ = np.split(sums, 3, axis=-1)
    return ratio(hits.sum(axis=-1), gold.sum(axis=-1))


def macro_f1(sums: Floats) -> Floats:
    """Compute the mean F1 of the labels that occur."""
    f1, occurrences = _label_f1(sums)
    return ratio(f1.sum(axis=-1), (occurrences > 0).sum(axis=-1).astype(np.float64))


def weighted_f1(sums: Floats) -> Floats:
    """Compute the mean F1 of the labels, weighted by their number in gold."""
    gold = np.split(sums, 3, axis=-1)[1]
    return ratio((gold * _label_f1(sums)[0]).sum(axis=-1), gold.sum(axis=-1))


def mcc(sums: Floats) -> Floats:
    """Compute Matthews' correlation; undefined where one side has a single label."""
    hits, gold, predicted = np.split(sums, 3, axis=-1)
    items = gold.sum(axis=-1)
    squares = items**2
    spread = [squares - (side**2).sum(axis=-1) for side in (gold, predicted)]
    spread = [np.where(one > _NOTHING * squares, one, 0.0) for one in spread]
    return ratio(hits.sum(axis=-1) * items - (gold * predicted).sum(axis=-1), np.sqrt(spread[0] * spread[1]))


#: By the names of metrics.
LABEL_SCORES = {
    "accuracy": accuracy,
    "micro_f1": accuracy,
    "macro_f1": macro_f1,
    "weighted_f1": weighted_f1,
    "mcc": mcc,
}


def _label_f1(sums: Floats) -> tuple[Floats, Floats]:
    hits, gold, predicted = np.split(sums, 3, axis=-1)
    occurrences = gold + predicted
    return ratio(2 * hits, occurrences, 0.0), occurrences


def precision_recall_f1(sums: Floats) -> Floats:
    """Compute P, R and F1, 0 for 0/0: … × 3, from found, in gold, predicted: … × 3."""
    found, gold, predicted = np.moveaxis(sums, -1, 0)
    precision, recall = ratio(found, predicted, 0.0), ratio(found, gold, 0.0)
    return np.stack([precision, recall, harmonic(precision, recall)], axis=-1)


def harmonic(precision: Floats, recall: Floats) -> Floats:
    """Return 2PR/(P+R), 0 where both are 0."""
    return ratio(2 * precision * recall, precision + recall, 0.0)


def diversity(counts: Floats) -> Floats:
    """Compute richness, entropy in nats and evenness: … × 3, from how often each of n types occurs: … × n."""
    total = counts.sum(axis=-1, keepdims=True)
    share = ratio(counts, total, 0.0)
    logs = np.log(share, out=np.zeros_like(share), where=share > 0)
    richness = (counts > 0).sum(axis=-1).astype(np.float64)
    entropy = np.where(total[..., 0] > 0, -(share * logs).sum(axis=-1), np.nan)
    most = np.log(np.maximum(richness, 1.0))
    return np.stack([richness, entropy, ratio(entropy, most)], axis=-1)


def mean_of_sums(sums: Floats) -> Floats:
    """Compute means: … × (k - 1), from the weight of all items and k - 1 sums: … × k."""
    return ratio(sums[..., 1:], sums[..., :1])


def root_mean_of_sums(sums: Floats) -> Floats:
    """Compute roots of means of squares, like `mean_of_sums`."""
    return np.sqrt(mean_of_sums(sums))


def pearson_of_sums(sums: Floats) -> Floats:
    """Compute Pearson's r: … × 1, from the sums of 1, x, y, x², y², xy: … × 6.

    NaN for fewer than two items or a constant side. Subtract their means over all items from x and y first, so that
    little is subtracted here.
    """
    n, x, y, xx, yy, xy = np.moveaxis(sums, -1, 0)
    with np.errstate(divide="ignore", invalid="ignore"):
        a, b, both = xx - x * x / n, yy - y * y / n, xy - x * y / n
        r = both / np.sqrt(a * b)
        is_constant = (a <= _NOTHING * xx) | (b <= _NOTHING * yy) | (n < 2)
    found: Floats = np.where(is_constant, np.nan, np.clip(r, -1.0, 1.0))[..., None]
    return found


def mean_and_deviation(sums: Floats) -> Floats:
    """Compute mean and standard deviation of a sample (n - 1): … × 2, from the sums of 1, x, x²: … × 3."""
    n, x, xx = np.moveaxis(sums, -1, 0)
    mean = ratio(x, n)
    variance = ratio(np.maximum(xx - x * mean, 0.0), n - 1)
    return np.stack([mean, np.sqrt(variance)], axis=-1)
