"""Spearman's rank correlation in numpy alone: the web process imports every task and must not load scipy."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]

#: Why a correlation can be undefined; these are shown to people and stay as they are.
TOO_FEW = "fewer than two items"
CONSTANT_GOLD = "all targets are equal"
CONSTANT_PREDICTION = "all predictions are equal"


def spearman(gold: Floats, prediction: Floats) -> float | None:
    """Spearman's rho with average ranks for ties, in [-1, 1]; None where `undefined_because` gives a reason.

    gold, prediction: n finite numbers, same order. Equals `scipy.stats.spearmanr(gold, prediction).statistic` up to
    rounding, save that scipy gives NaN with a warning where this gives None. Raises ValueError on NaN, infinity or
    different lengths.
    """
    if gold.shape != prediction.shape or gold.ndim != 1:
        raise ValueError("gold and prediction are two lists of the same length")
    if not (np.isfinite(gold).all() and np.isfinite(prediction).all()):
        raise ValueError("only finite numbers have ranks")
    if undefined_because(gold, prediction):
        return None
    a, b = average_ranks(gold), average_ranks(prediction)
    a -= a.mean()
    b -= b.mean()
    rho = float(a @ b / np.sqrt((a @ a) * (b @ b)))
    return min(1.0, max(-1.0, rho))


def undefined_because(gold: Floats, prediction: Floats) -> str | None:
    """Why rho is undefined: TOO_FEW, CONSTANT_GOLD or CONSTANT_PREDICTION; None when it is defined."""
    if len(gold) < 2:
        return TOO_FEW
    # Constant predictions come first: they make a target that is the system's own value constant as well.
    if prediction.min() == prediction.max():
        return CONSTANT_PREDICTION
    return CONSTANT_GOLD if gold.min() == gold.max() else None


def average_ranks(values: Floats) -> Floats:
    """The ranks 1..n of n finite numbers; equal numbers share the mean of their ranks."""
    order = np.argsort(values)
    ordered = values[order]
    begins = np.concatenate(([True], ordered[1:] != ordered[:-1]))
    group = np.cumsum(begins) - 1
    edges = np.append(np.flatnonzero(begins), len(values))
    ranks = np.empty(len(values))
    ranks[order] = (edges[group] + 1 + edges[group + 1]) / 2
    return ranks
