"""The smallest difference that a test set detects: by hand, and by the requested level and power."""

from __future__ import annotations

import numpy as np
import pytest

from evergold.scoring.resampling.parts import Floats
from evergold.scoring.resampling.power import resolutions
from evergold.scoring.resampling.sample import Sample
from evergold.scoring.resampling.units import Units
from evergold.scoring.samples.tables import mean_sums

MEAN = ("mean", "all")
#: Two systems on four items; of their differences, 1 0 0 1, the mean's standard error is √(1/3) / √4.
ONE, OTHER = np.array([1.0, 0.0, 1.0, 1.0]), np.array([0.0, 0.0, 1.0, 0.0])
ERROR = np.sqrt(1 / 3 / 4)


def mean_of(values: Floats) -> Sample:
    every = np.arange(len(values))
    return Sample(Units(tuple(map(str, every))), (mean_sums((MEAN[0],), MEAN[1], [values], every),))


@pytest.mark.parametrize(
    ("power", "level", "errors"),
    # z of (1 + level) / 2 and of power: 1.959964 + 0.841621, 1.644854 + 1.644854, 1.281552 + 0.
    [(0.8, 0.95, 2.801585), (0.95, 0.9, 3.289707), (0.5, 0.8, 1.281552)],
)
def test_what_is_detected_follows_from_power_and_level(power: float, level: float, errors: float) -> None:
    found = resolutions([mean_of(ONE), mean_of(OTHER)], power, level)[MEAN]
    assert (found.score, found.size) == (0.5, 4)
    assert found.smallest == pytest.approx(errors * ERROR, abs=1e-6)


def test_one_system_is_compared_with_an_equal_one_whose_errors_are_its_own() -> None:
    # Its own standard error is √(1/4) / √4: √2 times as much for the difference.
    assert resolutions([mean_of(ONE)])[MEAN].smallest == pytest.approx(2.801585 * np.sqrt(2) / 4, abs=1e-6)


def test_what_no_item_moves_has_no_smallest_difference() -> None:
    assert resolutions([mean_of(np.ones(4))]) == {}
