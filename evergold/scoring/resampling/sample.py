"""All scores of one run with what they are computed from, so that they can be had again with units weighted anew."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass, field

import numpy as np

from evergold.scoring.resampling.parts import Floats, Name, Part
from evergold.scoring.resampling.units import Units


@dataclass(frozen=True)
class Derived:
    """Scores that follow from others, such as the mean over some groups. finish: from … × inputs to … × names."""

    names: tuple[Name, ...]
    inputs: tuple[Name, ...]
    finish: Callable[[Floats], Floats] = field(repr=False)


@dataclass(frozen=True)
class Sample:
    """What the scores of one run are computed from. Every score that has a value is here; of the others some may be.

    constant: scores that do not depend on which items there are, such as how many languages were entered.
    """

    units: Units
    parts: tuple[Part, ...]
    derived: tuple[Derived, ...] = ()
    constant: dict[Name, float] = field(default_factory=dict)

    @property
    def names(self) -> tuple[Name, ...]:
        """The scores that can be had."""
        computed = (name for part in (*self.parts, *self.derived) for name in part.names)
        return (*computed, *self.constant)

    def weighted(self, weights: Floats) -> dict[Name, Floats]:
        """Every score for weights of resamples × units: `resamples` values, NaN where it is undefined.

        Weights are not negative; with weights of 1 these are the scores, with weights of 0, 1, 2 … those of as many
        copies of each unit.
        """
        if weights.ndim != 2 or weights.shape[1] != len(self.units):
            raise ValueError(f"weights are resamples × {len(self.units)} units")
        return self._finish([part.weighted(weights) for part in self.parts], len(weights))

    def scores(self) -> dict[Name, float | None]:
        """The scores themselves, None where one is undefined."""
        found = self.weighted(np.ones((1, len(self.units))))
        return {name: None if np.isnan(values[0]) else float(values[0]) for name, values in found.items()}

    def only(self, names: Collection[Name]) -> Sample:
        """The parts that these scores need, and no others."""
        derived = tuple(one for one in self.derived if not set(names).isdisjoint(one.names))
        wanted = {*names, *(name for one in derived for name in one.inputs)}
        parts = tuple(part for part in self.parts if not wanted.isdisjoint(part.names))
        constant = {name: value for name, value in self.constant.items() if name in wanted}
        return Sample(self.units, parts, derived, constant)

    def _finish(self, values: list[Floats], resamples: int) -> dict[Name, Floats]:
        found = {
            name: of_part[:, place]
            for part, of_part in zip(self.parts, values, strict=True)
            for place, name in enumerate(part.names)
        }
        nothing = np.full(resamples, np.nan)
        for one in self.derived:
            inputs = np.stack([found.get(name, nothing) for name in one.inputs], axis=-1)
            found |= {name: column for name, column in zip(one.names, one.finish(inputs).T, strict=True)}
        return found | {name: np.full(resamples, value) for name, value in self.constant.items()}
