"""Shared helpers of the task types: for one split, the sums over its items' labels or numbers that give its scores."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from evergold.scoring.correlation import Floats
from evergold.scoring.resampling.blocks import collect, table
from evergold.scoring.resampling.formulas import LABEL_SCORES, mean_of_sums
from evergold.scoring.resampling.parts import Sums
from evergold.scoring.resampling.units import Positions, Units, group_items

#: The kinds of sums of a label.
_KINDS = ("hit", "gold", "predicted")


def units_of(outcomes: Mapping[str, Any], strata: Sequence[str] | None = None) -> tuple[Units, Positions]:
    """Return the units of a table's items, and the position of each item's unit.

    Units are the items themselves, or the `clusters` of the outcomes: `{"by": column, "names": of each item}`.
    """
    clusters = outcomes.get("clusters")
    if clusters is None:
        return group_items(outcomes["items"], strata)
    return group_items(clusters["names"], strata, kind=clusters["by"])


def splits_of_languages(languages: Sequence[str]) -> dict[str, Positions]:
    """Return the indices of the items of `all` and of every language."""
    names = np.array(languages)
    return {"all": np.arange(len(names)), **{name: np.flatnonzero(names == name) for name in sorted(set(languages))}}


@dataclass(frozen=True)
class LabelScores:
    """Computes some of `formulas.LABEL_SCORES` from sums."""

    metrics: tuple[str, ...]

    def __call__(self, sums: Floats) -> Floats:
        return np.stack([LABEL_SCORES[metric](sums) for metric in self.metrics], axis=-1)


def label_sums(
    metrics: Sequence[str], split: str, labels: Sequence[str], pairs: tuple[Positions, Positions], places: Positions
) -> Sums:
    """Return some of `formulas.LABEL_SCORES` of one split.

    pairs: gold's and the predicted label numbers of n items; places: the position of each one's unit.
    """
    gold, predicted = pairs
    width, hits = len(labels), gold == predicted
    columns = np.concatenate([gold[hits], gold + width, predicted + 2 * width])
    block = collect(3 * width, np.concatenate([places[hits], places, places]), columns)
    keys = tuple((kind, label) for kind in _KINDS for label in labels)
    names = tuple((metric, split) for metric in metrics)
    return Sums(names, (block,), LabelScores(tuple(metrics)), keys, kinds_by_label=len(_KINDS))


def mean_sums(
    metrics: Sequence[str],
    split: str,
    values: Sequence[Floats],
    places: Positions,
    finish: Callable[[Floats], Floats] = mean_of_sums,
) -> Sums:
    """Return the means of m lists of n numbers each, as m scores of one split (or finish's results from their sums)."""
    block = table(places, [np.ones(len(places)), *values])
    return Sums(tuple((metric, split) for metric in metrics), (block,), finish, tuple(range(1 + len(values))))


def mean_with_zeros(values: Floats) -> Floats:
    """Return the mean over the last axis; undefined values count as 0."""
    found: Floats = np.nan_to_num(values).mean(axis=-1, keepdims=True)
    return found


def mean_of_all(values: Floats) -> Floats:
    """Return the mean over the last axis, undefined if any value is."""
    found: Floats = values.mean(axis=-1, keepdims=True)
    return found
