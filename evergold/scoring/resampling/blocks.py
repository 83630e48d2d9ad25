"""Contributions of units to sums: matrices of units × columns, dense, or as entries where nearly all is 0."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from evergold.scoring.resampling.units import Positions

Floats = npt.NDArray[np.float64]

#: Wider tables, of labels or words, are nearly all 0.
_DENSE_COLUMNS = 64


@dataclass(frozen=True)
class Dense:
    """m units, each once and in order, with their contributions to k columns (m × k); all other units contribute
    nothing.
    """

    units: Positions
    matrix: Floats

    @property
    def width(self) -> int:
        """Number of columns."""
        return int(self.matrix.shape[1])

    @property
    def size(self) -> int:
        """Number of units that contribute anything."""
        return len(self.units)

    def units_in(self, columns: Sequence[int]) -> int:
        """Return the number of units that contribute anything to these columns."""
        return int(self.matrix[:, list(columns)].any(axis=1).sum())

    def times(self, weights: Floats) -> Floats:
        """Return the sums under weights of resamples × all units: resamples × k."""
        if len(self.units) and self.units[-1] - self.units[0] + 1 == len(self.units):
            return weights[:, self.units[0] : self.units[-1] + 1] @ self.matrix  # no copy
        return weights[:, self.units] @ self.matrix

    def grouped(self, group_of: Positions, groups: int) -> Floats:
        """Return the contributions of each group of units: groups × k. group_of: the number of each unit's group."""
        sums = np.zeros((groups, self.width))
        np.add.at(sums, group_of[self.units], self.matrix)
        return sums

    def moved(self, columns: Sequence[int], width: int) -> Dense:
        """Return the block with its columns moved to these positions among `width`."""
        matrix = np.zeros((len(self.units), width))
        matrix[:, columns] = self.matrix
        return Dense(self.units, matrix)


@dataclass(frozen=True)
class Entries:
    """n entries in the order of their columns: unit, column, and the value that the unit adds to it. See `Dense`."""

    width: int
    units: Positions
    columns: Positions
    values: Floats

    @property
    def size(self) -> int:
        return len(np.unique(self.units))

    def units_in(self, columns: Sequence[int]) -> int:
        first, last = (np.searchsorted(self.columns, columns, side) for side in ("left", "right"))
        spans = [self.units[start:end] for start, end in zip(first, last, strict=True)]
        return len(np.unique(np.concatenate(spans))) if spans else 0

    def times(self, weights: Floats) -> Floats:
        sums = np.zeros((len(weights), self.width))
        if len(self.columns):
            starts = np.flatnonzero(np.diff(self.columns, prepend=-1))
            sums[:, self.columns[starts]] = np.add.reduceat(weights[:, self.units] * self.values, starts, axis=1)
        return sums

    def grouped(self, group_of: Positions, groups: int) -> Floats:
        sums = np.zeros((groups, self.width))
        np.add.at(sums, (group_of[self.units], self.columns), self.values)
        return sums

    def moved(self, columns: Sequence[int], width: int) -> Entries:
        places = np.array(columns, dtype=np.intp)[self.columns]
        order = np.argsort(places, kind="stable")
        return Entries(width, self.units[order], places[order], self.values[order])


Block = Dense | Entries


def collect(width: int, units: Positions, columns: Positions, values: Floats | float = 1.0) -> Block:
    """Return the block in which, for each of n entries, a unit adds its value to its column.

    units, columns: n numbers from 0, in any order; entries of one cell are added up.
    """
    if width <= _DENSE_COLUMNS:
        known, rows = np.unique(units, return_inverse=True)
        matrix = np.zeros((len(known), width))
        np.add.at(matrix, (rows, columns), values)
        return Dense(known, matrix)
    order = np.argsort(columns, kind="stable")
    every = np.broadcast_to(np.asarray(values, dtype=np.float64), units.shape)
    return Entries(width, units[order], columns[order], every[order])


def table(units: Positions, columns: Sequence[Floats]) -> Dense:
    """Return the block of n items, given the unit of each and its contributions to each of k columns."""
    known, rows = np.unique(units, return_inverse=True)
    matrix = np.zeros((len(known), len(columns)))
    np.add.at(matrix, rows, np.stack(columns, axis=1))
    return Dense(known, matrix)
