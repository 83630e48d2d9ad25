"""Scores with some units left out at a time: how much they depend on which items there are, without any chance."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from evergold.scoring.resampling.draws import CHUNK
from evergold.scoring.resampling.parts import Floats, Name
from evergold.scoring.resampling.sample import Sample
from evergold.scoring.resampling.units import Positions, Units

#: Of more units, several are left out at a time: about so many times in all.
MOST_GROUPS = 1000


@dataclass(frozen=True)
class Jackknife:
    """Groups of units, each within one stratum, of which one at a time is left out."""

    units: Units

    @cached_property
    def group_of(self) -> Positions:
        """The number of each unit's group."""
        found = np.empty(len(self.units), dtype=np.intp)
        start = 0
        for places in self.units.groups:
            share = min(len(places), max(2, round(MOST_GROUPS * len(places) / len(self.units))))
            found[places] = start + np.arange(len(places)) % share
            start += share
        return found

    @cached_property
    def stratum_of(self) -> Positions:
        """The number of each group's stratum."""
        strata = np.zeros(len(self.units), dtype=np.intp) if self.units.strata is None else self.units.strata
        found = np.zeros(int(self.group_of.max(initial=-1)) + 1, dtype=np.intp)
        found[self.group_of] = strata
        return found

    def weights(self) -> Iterator[Floats]:
        """Chunks of groups × units: 0 for those left out; the rest of their stratum stands in for them."""
        sizes = np.bincount(self.group_of)
        whole = np.bincount(self.stratum_of, sizes)[self.stratum_of]
        instead = np.divide(whole, whole - sizes, out=np.ones_like(whole), where=whole > sizes)
        strata = self.stratum_of[self.group_of]
        for start in range(0, len(sizes), CHUNK):
            groups = np.arange(start, min(start + CHUNK, len(sizes)))[:, None]
            weights = np.where(self.stratum_of[groups] == strata, instead[groups], 1.0)
            weights[self.group_of == groups] = 0.0
            yield weights

    def values(self, sample: Sample) -> dict[Name, Floats]:
        """Every score without each group, NaN where it is undefined."""
        chunks = [sample.weighted(weights) for weights in self.weights()]
        return {name: np.concatenate([chunk[name] for chunk in chunks]) for name in sample.names} if chunks else {}

    def influences(self, values: Floats) -> Floats:
        """By how much each group moves the score, from the values without it: their squares add up to its variance.

        NaN where the score is undefined without some group: nobody knows what it would be.
        """
        counts = np.bincount(self.stratum_of)
        means = np.bincount(self.stratum_of, values) / counts
        scale = np.sqrt((counts - 1) / counts)
        moves: Floats = (means[self.stratum_of] - values) * scale[self.stratum_of]
        return moves

    @property
    def degrees(self) -> int:
        """Degrees of freedom of the variance."""
        return max(1, len(self.stratum_of) - len(np.unique(self.stratum_of)))
