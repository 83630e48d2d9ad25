"""Measures of noun compounds: units are compounds, within their language, in all settings and levels at once."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from evergold.scoring.correlation import Floats
from evergold.scoring.optional import load_package
from evergold.scoring.probing.human_scores import CLASSES
from evergold.scoring.probing.measures import DECIMALS, MEASURES
from evergold.scoring.probing.report import SMALLEST_CLASS
from evergold.scoring.resampling.formulas import mean_and_deviation
from evergold.scoring.resampling.parts import Part, Ranks
from evergold.scoring.resampling.sample import Sample
from evergold.scoring.resampling.units import Positions, group_items
from evergold.scoring.samples.tables import mean_sums


def sample(outcomes: Mapping[str, Any]) -> Sample:
    """Return the scores of the entered splits and of their classes. See `tasks.idiomaticity_probing.outcomes`."""
    named = {split: [f"{split.partition('/')[0]}/{name}" for name in one["compounds"]] for split, one in
             outcomes["splits"].items()}  # fmt: skip
    names = sorted({name for of_split in named.values() for name in of_split})
    units, _ = group_items(names, [name.partition("/")[0] for name in names], kind="compound")
    position = {name: place for place, name in enumerate(units.keys)}
    parts: list[Part] = []
    for split, document in outcomes["splits"].items():
        places = np.array([position[name] for name in named[split]], dtype=np.intp)
        classes = np.array([name or "" for name in document["classes"]], dtype=object)
        parts += _parts(split, document, places, np.arange(len(places)))
        for name in CLASSES:
            members = np.flatnonzero(classes == name)
            if len(members) >= SMALLEST_CLASS:
                parts += _parts(f"{split}/{name}", document, places, members)
    return Sample(units, tuple(parts))


def _parts(split: str, document: Mapping[str, Any], places: Positions, members: Positions) -> Iterator[Part]:
    human = np.array(document["human"], dtype=np.float64)[members]
    for measure in MEASURES:
        values = np.array(document["measures"][measure], dtype=np.float64)[members]
        if not len(values) or np.isnan(values).any():  # one undefined value makes all four undefined
            continue
        yield mean_sums((measure, f"{measure}_sd"), split, [values, values**2], places[members], mean_and_deviation)
        known = ~np.isnan(human)
        names = (f"{measure}_rho", split), (f"{measure}_p", split)
        rounded = np.round(values[known], DECIMALS)
        yield Ranks(names, places[members][known], human[known], rounded, _with_p)


def _with_p(found: Floats) -> Floats:
    """Compute rho and its p, from rho and the number of compounds, like `probing.correlate`."""
    rho, degrees = found[..., 0], found[..., 1] - 2
    with np.errstate(divide="ignore", invalid="ignore"):
        t = np.where(np.abs(rho) < 1, rho * np.sqrt(degrees / ((1 + rho) * (1 - rho))), np.inf)
        p = 2 * load_package("scipy.special").stdtr(degrees, -np.abs(t))
    return np.stack([rho, np.where((degrees > 0) & ~np.isnan(rho), p, np.nan)], axis=-1)
