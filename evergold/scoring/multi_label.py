"""Agreement of sets of labels: F1 over labels (micro, macro), over items (samples), and the share of equal sets.

Pure arithmetic, in space and time proportional to the given labels, not to all possible ones; `tasks.multi_label` reads
the files.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from evergold.scoring.resampling.formulas import ratio

Floats = npt.NDArray[np.float64]
Codes = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class LabelSets:
    """Labels of n items, out of m labels: in gold, predicted, and on both sides.

    A label of an item is the code item · m + label.
    """

    items: int
    labels: int
    gold: Codes
    predicted: Codes
    both: Codes

    @property
    def sides(self) -> tuple[Codes, Codes, Codes]:
        """The codes on both sides, in gold, predicted."""
        return self.both, self.gold, self.predicted


def label_sets(gold: Sequence[Sequence[int]], predicted: Sequence[Sequence[int]], labels: int) -> LabelSets:
    """Encode gold and predicted labels: for each of n items the numbers of its labels, each once, below `labels`."""
    ours, theirs = (_codes(side, labels) for side in (predicted, gold))
    return LabelSets(len(gold), labels, theirs, ours, np.intersect1d(theirs, ours, assume_unique=True))


def label_counts(sets: LabelSets) -> Floats:
    """Count the items that have each of m labels on both sides, in gold, predicted: 3m numbers, kind after kind."""
    counts = [np.bincount(side % max(sets.labels, 1), minlength=sets.labels) for side in sets.sides]
    return np.concatenate(counts).astype(np.float64)


def micro_macro_f1(counts: Floats) -> Floats:
    """Compute micro and macro F1, shape … × 2, in [0, 1], from `label_counts` (… × 3m); NaN where no label occurs.

    Macro is the mean over the labels that occur in gold or prediction.
    """
    hits, gold, predicted = np.split(counts, 3, axis=-1)
    occurrences = gold + predicted
    f1 = ratio(2 * hits, occurrences, 0.0)
    macro = ratio(f1.sum(axis=-1), (occurrences > 0).sum(axis=-1).astype(np.float64), np.nan)
    return np.stack([ratio(2 * hits.sum(axis=-1), occurrences.sum(axis=-1), np.nan), macro], axis=-1)


def item_f1(sets: LabelSets, both_empty: float) -> Floats:
    """Compute the F1 of the labels of each of n items, in [0, 1].

    both_empty: value of an item without any label on either side (scikit-learn's `zero_division`).
    """
    both, gold, predicted = _item_counts(sets)
    return ratio(2 * both, gold + predicted, float(both_empty))


def equal_sets(sets: LabelSets) -> Floats:
    """Return for each of n items 1 if its labels are exactly the right ones, else 0."""
    both, gold, predicted = _item_counts(sets)
    found: Floats = ((both == gold) & (both == predicted)).astype(np.float64)
    return found


def _item_counts(sets: LabelSets) -> list[Floats]:
    return [np.bincount(side // max(sets.labels, 1), minlength=sets.items).astype(np.float64) for side in sets.sides]


def _codes(side: Sequence[Sequence[int]], labels: int) -> Codes:
    sizes = np.array([len(numbers) for numbers in side], np.int64)
    items = np.repeat(np.arange(len(side), dtype=np.int64), sizes)
    return items * labels + np.array([number for numbers in side for number in numbers], np.int64)
