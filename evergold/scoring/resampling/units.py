"""Units to be drawn, independent of each other: items, sentences, compounds or whole documents."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Positions = npt.NDArray[np.intp]


@dataclass(frozen=True)
class Units:
    """n units.

    keys: their names, the same for all systems.
    strata: n numbers from 0, or None: units are drawn within their stratum, so that each keeps its size (where a score
    is a mean over languages).
    kind: name of a unit, for people and signatures: `item`, `sentence`, `compound`, or the column that joins items.
    """

    keys: tuple[str, ...]
    strata: Positions | None = None
    kind: str = "item"

    def __len__(self) -> int:
        return len(self.keys)

    @property
    def groups(self) -> list[Positions]:
        """The positions of the units of each stratum; of all units if there are no strata."""
        if self.strata is None:
            return [np.arange(len(self))]
        order = np.argsort(self.strata, kind="stable")
        edges = np.flatnonzero(np.diff(self.strata[order])) + 1
        return [part for part in np.split(order, edges) if len(part)]


def group_items(
    names: Sequence[str], strata: Sequence[str] | None = None, kind: str = "item"
) -> tuple[Units, Positions]:
    """Return the units that n items form (items with the same name are one unit), and the position of each item's unit.

    strata: the stratum of each item; ignored if a unit has items of several strata.
    """
    position: dict[str, int] = {}
    places = np.array([position.setdefault(name, len(position)) for name in names], dtype=np.intp)
    return Units(tuple(position), _unit_strata(places, strata, len(position)), kind), places


def _unit_strata(places: Positions, strata: Sequence[str] | None, units: int) -> Positions | None:
    if strata is None or len(set(strata)) < 2:
        return None
    number = {name: place for place, name in enumerate(dict.fromkeys(strata))}
    of_items = np.array([number[name] for name in strata], dtype=np.intp)
    of_units = np.zeros(units, dtype=np.intp)
    of_units[places] = of_items
    return of_units if bool((of_units[places] == of_items).all()) else None
