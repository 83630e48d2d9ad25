"""Multiword expressions in sentences: units are all sentences, with or without an expression, within their language."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from evergold.scoring.correlation import Floats
from evergold.scoring.mwe.counts import ALL, CATEGORY, MWE_BASED, TRAINING_VIEWS, VIEWS, Cell
from evergold.scoring.mwe.languages import BASES, DIVERSITY
from evergold.scoring.resampling.blocks import collect
from evergold.scoring.resampling.formulas import diversity, harmonic, precision_recall_f1
from evergold.scoring.resampling.parts import Name, Sums
from evergold.scoring.resampling.sample import Derived, Sample
from evergold.scoring.resampling.units import Units
from evergold.scoring.samples.tables import mean_with_zeros

MACRO = "macro"
_PARTS = ("precision", "recall", "f1")
_SIDES = ("found", "gold", "predicted")

#: The outcomes of every language, see `tasks.mwe_identification.outcomes`.
Languages = Mapping[str, Mapping[str, Any]]


def sample(outcomes: Mapping[str, Any]) -> Sample:
    """Return the scores of all languages and, for gold in folders, of macro."""
    languages: Languages = outcomes["languages"]
    units, starts = _units(languages)
    parts = [_counts(outcomes, cell, starts) for cell in _cells(languages)]
    parts += [_types(name, one, start) for (name, one), start in zip(languages.items(), starts, strict=True)]
    hidden = frozenset(name for part in parts for name in part.names if _is_left_out(languages, name[1]))
    if outcomes["macro"] is None:
        return Sample(units, tuple(parts), hidden=hidden)
    means = [Derived(((name, MACRO),), tuple((name, one) for one in languages), mean_with_zeros) for name in DIVERSITY]
    submitted = float(sum(one["submitted"] for one in languages.values()))
    return Sample(units, tuple(parts), tuple(means), {("languages", MACRO): submitted}, hidden)


def _is_left_out(languages: Languages, split: str) -> bool:
    root = split.partition("/")[0]
    return root != MACRO and not languages[root]["submitted"]


def _units(languages: Languages) -> tuple[Units, list[int]]:
    """Return every sentence, and the index of each language's first one."""
    sizes = [one["sentences"] for one in languages.values()]
    keys = tuple(f"{name}/{place}" for name, size in zip(languages, sizes, strict=True) for place in range(size))
    strata = np.repeat(np.arange(len(sizes)), sizes) if len(sizes) > 1 else None
    return Units(keys, strata, "sentence"), [0, *np.cumsum(sizes)[:-1].tolist()]


def _cells(languages: Languages) -> list[Cell]:
    """List every cell that is scored in any language, like `mwe.languages.cells_of`."""
    categories = sorted({split for one in languages.values() for split in one["cells"] if split.startswith(CATEGORY)})
    return [
        *((ALL, basis) for basis in BASES),
        *((view, MWE_BASED) for view in VIEWS),
        *((category, basis) for category in categories for basis in BASES),
    ]


@dataclass(frozen=True)
class CellScores:
    """P, R and F1 of one cell: of every language, then, with macro, of their means as in `mwe.counts.macro`.

    counted: for each language, True if it can have such MWEs at all; absent_as_zero: see `mwe.counts.macro`.
    """

    counted: tuple[bool, ...]
    macro: bool
    absent_as_zero: bool

    def __call__(self, sums: Floats) -> Floats:
        counts = sums.reshape(*sums.shape[:-1], len(self.counted), 3)
        values = precision_recall_f1(counts)
        found = [values.reshape(*sums.shape[:-1], -1)]
        if self.macro:
            found.append(self._means(counts[..., 1] > 0, values))
        return np.concatenate(found, axis=-1)

    def _means(self, has_gold: Any, values: Floats) -> Floats:
        counted = has_gold & np.array(self.counted)
        having = counted.sum(axis=-1)
        among = np.full(having.shape, sum(self.counted)) if self.absent_as_zero else having
        totals = [np.where(counted, values[..., part], 0.0).sum(axis=-1) for part in (0, 1)]
        precision, recall = (np.divide(t, among, out=np.zeros(t.shape), where=having > 0) for t in totals)
        means = np.stack([precision, recall, harmonic(precision, recall)], axis=-1)
        return np.where((having > 0)[..., None], means, np.nan)


def _counts(outcomes: Mapping[str, Any], cell: Cell, starts: list[int]) -> Sums:
    """Return the contributions of every sentence to one cell of its language."""
    languages: Languages = outcomes["languages"]
    compares = cell[0] in TRAINING_VIEWS
    finish = CellScores(
        tuple(bool(one["with_training"]) or not compares for one in languages.values()),
        outcomes["macro"] is not None,
        outcomes["macro"] == "as-zero",
    )
    blocks = []
    for one, start in zip(languages.values(), starts, strict=True):
        rows = np.array(one["cells"].get(cell[0], {}).get(cell[1], []), dtype=np.float64).reshape(-1, 4)
        units = np.repeat(rows[:, 0].astype(np.intp) + start, 3)
        blocks.append(collect(3, units, np.tile(np.arange(3), len(rows)), rows[:, 1:].ravel()))
    names = dict(_names(languages, cell, finish))
    keys = tuple((language, side) for language in languages for side in _SIDES)
    rests_on = tuple(_sums_of(place, len(languages)) for place in names)
    return Sums(tuple(names.values()), tuple(blocks), finish, keys, picked=tuple(names), rests_on=rests_on)


def _sums_of(place: int, languages: int) -> tuple[int, ...]:
    """Return the indices of the sums from which one P, R or F1 is computed: the language's, or for macro those of all
    languages.

    place: index of the score, see `_names`.
    """
    root, part = divmod(place, 3)
    sides = {"precision": ("found", "predicted"), "recall": ("found", "gold")}.get(_PARTS[part], _SIDES)
    numbers = (root,) if root < languages else range(languages)
    return tuple(3 * number + _SIDES.index(side) for number in numbers for side in sides)


def _names(languages: Languages, cell: Cell, finish: CellScores) -> Iterator[tuple[int, Name]]:
    """Yield the scores of a cell with their indices in `CellScores`.

    A category has scores only for languages in which it occurs, and for macro only if it occurs in some gold.
    """
    split, basis = cell
    is_category = split.startswith(CATEGORY)
    in_gold = any(row[2] for one in languages.values() for row in one["cells"].get(split, {}).get(basis, ()))
    for number, root in enumerate((*languages, *((MACRO,) if finish.macro else ()))):
        if root == MACRO:
            occurs = in_gold or not is_category
        else:
            occurs = split in languages[root]["cells"] or not is_category
            occurs = occurs and finish.counted[number]
        for part in range(3) if occurs else ():
            yield 3 * number + part, (f"{basis}_{_PARTS[part]}", root if split == ALL else f"{root}/{split}")


def _types(name: str, language: Mapping[str, Any], start: int) -> Sums:
    """Return richness, entropy and evenness of the found MWEs."""
    types = sorted({kind for _, kind in language["types"]})
    number = {kind: place for place, kind in enumerate(types)}
    places = np.array([sentence + start for sentence, _ in language["types"]], dtype=np.intp)
    columns = np.array([number[kind] for _, kind in language["types"]], dtype=np.intp)
    names = tuple((metric, name) for metric in DIVERSITY)
    keys = tuple((name, kind) for kind in types)
    return Sums(names, (collect(len(types), places, columns),), diversity, keys, kinds_by_label=1)
