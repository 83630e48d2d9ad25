"""Ranked lists: units are queries, or clusters by `resample_by`; scores are means over queries."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from evergold.scoring.resampling.sample import Sample
from evergold.scoring.samples.tables import mean_sums, units_of


def sample(outcomes: Mapping[str, Any]) -> Sample:
    """Return every metric over all queries. See `tasks.ranking.outcomes`."""
    units, places = units_of(outcomes)
    values: Mapping[str, list[float]] = outcomes["values"]
    columns = [np.array(of_metric, dtype=np.float64) for of_metric in values.values()]
    return Sample(units, (mean_sums(tuple(values), "all", columns, places),))
