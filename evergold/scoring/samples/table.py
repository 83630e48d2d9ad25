"""One label, number or text per id: units are items, or clusters by `resample_by`.

They are drawn within the groups of the first column whose mean is a score.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from evergold.scoring.correlation import Floats
from evergold.scoring.resampling.formulas import mean_of_sums, pearson_of_sums, root_mean_of_sums
from evergold.scoring.resampling.parts import Concordance, Part, Ranks
from evergold.scoring.resampling.sample import Derived, Sample
from evergold.scoring.resampling.texts import TEXT_SCORES
from evergold.scoring.resampling.units import Positions
from evergold.scoring.samples.tables import label_sums, mean_of_all, mean_sums, units_of

ALL, MEAN = "all", "mean"


def sample(outcomes: Mapping[str, Any]) -> Sample:
    """Return the scores of every split. See `tasks.table.outcomes`."""
    groups: Mapping[str, Mapping[str, list[int]]] = outcomes["groups"]
    units, places = units_of(outcomes, _strata(outcomes))
    splits = {ALL: np.arange(len(outcomes["items"]))}
    splits |= {f"{by}/{name}": np.array(at, dtype=np.intp) for by, of in groups.items() for name, at in of.items()}
    parts: list[Part] = []
    for split, where in splits.items():
        if len(where):
            parts += _PARTS[outcomes["kind"]](outcomes, split, where, places[where])
    means = [
        Derived(((metric, f"{by}/{MEAN}"),), tuple((metric, f"{by}/{name}") for name in of), mean_of_all)
        for by, of in groups.items()
        for metric in outcomes["metrics"]
    ]
    return Sample(units, tuple(parts), tuple(means))


def _strata(outcomes: Mapping[str, Any]) -> list[str] | None:
    first = next(iter(outcomes["groups"].values()), None)
    if first is None:
        return None
    names = [""] * len(outcomes["items"])
    for name, at in first.items():
        for place in at:
            names[place] = name
    return names


def _of_labels(outcomes: Mapping[str, Any], split: str, where: Positions, places: Positions) -> Iterator[Part]:
    pairs = np.array(outcomes["gold"], dtype=np.intp)[where], np.array(outcomes["predicted"], dtype=np.intp)[where]
    yield label_sums(outcomes["metrics"], split, outcomes["labels"], pairs, places)


def _of_numbers(outcomes: Mapping[str, Any], split: str, where: Positions, places: Positions) -> Iterator[Part]:
    gold, predicted = (np.array(outcomes[side], dtype=np.float64)[where] for side in ("gold", "predicted"))
    for metric in outcomes["metrics"]:
        name = ((metric, split),)
        if metric == "pearson":
            x, y = _standardised(gold), _standardised(predicted)
            yield mean_sums((metric,), split, [x, y, x * x, y * y, x * y], places, pearson_of_sums)
        elif metric == "spearman":
            yield Ranks(name, places, gold, predicted)
        elif metric == "kendall":
            yield Concordance(name, places, gold, predicted)
        elif metric == "mae":
            yield mean_sums((metric,), split, [np.abs(predicted - gold)], places, mean_of_sums)
        else:
            yield mean_sums((metric,), split, [(predicted - gold) ** 2], places, root_mean_of_sums)


def _of_texts(outcomes: Mapping[str, Any], split: str, where: Positions, places: Positions) -> Iterator[Part]:
    for metric in outcomes["metrics"]:
        statistics = np.array(outcomes["statistics"][metric], dtype=np.float64)[where]
        yield mean_sums((metric,), split, list(statistics.T), places, TEXT_SCORES[metric])


def _standardised(values: Floats) -> Floats:
    """Centre and scale values.

    Pearson's r does not depend on location and scale; its rounding does, and so do the sums that two systems swap.
    """
    centred = values - values.mean()
    scale = np.sqrt(np.mean((centred / (most := np.abs(centred).max() or 1.0)) ** 2)) * most
    found: Floats = centred / scale if scale else centred
    return found


_PARTS: Mapping[str, Callable[[Mapping[str, Any], str, Positions, Positions], Iterator[Part]]] = {
    "labels": _of_labels,
    "numbers": _of_numbers,
    "texts": _of_texts,
}
