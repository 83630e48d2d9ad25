"""Spearman's rank correlation in numpy alone: the web process imports every task and must not load scipy."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.intp]

#: Why a correlation can be undefined; these are shown to people and stay as they are.
TOO_FEW = "fewer than two items"
CONSTANT_GOLD = "all targets are equal"
CONSTANT_PREDICTION = "all predictions are equal"


def spearman(gold: Floats, prediction: Floats) -> float | None:
    """Compute Spearman's rho with average ranks for ties, in [-1, 1]; None where `undefined_because` gives a reason.

    gold, prediction: n finite numbers, same order. Equals `scipy.stats.spearmanr(gold, prediction).statistic` up to
    rounding, except that scipy gives NaN with a warning where this gives None. Raises ValueError on NaN, infinity or
    different lengths.
    """
    _check_ranked(gold, prediction)
    if undefined_because(gold, prediction):
        return None
    return _rho(average_ranks(gold), average_ranks(prediction))


def spearman_of_parts(
    gold: Floats, prediction: Floats, parts: Iterable[Integers]
) -> list[tuple[float | None, str | None]]:
    """Return for each part, given as the places of its items, the results of `spearman` and `undefined_because`.

    gold, prediction: n finite numbers, same order. Only the whole is sorted; the ranks within a part are computed by
    counting equal numbers. Raises ValueError as `spearman` does.
    """
    _check_ranked(gold, prediction)
    gold_numbers, prediction_numbers = (np.unique(values, return_inverse=True)[1] for values in (gold, prediction))
    found: list[tuple[float | None, str | None]] = []
    for places in parts:
        a, b = gold_numbers[places], prediction_numbers[places]
        reason = undefined_because(a, b)
        found.append((None, reason) if reason else (_rho(_counted_ranks(a), _counted_ranks(b)), None))
    return found


def _check_ranked(gold: Floats, prediction: Floats) -> None:
    if gold.shape != prediction.shape or gold.ndim != 1:
        raise ValueError("gold and prediction are two lists of the same length")
    if not (np.isfinite(gold).all() and np.isfinite(prediction).all()):
        raise ValueError("only finite numbers have ranks")


def _rho(a: Floats, b: Floats) -> float:
    """Compute rho of two lists of ranks, neither all equal; both are changed in place. Ranks sum to n (n + 1) / 2,
    whatever the ties.
    """
    mean = (len(a) + 1) / 2
    a -= mean
    b -= mean
    rho = float(a @ b / np.sqrt((a @ a) * (b @ b)))
    return min(1.0, max(-1.0, rho))


def _counted_ranks(numbers: Integers) -> Floats:
    """Return `average_ranks` of small integers from 0."""
    counts = np.bincount(numbers)
    ranks: Floats = (np.cumsum(counts) - (counts - 1) / 2)[numbers]
    return ranks


def undefined_because(gold: Floats | Integers, prediction: Floats | Integers) -> str | None:
    """Return why rho is undefined: TOO_FEW, CONSTANT_GOLD or CONSTANT_PREDICTION; None if it is defined."""
    if len(gold) < 2:
        return TOO_FEW
    # Constant predictions come first: they make a target that is the system's own value constant as well.
    if prediction.min() == prediction.max():
        return CONSTANT_PREDICTION
    return CONSTANT_GOLD if gold.min() == gold.max() else None


def average_ranks(values: Floats) -> Floats:
    """Return the ranks 1..n of n finite numbers; equal numbers share the mean of their ranks."""
    order = np.argsort(values)
    ordered = values[order]
    ranks = np.empty(len(values))
    differs = ordered[1:] != ordered[:-1]
    if differs.all():
        ranks[order] = np.arange(1.0, len(values) + 1)
        return ranks
    begins = np.concatenate(([True], differs))
    group = np.cumsum(begins) - 1
    edges = np.append(np.flatnonzero(begins), len(values))
    ranks[order] = (edges[group] + 1 + edges[group + 1]) / 2
    return ranks


def pearson(x: Floats, y: Floats) -> float | None:
    """Compute Pearson's r, in [-1, 1]; None where there are fewer than two pairs or one side is constant.

    x, y: n finite numbers, same order. Equals `scipy.stats.pearsonr(x, y).statistic` up to rounding, except that scipy
    gives NaN with a warning, or raises, where this gives None. Raises ValueError as `spearman` does.
    """
    _check_pairs(x, y)
    if undefined_because(x, y):
        return None
    a, b = x - x.mean(), y - y.mean()
    # Each side by its own length first: products of tiny numbers would vanish.
    r = float((a / np.sqrt(a @ a)) @ (b / np.sqrt(b @ b)))
    return min(1.0, max(-1.0, r))


def kendall(x: Floats, y: Floats) -> float | None:
    """Compute Kendall's tau-b, in [-1, 1], which takes ties into account; None as for `pearson`.

    x, y: n finite numbers, same order; time and memory grow with n², so it is meant for comparing systems, not items.
    Equals `scipy.stats.kendalltau(x, y).statistic` up to rounding.
    """
    _check_pairs(x, y)
    if undefined_because(x, y):
        return None
    upper = np.triu_indices(len(x), k=1)
    a = np.sign(x[:, None] - x[None, :])[upper]
    b = np.sign(y[:, None] - y[None, :])[upper]
    tau = float((a * b).sum() / np.sqrt(float(np.abs(a).sum()) * float(np.abs(b).sum())))
    return min(1.0, max(-1.0, tau))


def _check_pairs(x: Floats, y: Floats) -> None:
    if x.shape != y.shape or x.ndim != 1:
        raise ValueError("the two lists must have the same length")
    if not (np.isfinite(x).all() and np.isfinite(y).all()):
        raise ValueError("only finite numbers can be correlated")
