"""All scores of one run with the data they are computed from, so that they can be recomputed with reweighted units."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from evergold.scoring.resampling.parts import Floats, Name, Part, Ranks, Shared
from evergold.scoring.resampling.units import Units


@dataclass(frozen=True)
class Derived:
    """Scores that follow from others, such as the mean over some groups. finish: a function from … × inputs to … ×
    names.
    """

    names: tuple[Name, ...]
    inputs: tuple[Name, ...]
    finish: Callable[[Floats], Floats] = field(repr=False)


@dataclass(frozen=True)
class Sample:
    """Data from which the scores of one run are computed: all scores with a value, and possibly undefined ones.

    derived: scores that follow only from those of `parts`.
    constant: scores that do not depend on the items, such as the number of languages that were entered.
    hidden: inputs of other scores that are not scores themselves, such as those of a language left out.
    """

    units: Units
    parts: tuple[Part, ...]
    derived: tuple[Derived, ...] = ()
    constant: Mapping[Name, float] = field(default_factory=dict)
    hidden: frozenset[Name] = frozenset()

    @property
    def names(self) -> tuple[Name, ...]:
        """The scores that can be computed."""
        computed = (name for part in (*self.parts, *self.derived) for name in part.names)
        return (*(name for name in computed if name not in self.hidden), *self.constant)

    def sizes(self) -> dict[Name, int]:
        """Return the number of units on which each score that depends on items rests."""
        sizes = {name: size for part in self.parts for name, size in part.sizes().items()}
        for one in self.derived:
            of_all = min(len(self.units), sum(sizes.get(name, 0) for name in one.inputs))
            sizes |= dict.fromkeys(one.names, of_all)
        return sizes

    def weighted(self, weights: Floats, shared: Shared | None = None) -> dict[Name, Floats]:
        """Compute every score for weights of resamples × units: `resamples` values, NaN where it is undefined.

        Weights are not negative; with weights of 1 these are the scores, with weights of 0, 1, 2 … those of as many
        copies of each unit. shared: results of other systems under the very same weights, see `parts.Ranks`.
        """
        if weights.ndim != 2 or weights.shape[1] != len(self.units):
            raise ValueError(f"weights are resamples × {len(self.units)} units")
        values = [
            part.weighted(weights, shared) if isinstance(part, Ranks) else part.weighted(weights) for part in self.parts
        ]
        return self.finish(values, (len(weights),))

    def scores(self) -> dict[Name, float | None]:
        """Compute the scores themselves, None where one is undefined."""
        found = self.weighted(np.ones((1, len(self.units))))
        return {name: None if np.isnan(values[0]) else float(values[0]) for name, values in found.items()}

    def only(self, names: Collection[Name]) -> Sample:
        """Keep only these scores and their inputs."""
        derived = tuple(one for one in self.derived if not set(names).isdisjoint(one.names))
        wanted = {*names, *(name for one in derived for name in one.inputs)}
        parts = tuple(part.only(wanted) for part in self.parts if not wanted.isdisjoint(part.names))
        constant = {name: value for name, value in self.constant.items() if name in wanted}
        hidden = self.hidden | (wanted - set(names))
        return Sample(self.units, parts, derived, constant, hidden)

    def finish(self, values: Sequence[Floats], shape: tuple[int, ...]) -> dict[Name, Floats]:
        """Return every score by name.

        values: the scores of each part, … × scores of the part; shape: the sizes of the axes ….
        """
        found = {
            name: of_part[..., place]
            for part, of_part in zip(self.parts, values, strict=True)
            for place, name in enumerate(part.names)
        }
        nothing = np.full(shape, np.nan)
        for one in self.derived:
            inputs = np.stack([found.get(name, nothing) for name in one.inputs], axis=-1)
            found |= dict(zip(one.names, np.moveaxis(one.finish(inputs), -1, 0), strict=True))
        shown = {name: of_name for name, of_name in found.items() if name not in self.hidden}
        return shown | {name: np.full(shape, value) for name, value in self.constant.items()}
