"""What items with one label or number have in common: the sums that their scores follow from, split by split."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from evergold.scoring.correlation import Floats
from evergold.scoring.resampling.blocks import Dense, collect
from evergold.scoring.resampling.formulas import label_scores, mean_of_sums
from evergold.scoring.resampling.parts import Sums
from evergold.scoring.resampling.units import Positions, Units, group_items

#: The kinds of sums of a label.
_KINDS = ("hit", "gold", "predicted")


def units_of(outcomes: Mapping[str, Any], strata: Sequence[str] | None = None) -> tuple[Units, Positions]:
    """The units of a table's items, and the position of each item's: the items themselves, or what `clusters` of the
    outcomes joins: `{"by": column, "names": of each item}`."""
    clusters = outcomes.get("clusters")
    if clusters is None:
        return group_items(outcomes["items"], strata)
    return group_items(clusters["names"], strata, kind=clusters["by"])


def splits_of_languages(languages: Sequence[str]) -> dict[str, Positions]:
    """For `all` and every language: where its items stand."""
    names = np.array(languages)
    return {"all": np.arange(len(names)), **{name: np.flatnonzero(names == name) for name in sorted(set(languages))}}


def label_sums(
    metrics: Sequence[str],
    split: str,
    labels: Sequence[str],
    pairs: tuple[Positions, Positions],
    units: int,
    places: Positions,
) -> Sums:
    """Some of `formulas.LABEL_SCORES` of one split. pairs: gold's and the predicted label numbers of n items, places:
    the position of each one's unit."""
    gold, predicted = pairs
    width, hits = len(labels), gold == predicted
    columns = np.concatenate([gold[hits], gold + width, predicted + 2 * width])
    block = collect(units, 3 * width, np.concatenate([places[hits], places, places]), columns)
    keys = tuple((kind, label) for kind in _KINDS for label in labels)
    names = tuple((metric, split) for metric in metrics)
    return Sums(names, (block,), partial(_label_scores, tuple(metrics)), keys, kinds_by_label=len(_KINDS))


def mean_sums(
    metrics: Sequence[str], split: str, values: Sequence[Floats], units: int, places: Positions, finish: Any = None
) -> Sums:
    """The means of m lists of n numbers each, as m scores of one split (or what finish makes of their sums)."""
    matrix = np.zeros((units, 1 + len(values)))
    np.add.at(matrix, places, np.stack([np.ones(len(places)), *values], axis=1))
    names = tuple((metric, split) for metric in metrics)
    return Sums(names, (Dense(0, matrix),), finish or mean_of_sums, tuple(range(1 + len(values))))


def _label_scores(metrics: tuple[str, ...], sums: Floats) -> Floats:
    found = label_scores(sums)
    return np.stack([found[metric] for metric in metrics], axis=-1)
