"""What units add to sums: matrices of units × columns, dense, or as entries where nearly all is 0."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from evergold.scoring.resampling.units import Positions

Floats = npt.NDArray[np.float64]

#: Wider tables, of labels or words, are nearly all 0.
_DENSE_COLUMNS = 64


@dataclass(frozen=True)
class Dense:
    """m consecutive units from `start`, what they add to k columns: m × k."""

    start: int
    matrix: Floats

    @property
    def width(self) -> int:
        return int(self.matrix.shape[1])

    def times(self, weights: Floats) -> Floats:
        """The sums under weights of resamples × all units: resamples × k."""
        return weights[:, self.start : self.start + len(self.matrix)] @ self.matrix

    def rows(self, units: int) -> Floats:
        """What every unit adds: units × k."""
        found = np.zeros((units, self.width))
        found[self.start : self.start + len(self.matrix)] = self.matrix
        return found


@dataclass(frozen=True)
class Entries:
    """n entries in the order of their columns: the unit, the column, what the one adds to the other."""

    width: int
    units: Positions
    columns: Positions
    values: Floats

    def times(self, weights: Floats) -> Floats:
        """As for `Dense`."""
        sums = np.zeros((len(weights), self.width))
        if len(self.columns):
            starts = np.flatnonzero(np.diff(self.columns, prepend=-1))
            sums[:, self.columns[starts]] = np.add.reduceat(weights[:, self.units] * self.values, starts, axis=1)
        return sums

    def rows(self, units: int) -> Floats:
        """As for `Dense`."""
        found = np.zeros((units, self.width))
        np.add.at(found, (self.units, self.columns), self.values)
        return found


Block = Dense | Entries


def collect(
    units: int, width: int, places: Positions, columns: Positions, values: Floats | float = 1.0, start: int = 0
) -> Block:
    """The block in which, for each of n entries, the unit at places adds its value to its column.

    units: how many there are from `start` on; places, columns: n numbers from 0; entries of one cell are added up.
    """
    if width <= _DENSE_COLUMNS:
        matrix = np.zeros((units, width))
        np.add.at(matrix, (places, columns), values)
        return Dense(start, matrix)
    order = np.argsort(columns, kind="stable")
    every = np.broadcast_to(np.asarray(values, dtype=np.float64), places.shape)
    return Entries(width, places[order] + start, columns[order], every[order])
