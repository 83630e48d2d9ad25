"""Labelled spans: units are items such as sentences, or clusters by `resample_by`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from evergold.scoring.correlation import Floats
from evergold.scoring.resampling.blocks import Block, collect
from evergold.scoring.resampling.parts import Name, Part, Sums
from evergold.scoring.resampling.sample import Sample
from evergold.scoring.resampling.units import Positions
from evergold.scoring.samples.tables import units_of
from evergold.scoring.spans import SPAN_METRICS, SpanCounts, overall_scores, type_scores

ALL, MACRO, TYPE = "all", "macro", "type/"


def sample(outcomes: Mapping[str, Any]) -> Sample:
    """Return the scores of all spans, their mean over types, and each type of gold.

    See `tasks.sequence_labelling.outcomes`.
    """
    units, places = units_of(outcomes)
    types: Sequence[str] = outcomes["types"]
    counts: Sequence[Sequence[Sequence[int]]] = outcomes["counts"]
    names: tuple[Name, ...] = tuple((metric, split) for split in (ALL, MACRO) for metric in SPAN_METRICS)
    block = _block(counts, len(types), places)
    kinds = len(SpanCounts._fields)
    rests_on = tuple(_sums_of(metric, range(len(types)), len(types)) for _ in (ALL, MACRO) for metric in SPAN_METRICS)
    parts: list[Part] = [Sums(names, (block,), _overall, _keys(types), kinds, rests_on=rests_on)]
    if scored := types[: outcomes["of_gold"]]:
        names = tuple((metric, TYPE + name) for name in scored for metric in SPAN_METRICS)
        each = range(len(scored))
        rests_on = tuple(_sums_of(metric, (place,), len(scored)) for place in each for metric in SPAN_METRICS)
        parts.append(Sums(names, (_block(counts, len(scored), places),), _of_types, _keys(scored), rests_on=rests_on))
    return Sample(units, tuple(parts))


def _sums_of(metric: str, places: Sequence[int], types: int) -> tuple[int, ...]:
    """Return the indices of the sums from which a metric of the types at these places is computed: those of the sides
    that it divides by.
    """
    side = metric.removeprefix("lenient_")
    kinds = {"precision": ("predicted",), "recall": ("gold",)}.get(side, ("gold", "predicted"))
    return tuple(SpanCounts._fields.index(kind) * types + place for kind in kinds for place in places)


def _keys(types: Sequence[str]) -> tuple[tuple[str, str], ...]:
    return tuple((kind, name) for kind in SpanCounts._fields for name in types)


def _block(counts: Sequence[Sequence[Sequence[int]]], types: int, places: Positions) -> Block:
    """Return the contributions of every unit to the counts of the first types, kind after kind."""
    entries = [
        (places[item], type_ + kind * types, number)
        for item, of_item in enumerate(counts)
        for type_, *numbers in of_item
        for kind, number in enumerate(numbers)
        if type_ < types
    ]
    table = np.array(entries, dtype=np.intp).reshape(-1, 3)
    return collect(len(SpanCounts._fields) * types, table[:, 0], table[:, 1], table[:, 2].astype(np.float64))


def _by_type(sums: Floats) -> Floats:
    """Reshape … × 4t to … × t × 4."""
    kinds = len(SpanCounts._fields)
    return np.moveaxis(sums.reshape(*sums.shape[:-1], kinds, -1), -2, -1)


def _overall(sums: Floats) -> Floats:
    return overall_scores(_by_type(sums))


def _of_types(sums: Floats) -> Floats:
    found = type_scores(_by_type(sums))
    return found.reshape(*found.shape[:-2], -1)
