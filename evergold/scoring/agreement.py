"""Agreement of annotators: Krippendorff's alpha for marks on an ordinal scale."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from evergold.scoring.optional import load_package

#: Reasons why alpha is undefined; they are shown to people and stay as they are.
ONE_ANNOTATOR = "fewer than two annotators"
NOTHING_SHARED = "no paraphrase was judged by two annotators"
ALL_EQUAL = "all marks are equal: there is nothing to agree about"


@dataclass(frozen=True, slots=True)
class Agreement:
    """Krippendorff's alpha of some marks.

    alpha: 1 for full agreement, about 0 for chance level, negative for systematic disagreement; None if undefined.
    reason: why alpha is undefined.
    units: number of units judged by two or more annotators.
    """

    alpha: float | None
    reason: str | None
    units: int


def ordinal_alpha(ratings: Sequence[Mapping[str, int]], highest: int) -> Agreement:
    """Compute Krippendorff's alpha with the ordinal distance for n units.

    ratings: for each unit the marks by annotator, each 0 to highest; an annotator who did not judge a unit is absent
    from it. Units with one mark carry no information about agreement and are ignored, as in the definition. Undefined
    (None with a reason, never NaN) for fewer than two annotators, if no unit has two marks, and if all marks of those
    units are equal. Raises ValueError for a mark outside the range. Source: Krippendorff 2011, Computing Krippendorff's
    Alpha-Reliability; computed by the package krippendorff.
    """
    if any(not 0 <= mark <= highest for unit in ratings for mark in unit.values()):
        raise ValueError(f"marks must be from 0 to {highest}")
    annotators = {annotator for unit in ratings for annotator in unit}
    shared = [list(unit.values()) for unit in ratings if len(unit) > 1]
    if len(annotators) < 2:
        return Agreement(None, ONE_ANNOTATOR, 0)
    if not shared:
        return Agreement(None, NOTHING_SHARED, 0)
    if len({mark for unit in shared for mark in unit}) == 1:
        return Agreement(None, ALL_EQUAL, len(shared))
    krippendorff = load_package("krippendorff")
    counts = np.array([np.bincount(unit, minlength=highest + 1) for unit in shared])
    alpha = krippendorff.alpha(
        value_counts=counts, value_domain=list(range(highest + 1)), level_of_measurement="ordinal"
    )
    return Agreement(float(alpha), None, len(shared))
