"""F1 and accuracy from confusion counts. Items can be weighted when counted, so that resampling needs no task code."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Counts = npt.NDArray[np.float64]


def confusion(
    gold: npt.NDArray[np.integer],
    prediction: npt.NDArray[np.integer],
    labels: int,
    weights: npt.NDArray[np.float64] | None = None,
) -> Counts:
    """Count how often each gold label (row) met each predicted label (column): labels × labels.

    gold, prediction: n label numbers in [0, labels), same order; weights: n numbers ≥ 0, how often each item counts
    (None: once each). Raises ValueError when lengths differ or a label number is out of range.
    """
    if gold.shape != prediction.shape:
        raise ValueError("gold and prediction have the same length")
    if any(side.size and (side.min() < 0 or side.max() >= labels) for side in (gold, prediction)):
        raise ValueError(f"label numbers lie in [0, {labels})")
    cells = gold.astype(np.intp) * labels + prediction
    return np.bincount(cells, weights, minlength=labels * labels).reshape(labels, labels).astype(np.float64)


def macro_f1(counts: Counts) -> float | None:
    """Compute the mean of the labels' F1, in [0, 1]; None if nothing was counted.

    counts: labels × labels, from `confusion`. F1 = 2·TP / (2·TP + FP + FN), per label. The mean is over the labels that
    occur in gold or in the prediction, as in scikit-learn's `f1_score(average="macro")`, which the official scripts
    use: an unused label neither helps nor hurts, so a perfect prediction has 1 on one-class gold too. For the same
    reason 0/0 cannot arise; a label that occurs and is never hit has F1 = 0.
    """
    hits = np.diagonal(counts)
    occurrences = counts.sum(axis=0) + counts.sum(axis=1)
    present = occurrences > 0
    if not present.any():
        return None
    return float(np.mean(2 * hits[present] / occurrences[present]))


def accuracy(counts: Counts) -> float | None:
    """Compute the share of right labels, in [0, 1]; None if nothing was counted. counts: from `confusion`."""
    total = float(counts.sum())
    return float(np.trace(counts)) / total if total else None
