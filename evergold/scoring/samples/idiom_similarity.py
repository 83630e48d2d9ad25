"""Similarities against targets: units are scored rows, or clusters by `resample_by`.

See `tasks.idiom_similarity.outcomes`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from evergold.scoring.resampling.parts import Ranks
from evergold.scoring.resampling.sample import Sample
from evergold.scoring.samples.tables import units_of


def sample(outcomes: Mapping[str, Any]) -> Sample:
    """Return Spearman's rho of the settings that were entered."""
    units, places = units_of(outcomes)
    parts = []
    for setting, pairs in outcomes["settings"].items():
        if pairs is None:
            continue
        targets, predicted = (np.array(pairs[side], dtype=np.float64) for side in ("targets", "predicted"))
        for split, rows in outcomes["splits"].items():
            where = np.array(rows, dtype=np.intp)
            name = ("spearman", f"{setting}/{split}")
            parts.append(Ranks((name,), places[where], targets[where], predicted[where]))
    return Sample(units, tuple(parts))
