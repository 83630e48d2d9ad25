"""Candidate meanings of sentences: units are sentences with all their pairs, or clusters by `resample_by`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from evergold.scoring.resampling.sample import Sample
from evergold.scoring.resampling.units import group_items
from evergold.scoring.samples.tables import label_sums, mean_sums, splits_of_languages

LABELS = ("0", "1")


def sample(outcomes: Mapping[str, Any]) -> Sample:
    """Return the scores of the settings that were entered. See `tasks.meaning_matching.outcomes`."""
    clusters = outcomes.get("clusters") or {"by": "sentence", "names": outcomes["sentences"]}
    units, places = group_items(clusters["names"], kind=clusters["by"])
    gold, splits = np.array(outcomes["gold"], dtype=np.intp), splits_of_languages(outcomes["languages"])
    parts = []
    for setting, entered in outcomes["settings"].items():
        for split, where in splits.items() if entered is not None else ():
            name, found = f"{setting}/{split}", entered["found"][split]
            pairs = gold[where], np.array(entered["predicted"], dtype=np.intp)[where]
            parts.append(label_sums(("macro_f1", "accuracy"), name, LABELS, pairs, places[where]))
            # One item of each sentence gives the unit of the sentence.
            firsts = np.array([item for item, _ in found], dtype=np.intp)
            shares = [np.array([is_found for _, is_found in found], dtype=np.float64)]
            parts.append(mean_sums(("sentence_accuracy",), name, shares, places[firsts]))
    return Sample(units, tuple(parts))
