"""What scores are computed from: sums over units and what follows from them, ranks, or pairs of items.

Every part gives its scores for weights of resamples × units, NaN where a score is undefined; `sums()` of it is what two
systems can swap, and `size` how many units its scores rest on.
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
#: Resamples that are ranked at a time: so many of some thousand items stay near the processor.
_BLOCK = 32
#: Of the whole; a single item that differs from all others makes more, among any number of items.
_ROUNDING = 1e-12
#: A score: metric and split.
Name = tuple[str, str]


@dataclass(frozen=True)
class Sums:
    """Scores that follow from sums over units.

    names: s scores; blocks: what units add to some of the k sums, one block after the other; finish: from sums of … × k
    to scores of … × s, equal for equal arithmetic; keys: what each of the k sums is, the same for all systems.
    kinds_by_label: where the sums are some kinds for each of many labels (or words), how many kinds; finish takes any
    number of labels then, and keys are (kind, label). picked: which of finish's scores the names are (None: all).
    """

    names: tuple[Name, ...]
    blocks: tuple[Block, ...]
    finish: Callable[[Floats], Floats] = field(repr=False)
    keys: tuple[Hashable, ...]
    kinds_by_label: int = 0
    picked: tuple[int, ...] | None = None

    @property
    def size(self) -> int:
        """How many units add anything."""
        return sum(block.size for block in self.blocks)

    def totals(self, weights: Floats) -> Floats:
        """The k sums: resamples × k."""
        return np.concatenate([block.times(weights) for block in self.blocks], axis=1)

    def scores(self, totals: Floats) -> Floats:
        """The scores of sums: … × s."""
        found = self.finish(totals)
        return found if self.picked is None else found[..., self.picked]

    def weighted(self, weights: Floats) -> Floats:
        """The scores: resamples × s."""
        return self.scores(self.totals(weights))

    def sums(self) -> Sums:
        """Itself."""
        return self

    def only(self, names: Collection[Name]) -> Sums:
        """Some of the scores."""
        places = tuple(place for place, name in enumerate(self.names) if name in names)
        if len(places) == len(self.names):
            return self
        picked = places if self.picked is None else tuple(self.picked[place] for place in places)
        return replace(self, names=tuple(self.names[place] for place in places), picked=picked)

    def is_like(self, other: Sums) -> bool:
        """Whether what both add up may be swapped."""
        return (self.names, self.keys, self.finish, self.picked) == (
            other.names,
            other.keys,
            other.finish,
            other.picked,
        )

    def widened(self, keys: tuple[Hashable, ...]) -> Sums:
        """The same among the labels of others too. keys: those of all, with this one's among them."""
        if keys == self.keys or not self.kinds_by_label:
            return self
        position = {key: place for place, key in enumerate(keys)}
        (block,) = self.blocks
        return replace(self, blocks=(block.moved([position[key] for key in self.keys], len(keys)),), keys=keys)


def all_labels(parts: Sequence[Sums]) -> tuple[Hashable, ...]:
    """The keys of parts that have the same kinds of labels: kinds × every label of any part."""
    every = list(dict.fromkeys(key for part in parts for key in part.keys))
    kinds: dict[Hashable, None] = dict.fromkeys(key[0] for key in every if isinstance(key, tuple))
    labels = sorted({key[1] for key in every if isinstance(key, tuple)})
    return tuple((kind, label) for kind in kinds for label in labels)


@dataclass(frozen=True)
class GoldRanks:
    """What all systems on the same gold have in common under some weights: of every item its weight, and that times
    gold's rank (twice and centred), items × resamples; the weight of all items, the sum of its cubes, and the spread of
    gold's ranks.

    With weights that are whole numbers all of these are, and exact: sharing them changes no score.
    """

    items: Floats
    moments: Floats
    size: Floats
    cubes: Floats
    spread: Floats


#: By the places of items and their gold, both as bytes.
Shared = dict[tuple[bytes, bytes], list[GoldRanks]]


@dataclass(frozen=True)
class Ranks:
    """Spearman's rho of n items, average ranks for ties. places: the unit of each; gold, predicted: finite numbers.

    finish: from rho and the weight of all items (… × 2) to the scores, for whoever needs more than rho.
    """

    names: tuple[Name, ...]
    places: Positions
    gold: Floats
    predicted: Floats
    finish: Callable[[Floats], Floats] | None = field(default=None, repr=False)

    @property
    def size(self) -> int:
        """How many units there are."""
        return len(np.unique(self.places))

    def weighted(self, weights: Floats, shared: Shared | None = None) -> Floats:
        """The scores: resamples × 1, or what finish makes of it. shared: what was done for other systems under the same
        weights, and is added to."""
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
        """rho and the weight of all items: resamples × 2.

        Twice the centred rank of items that tie is what is below them and what is not above them, less all; as gold's
        ranks are centred, all drops out of the sum of products.
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
        """Ranks are given once within each system, and these are swapped: its scale must not matter."""
        ones = np.ones((len(self.places), 1))
        size = ones.sum(axis=0)
        a, b = (order.centred_ranks(ones, size)[:, 0] / max(len(self.places), 1) for order in self._orders)
        block = table(self.places, [np.ones_like(a), a, b, a * a, b * b, a * b])
        return Sums(self.names[:1], (block,), pearson_of_sums, tuple(range(6)))

    def only(self, names: Collection[Name]) -> Ranks:
        """Itself: its scores cannot be had one by one."""
        return self

    @cached_property
    def _orders(self) -> tuple[_Order, _Order]:
        return _Order.of(self.gold), _Order.of(self.predicted)


@dataclass(frozen=True)
class Concordance:
    """Kendall's tau-b of n items. Time and space grow with n². Arguments as for `Ranks`."""

    names: tuple[Name, ...]
    places: Positions
    gold: Floats
    predicted: Floats

    @property
    def size(self) -> int:
        """How many units there are."""
        return len(np.unique(self.places))

    def weighted(self, weights: Floats) -> Floats:
        """The score: resamples × 1."""
        return self._of_items(weights[:, self.places])

    def sums(self) -> Sums:
        """Swapped are pseudo-values: n·tau - (n - 1)·(tau without the item)."""
        n = len(self.places)
        ones = np.ones((1, n))
        whole, without = self._of_items(ones)[0, 0], self._of_items(np.ones((n, n)) - np.eye(n))[:, 0]
        pseudo = n * whole - (n - 1) * without
        return Sums(self.names, (table(self.places, [np.ones(n), pseudo]),), mean_of_sums, (0, 1))

    def only(self, names: Collection[Name]) -> Concordance:
        """Itself."""
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
    """n values sorted: the item at each place, the place before each item's ties and behind its last one, and where
    ties begin (None where there are none)."""

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
        """Sums over items that tie, from the lowest: ties × resamples. values: items × resamples."""
        ordered = values[self.items]
        return ordered if self.begins is None else np.add.reduceat(ordered, self.begins, axis=0)

    def centred_ranks(self, weights: Floats, size: Floats) -> Floats:
        """Twice the average ranks of items (weights: items × resamples) less their mean: integers for such weights."""
        upto = np.zeros((len(weights) + 1, weights.shape[1]))
        np.cumsum(weights[self.items], axis=0, out=upto[1:])
        ranks = upto[self.before]
        ranks += upto[self.behind]
        ranks -= size
        return ranks


def _cubes(weights: Floats) -> Floats:
    """Their sums: resamples."""
    found: Floats = np.einsum("ij,ij,ij->j", weights, weights, weights)
    return found


def _spread(cubes: Floats, size: Floats) -> Floats:
    """The weighted squares of twice the centred ranks, summed. cubes: of what items that tie weigh together; size: the
    weight of all. 0 where all tie: rounding of weights that are no whole numbers makes no spread."""
    whole = size**3
    found = (whole - cubes) / 3
    return np.where(found > _ROUNDING * whole, found, 0.0)


def _untied(group: Positions, weights: Floats) -> Floats:
    """The weight of all pairs whose values differ, each pair twice."""
    order = np.argsort(group, kind="stable")
    starts = np.flatnonzero(np.diff(group[order], prepend=-1))
    tied = np.add.reduceat(weights[:, order], starts, axis=1)
    found: Floats = weights.sum(axis=1) ** 2 - (tied**2).sum(axis=1)
    return found
