"""Sets of labels: units are items."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from evergold.scoring.correlation import Floats
from evergold.scoring.multi_label import LabelSets, equal_sets, item_f1, label_sets, micro_macro_f1
from evergold.scoring.resampling.blocks import Block, collect
from evergold.scoring.resampling.formulas import ratio
from evergold.scoring.resampling.parts import Name, Part, Sums
from evergold.scoring.resampling.sample import Sample
from evergold.scoring.resampling.units import Positions
from evergold.scoring.samples.tables import mean_sums, units_of

ALL = "all"
_KINDS = ("hit", "gold", "predicted")


def sample(outcomes: Mapping[str, Any]) -> Sample:
    """Return the scores of all items and of every label of gold. See `tasks.multi_label.outcomes`."""
    units, places = units_of(outcomes)
    labels: Sequence[str] = outcomes["labels"]
    sets = label_sets(outcomes["gold"], outcomes["predicted"], len(labels))
    names: tuple[Name, ...] = (("micro_f1", ALL), ("macro_f1", ALL))
    keys = tuple((kind, label) for kind in _KINDS for label in labels)
    parts: list[Part] = [
        Sums(names, (_block(sets, len(labels), places),), micro_macro_f1, keys, kinds_by_label=len(_KINDS))
    ]
    means = [item_f1(sets, outcomes["both_empty"]), equal_sets(sets)]
    parts.append(mean_sums(("samples_f1", "subset_accuracy"), ALL, means, places))
    scored = labels[: outcomes["of_gold"]]
    if scored:
        names = tuple(("label_f1", f"label/{label}") for label in scored)
        keys = tuple((kind, label) for kind in _KINDS for label in scored)
        rests_on = tuple(tuple(range(place, len(keys), len(scored))) for place in range(len(scored)))
        parts.append(Sums(names, (_block(sets, len(scored), places),), _label_f1, keys, rests_on=rests_on))
    return Sample(units, tuple(parts))


def _block(sets: LabelSets, labels: int, places: Positions) -> Block:
    """Return the contributions of every unit to the three counts of the first labels, kind after kind."""
    sides = [side[side % sets.labels < labels] for side in sets.sides] if sets.labels else list(sets.sides)
    divisor = max(sets.labels, 1)
    columns = np.concatenate([side % divisor + kind * labels for kind, side in enumerate(sides)])
    return collect(len(_KINDS) * labels, places[np.concatenate(sides) // divisor], columns)


def _label_f1(sums: Floats) -> Floats:
    """Compute the F1 of each of m labels, NaN where one occurs on neither side: … × m, from … × 3m."""
    hits, gold, predicted = np.split(sums, 3, axis=-1)
    return ratio(2 * hits, gold + predicted)
