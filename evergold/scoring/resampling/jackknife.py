"""Jackknife: scores with some units left out at a time show, without randomness, their dependence on the items."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from evergold.scoring.resampling.draws import CHUNK
from evergold.scoring.resampling.parts import Floats, Name, Part, Sums
from evergold.scoring.resampling.sample import Sample
from evergold.scoring.resampling.units import Positions, Units

#: With more units, several are left out at a time, in about this many groups.
MOST_GROUPS = 1000


@dataclass(frozen=True)
class Jackknife:
    """Groups of units, each within one stratum, that are left out one at a time."""

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

    @cached_property
    def instead(self) -> Floats:
        """The weight of the rest of a stratum when a group of it is left out, by group."""
        sizes = np.bincount(self.group_of)
        whole = np.bincount(self.stratum_of, sizes)[self.stratum_of]
        found: Floats = np.divide(whole, whole - sizes, out=np.ones_like(whole), where=whole > sizes)
        return found

    def weights(self) -> Iterator[Floats]:
        """Yield chunks of groups × units: 0 for the units left out, and a larger weight for the rest of
        their stratum.
        """
        strata = self.stratum_of[self.group_of]
        for start in range(0, len(self.stratum_of), CHUNK):
            groups = np.arange(start, min(start + CHUNK, len(self.stratum_of)))[:, None]
            weights = np.where(self.stratum_of[groups] == strata, self.instead[groups], 1.0)
            weights[self.group_of == groups] = 0.0
            yield weights

    def values(self, sample: Sample) -> dict[Name, Floats]:
        """Return every score without each group, NaN where it is undefined."""
        if not len(self.units):
            return {}
        values = [self._of_sums(part) if isinstance(part, Sums) else self._of_part(part) for part in sample.parts]
        return sample.finish(values, (len(self.stratum_of),))

    def _of_part(self, part: Part) -> Floats:
        return np.concatenate([part.weighted(weights) for weights in self.weights()])

    def _of_sums(self, part: Sums) -> Floats:
        """Compute the same as `_of_part`, but from the sums of all units: only the sums of the group's stratum are
        replaced.
        """
        of_groups = np.concatenate(
            [block.grouped(self.group_of, len(self.stratum_of)) for block in part.blocks], axis=1
        )
        of_strata = np.zeros((int(self.stratum_of.max()) + 1, of_groups.shape[1]))
        np.add.at(of_strata, self.stratum_of, of_groups)
        own = of_strata[self.stratum_of]
        return part.scores(of_strata.sum(axis=0) - own + self.instead[:, None] * (own - of_groups))

    def influences(self, values: Floats) -> Floats:
        """Return by how much each group moves the score; the sum of the squares is the score's variance. values: the
        score without each group.

        NaN if the score is undefined without some group, since its influence is then unknown.
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
