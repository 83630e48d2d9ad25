"""Data for the plots of a probing submission: distributions per probe with the ideal, affinity by idiomaticity class.

Aggregates only. A class with few compounds is left out: its quantiles would reveal which compounds belong to it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from evergold.scoring.probing.human_scores import CLASSES
from evergold.scoring.probing.measures import (
    MEASURES,
    PROBES,
    Floats,
    Number,
    Summary,
    histogram,
    measure_compounds,
    quantiles,
    summarise,
)

#: The values of a system that understands every compound (§3 of the paper).
IDEALS = {"sim_syn": 1.0, "affinity_syn_rand": 1.0, "simr_syn": 1.0}
QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)
BINS = 40
#: A class with fewer compounds than this is not drawn.
SMALLEST_CLASS = 10

_DRAWN_PROBES = ("sim_syn", "sim_head", "sim_modifier", "sim_comp", "sim_wordssyn", "sim_rand")
_DRAWN_BY_CLASS = ("affinity_syn_wordssyn", "affinity_syn_rand")


def report_split(
    similarities: Floats, human: Floats, classes: Sequence[str | None], choosing: Floats | None = None
) -> dict[str, Any]:
    """Return the plot data of one split.

    similarities: compounds × contexts × probes; human: n scores, NaN where there is none; classes: n names or None;
    choosing: as for `measure_compounds`. Histograms run from -1 to 1; scaled similarities and affinities outside count
    at the edges.
    """
    measures = measure_compounds(similarities, choosing)
    components = {f"sim_{name}": similarities[..., PROBES.index(name)].mean(axis=-1) for name in ("head", "modifier")}
    members = np.array([name or "" for name in classes], dtype=object)
    return {
        "compounds": len(similarities),
        "compounds_with_human_score": int((~np.isnan(human)).sum()),
        "measures": {name: _summary(summarise(measures[name], human)) for name in MEASURES},
        "probes": {name: _distribution({**measures, **components}[name]) for name in _DRAWN_PROBES},
        "classes": {
            name: _class({measure: measures[measure][members == name] for measure in _DRAWN_BY_CLASS})
            for name in CLASSES
        },
    }


def _class(affinities: Mapping[str, Floats]) -> dict[str, Any]:
    size = len(next(iter(affinities.values())))
    drawn = affinities if size >= SMALLEST_CLASS else {}
    return {"compounds": size, "affinity": {name: _distribution(values) for name, values in drawn.items()}}


def _distribution(values: Floats) -> dict[str, Any]:
    known = values[~np.isnan(values)]
    return {
        "mean": float(known.mean()) if len(known) else None,
        "quantiles": dict(zip(map(str, QUANTILES), quantiles(known, QUANTILES), strict=False)),
        "histogram": histogram(known, -1.0, 1.0, BINS),
        "undefined": int(len(values) - len(known)),
    }


def _summary(summary: Summary) -> dict[str, Any]:
    def written(number: Number) -> dict[str, Any]:
        return {"value": number.value, "reason": number.reason}

    return {name: written(getattr(summary, name)) for name in ("mean", "sd", "rho", "p")}
