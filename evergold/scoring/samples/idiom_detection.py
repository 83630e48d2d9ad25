"""Labels of items in settings: units are items, or clusters by `resample_by`. See `tasks.idiom_detection.outcomes`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from evergold.scoring.resampling.sample import Sample
from evergold.scoring.samples.tables import label_sums, splits_of_languages, units_of


def sample(outcomes: Mapping[str, Any]) -> Sample:
    """Return the scores of the settings that were entered."""
    units, places = units_of(outcomes)
    gold, splits = np.array(outcomes["gold"], dtype=np.intp), splits_of_languages(outcomes["languages"])
    parts = []
    for setting, predicted in outcomes["predicted"].items():
        for split, where in splits.items() if predicted is not None else ():
            pairs = gold[where], np.array(predicted, dtype=np.intp)[where]
            name, metrics = f"{setting}/{split}", ("macro_f1", "accuracy")
            parts.append(label_sums(metrics, name, outcomes["labels"], pairs, places[where]))
    return Sample(units, tuple(parts))
