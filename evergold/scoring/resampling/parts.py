"""Parts from which scores are computed: sums over units, ranks, or pairs of items.

Every part returns its scores for weights of resamples × units, NaN where a score is undefined; `sums()` returns the
sums that two systems can swap, and `sizes` are the numbers of units on which its scores rest.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt

from evergold.scoring.resampling.blocks import Block, table
from evergold.scoring.resampling.formulas import mean_of_sums, pearson_of_sums
from evergold.scoring.resampling.units import Positions

Floats = npt.NDArray[np.float64]
#: Number of resamples ranked at a time: with some thousand items they fit into the processor's cache.
_BLOCK = 32
#: Share of the whole; a single item that differs from all others exceeds it, among any number of items.
_ROUNDING = 1e-12
#: A score: metric and split.
Name = tuple[str, str]


@dataclass(frozen=True)
class Sums:
    """Scores computed from sums over units.

    names: s scores.
    blocks: contributions of units to some of the k sums, one block after the other.
    finish: from sums of … × k to scores of … × s; two functions that compute the same must compare equal.
    keys: identifies each of the k sums, the same for all systems.
    kinds_by_label: number of kinds if the sums are some kinds for each of many labels (or words); finish then accepts
    any number of labels, and keys are (kind, label).
    picked: the indices in finish's scores of the names (None: all).
    rests_on: the indices of the sums that each name's score is computed from (empty: every score from all of them).
    """

    names: tuple[Name, ...]
    blocks: tuple[Block, ...]
    finish: Callable[[Floats], Floats] = field(repr=False)
    keys: tuple[Hashable, ...]
    kinds_by_label: int = 0
    picked: tuple[int, ...] | None = None
    rests_on: tuple[tuple[int, ...], ...] = ()

    def sizes(self) -> dict[Name, int]:
        """Return for each score the number of units that contribute anything to it."""
        if not self.rests_on:
            return dict.fromkeys(self.names, sum(block.size for block in self.blocks))
        counted = {columns: self._units_in(columns) for columns in set(self.rests_on)}
        return {name: counted[columns] for name, columns in zip(self.names, self.rests_on, strict=True)}

    def _units_in(self, columns: tuple[int, ...]) -> int:
        found, start = 0, 0
        for block in self.blocks:
            own = [column - start for column in columns if start <= column < start + block.width]
            found += block.units_in(own) if own else 0
            start += block.width
        return found

    def totals(self, weights: Floats) -> Floats:
        """Return the k sums: resamples × k."""
        return np.concatenate([block.times(weights) for block in self.blocks], axis=1)

    def scores(self, totals: Floats) -> Floats:
        """Compute the scores of sums: … × s."""
        found = self.finish(totals)
        return found if self.picked is None else found[..., self.picked]

    def weighted(self, weights: Floats) -> Floats:
        """Compute the scores: resamples × s."""
        return self.scores(self.totals(weights))

    def sums(self) -> Sums:
        """Return the part itself."""
        return self

    def only(self, names: Collection[Name]) -> Sums:
        """Select some of the scores."""
        places = tuple(place for place, name in enumerate(self.names) if name in names)
        if len(places) == len(self.names):
            return self
        picked = places if self.picked is None else tuple(self.picked[place] for place in places)
        rests_on = tuple(self.rests_on[place] for place in places) if self.rests_on else ()
        return replace(self, names=tuple(self.names[place] for place in places), picked=picked, rests_on=rests_on)

    def is_like(self, other: Sums) -> bool:
        """Return whether the sums of this part and of the other may be swapped between systems."""
        return (self.names, self.keys, self.finish, self.picked) == (
            other.names,
            other.keys,
            other.finish,
            other.picked,
        )

    def widened(self, keys: tuple[Hashable, ...]) -> Sums:
        """Extend the sums to the labels of all systems. keys: the keys of all systems' sums, including these."""
        if keys == self.keys or not self.kinds_by_label:
            return self
        position = {key: place for place, key in enumerate(keys)}
        (block,) = self.blocks
        moved = block.moved([position[key] for key in self.keys], len(keys))
        return replace(self, blocks=(moved,), keys=keys, rests_on=())


def all_labels(parts: Sequence[Sums]) -> tuple[Hashable, ...]:
    """Return the keys of parts that have the same kinds of labels: kinds × every label of any part."""
    every = list(dict.fromkeys(key for part in parts for key in part.keys))
    kinds: dict[Hashable, None] = dict.fromkeys(key[0] for key in every if isinstance(key, tuple))
    labels = sorted({key[1] for key in every if isinstance(key, tuple)})
    return tuple((kind, label) for kind in kinds for label in labels)


@dataclass(frozen=True)
class GoldRanks:
    """Data shared by all systems on the same gold under some weights.

    items, moments: for every item its weight, and its weight times gold's rank (twice the centred rank), items ×
    resamples; size: the weight of all items; cubes: the sum of the cubed weights; spread: the spread of gold's ranks.

    With whole-number weights all these numbers are whole and exact: sharing them between systems changes no score.
    """

    items: Floats
    moments: Floats
    size: Floats
    cubes: Floats
    spread: Floats


#: Keyed by the units of items and their gold, both as bytes.
Shared = dict[tuple[bytes, bytes], list[GoldRanks]]


@dataclass(frozen=True)
class Ranks:
    """Spearman's rho of n items, average ranks for ties. places: the unit of each; gold, predicted: finite numbers.

    finish: from rho and the weight of all items (… × 2) to the scores, for callers that need more than rho.
    """

    names: tuple[Name, ...]
    places: Positions
    gold: Floats
    predicted: Floats
    finish: Callable[[Floats], Floats] | None = field(default=None, repr=False)

    def sizes(self) -> dict[Name, int]:
        """Return the number of units, for each score."""
        return dict.fromkeys(self.names, len(np.unique(self.places)))

    def weighted(self, weights: Floats, shared: Shared | None = None) -> Floats:
        """Compute the scores: resamples × 1, or the result of finish.

        shared: results of other systems under the same weights; extended by this call.
        """
        starts = range(0, len(weights), _BLOCK)
        prepared = (self._gold_ranks(weights[start : start + _BLOCK]) for start in starts)
        if shared is None:
            blocks = [self._of_block(block) for block in prepared]
        else:
            key = self.places.tobytes(), self.gold.tobytes()
            if key not in shared:
                shared[key] = list(prepared)
            blocks = [self._of_block(block) for block in shared[key]]
        found = np.concatenate(blocks) if blocks else np.empty((0, 2))
        return found[:, :1] if self.finish is None else self.finish(found)

    def _gold_ranks(self, weights: Floats) -> GoldRanks:
        items = np.ascontiguousarray(weights.T)[self.places]
        size, order = items.sum(axis=0), self._orders[0]
        moments = order.centred_ranks(items, size)
        moments *= items
        cubes = _cubes(items)
        spread = _spread(cubes if order.begins is None else _cubes(order.by_ties(items)), size)
        return GoldRanks(items, moments, size, cubes, spread)

    def _of_block(self, gold: GoldRanks) -> Floats:
        """Compute rho and the weight of all items: resamples × 2.

        Twice the centred rank of tied items is the weight below them plus the weight not above them, minus the weight
        of all; as gold's ranks are centred, the weight of all drops out of the sum of products.
        """
        order = self._orders[1]
        ties = order.by_ties(gold.items)
        ranks = np.cumsum(ties, axis=0)
        ranks *= 2
        ranks -= ties
        spread = _spread(gold.cubes if order.begins is None else _cubes(ties), gold.size)
        with np.errstate(divide="ignore", invalid="ignore"):
            rho = np.einsum("ij,ij->j", order.by_ties(gold.moments), ranks) / np.sqrt(gold.spread * spread)
        return np.stack([np.where(np.isfinite(rho), np.clip(rho, -1.0, 1.0), np.nan), gold.size], axis=1)

    def sums(self) -> Sums:
        """Return sums of products of ranks, which two systems can swap; ranks are scaled within each system, so that
        swaps do not depend on their scale.
        """
        ones = np.ones((len(self.places), 1))
        size = ones.sum(axis=0)
        a, b = (order.centred_ranks(ones, size)[:, 0] / max(len(self.places), 1) for order in self._orders)
        block = table(self.places, [np.ones_like(a), a, b, a * a, b * b, a * b])
        return Sums(self.names[:1], (block,), pearson_of_sums, tuple(range(6)))

    def only(self, names: Collection[Name]) -> Ranks:
        """Return the part itself: its scores cannot be computed one by one."""
        return self

    @cached_property
    def _orders(self) -> tuple[_Order, _Order]:
        return _Order.of(self.gold), _Order.of(self.predicted)


@dataclass(frozen=True)
class Concordance:
    """Kendall's tau-b of n items. Time and memory grow with n². Arguments as for `Ranks`."""

    names: tuple[Name, ...]
    places: Positions
    gold: Floats
    predicted: Floats

    def sizes(self) -> dict[Name, int]:
        """Return, for the only score, the number of units."""
        return dict.fromkeys(self.names, len(np.unique(self.places)))

    def weighted(self, weights: Floats) -> Floats:
        """Compute the score: resamples × 1."""
        return self._of_items(weights[:, self.places])

    def sums(self) -> Sums:
        """Return the sums of pseudo-values, n·tau - (n - 1)·(tau without the item), which are swapped."""
        n = len(self.places)
        ones = np.ones((1, n))
        whole, without = self._of_items(ones)[0, 0], self._of_items(np.ones((n, n)) - np.eye(n))[:, 0]
        pseudo = n * whole - (n - 1) * without
        return Sums(self.names, (table(self.places, [np.ones(n), pseudo]),), mean_of_sums, (0, 1))

    def only(self, names: Collection[Name]) -> Concordance:
        """Return the part itself."""
        return self

    def _of_items(self, items: Floats) -> Floats:
        both = np.einsum("ij,ij->i", items @ self._signs, items)
        untied = [_untied(np.unique(side, return_inverse=True)[1], items) for side in (self.gold, self.predicted)]
        with np.errstate(divide="ignore", invalid="ignore"):
            tau = both / np.sqrt(untied[0] * untied[1])
        return np.where(np.isfinite(tau), np.clip(tau, -1.0, 1.0), np.nan)[:, None]

    @cached_property
    def _signs(self) -> Floats:
        signs = [np.sign(side[:, None] - side[None, :]) for side in (self.gold, self.predicted)]
        product: Floats = signs[0] * signs[1]
        return product


Part = Sums | Ranks | Concordance


@dataclass(frozen=True)
class _Order:
    """n values sorted.

    items: the item at each position; before, behind: the positions before each item's ties and after the last of them;
    begins: where ties begin (None if there are none).
    """

    items: Positions
    before: Positions
    behind: Positions
    begins: Positions | None

    @classmethod
    def of(cls, values: Floats) -> _Order:
        items = np.argsort(values, kind="stable")
        ordered = values[items]
        begins = np.flatnonzero(np.concatenate([np.ones(min(1, len(values)), dtype=bool), ordered[1:] != ordered[:-1]]))
        group = np.empty(len(values), dtype=np.intp)
        edges = np.append(begins, len(values))
        group[items] = np.repeat(np.arange(len(begins)), np.diff(edges))
        return cls(items, edges[group], edges[group + 1], begins if len(begins) < len(values) else None)

    def by_ties(self, values: Floats) -> Floats:
        """Return the sums over each group of tied items (an untied item is a group), lowest first: groups × resamples.

        values: items × resamples.
        """
        ordered = values[self.items]
        return ordered if self.begins is None else np.add.reduceat(ordered, self.begins, axis=0)

    def centred_ranks(self, weights: Floats, size: Floats) -> Floats:
        """Return, for each item, twice the difference of its average rank from the mean rank; whole numbers for
        whole-number weights.

        weights: items × resamples; size: their sum.
        """
        upto = np.zeros((len(weights) + 1, weights.shape[1]))
        np.cumsum(weights[self.items], axis=0, out=upto[1:])
        ranks = upto[self.before]
        ranks += upto[self.behind]
        ranks -= size
        return ranks


def _cubes(weights: Floats) -> Floats:
    """Return the sum of the cubed weights in each resample. weights: items × resamples."""
    found: Floats = np.einsum("ij,ij,ij->j", weights, weights, weights)
    return found


def _spread(cubes: Floats, size: Floats) -> Floats:
    """Return the weighted sum of squares of twice the centred ranks.

    cubes: sums of the cubed joint weights of tied items; size: the weight of all items. 0 if all tie: rounding of
    fractional weights must not make a spread.
    """
    whole = size**3
    found = (whole - cubes) / 3
    return np.where(found > _ROUNDING * whole, found, 0.0)


def _untied(group: Positions, weights: Floats) -> Floats:
    """Return the weight of all pairs whose values differ, each pair twice."""
    order = np.argsort(group, kind="stable")
    starts = np.flatnonzero(np.diff(group[order], prepend=-1))
    tied = np.add.reduceat(weights[:, order], starts, axis=1)
    found: Floats = weights.sum(axis=1) ** 2 - (tied**2).sum(axis=1)
    return found
