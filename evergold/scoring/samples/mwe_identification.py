"""Multiword expressions in sentences: units are sentences, within their language, those without an expression too."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np

from evergold.scoring.correlation import Floats
from evergold.scoring.mwe import ALL, CATEGORY, MWE_BASED, TRAINING_VIEWS, VIEWS, Cell
from evergold.scoring.mwe_languages import BASES, DIVERSITY
from evergold.scoring.resampling.blocks import Block, collect
from evergold.scoring.resampling.formulas import diversity, harmonic, precision_recall_f1
from evergold.scoring.resampling.parts import Name, Sums
from evergold.scoring.resampling.sample import Derived, Sample
from evergold.scoring.resampling.units import Positions, Units

MACRO = "macro"
_PARTS = ("precision", "recall", "f1")


def sample(outcomes: Mapping[str, Any]) -> Sample:
    """The scores of all languages and, for gold in folders, of macro. See `tasks.mwe_identification.outcomes`."""
    languages: Mapping[str, Mapping[str, Any]] = outcomes["languages"]
    units, starts = _units(languages)
    cells = _cells(languages)
    scheme = _Scheme(
        tuple(languages),
        tuple(cells),
        np.array([one["submitted"] for one in languages.values()], dtype=bool),
        np.array([one["with_training"] for one in languages.values()], dtype=bool),
        outcomes["macro"],
    )
    scheme = replace(scheme, kept=_scored(scheme, languages))
    blocks = [_counts(one, cells, start) for one, start in zip(languages.values(), starts, strict=True)]
    keys = [
        (language, *cell, side) for language in languages for cell in cells for side in ("found", "gold", "predicted")
    ]
    parts = [Sums(scheme.names, tuple(blocks), partial(_finish, scheme), tuple(keys))]
    parts += [_types(name, one, start) for (name, one), start in zip(languages.items(), starts, strict=True)
              if one["submitted"]]  # fmt: skip
    if outcomes["macro"] is None:
        return Sample(units, tuple(parts))
    means = tuple(_mean_of(metric, languages) for metric in DIVERSITY)
    submitted = float(sum(one["submitted"] for one in languages.values()))
    return Sample(units, tuple(parts), means, {("languages", MACRO): submitted})


@dataclass(frozen=True)
class _Scheme:
    """What stands where: l languages, c cells. macro: whether what gold lacks counts 0 or is left out (`mwe.macro`), or
    None: there is no macro; kept: of all roots × cells those that are scored."""

    languages: tuple[str, ...]
    cells: tuple[Cell, ...]
    submitted: np.ndarray[Any, np.dtype[np.bool_]]
    with_training: np.ndarray[Any, np.dtype[np.bool_]]
    macro: str | None
    kept: Positions = field(default_factory=lambda: np.array([], dtype=np.intp))

    @property
    def places(self) -> list[tuple[str, Cell]]:
        """Every root (a language, macro) and cell."""
        roots = (*self.languages, *((MACRO,) if self.macro is not None else ()))
        return [(root, cell) for root in roots for cell in self.cells]

    @property
    def names(self) -> tuple[Name, ...]:
        """The scores, of what is kept."""
        return tuple(
            (f"{basis}_{part}", root if split == ALL else f"{root}/{split}")
            for root, (split, basis) in (self.places[number] for number in self.kept)
            for part in _PARTS
        )


def _units(languages: Mapping[str, Mapping[str, Any]]) -> tuple[Units, list[int]]:
    """Every sentence, and where those of each language begin."""
    sizes = [one["sentences"] for one in languages.values()]
    keys = tuple(f"{name}/{place}" for name, size in zip(languages, sizes, strict=True) for place in range(size))
    strata = np.repeat(np.arange(len(sizes)), sizes) if len(sizes) > 1 else None
    return Units(keys, strata, "sentence"), [0, *np.cumsum(sizes)[:-1].tolist()]


def _cells(languages: Mapping[str, Mapping[str, Any]]) -> dict[Cell, int]:
    """Every cell that is scored in any language, and its number: as `mwe_languages.cells_of`."""
    categories = sorted({split for one in languages.values() for split in one["cells"] if split.startswith(CATEGORY)})
    ordered = [
        *((ALL, basis) for basis in BASES),
        *((view, MWE_BASED) for view in VIEWS),
        *((category, basis) for category in categories for basis in BASES),
    ]
    return {cell: number for number, cell in enumerate(ordered)}


def _scored(scheme: _Scheme, languages: Mapping[str, Mapping[str, Any]]) -> Positions:
    """Categories count where they occur, for macro where some gold has them."""
    occurs = {(name, split) for name, one in languages.items() for split in one["cells"]}
    occurs |= {
        (MACRO, split)
        for one in languages.values()
        for split, bases in one["cells"].items()
        if any(row[2] for row in bases[MWE_BASED])
    }
    return np.array(
        [
            number
            for number, (root, (split, _)) in enumerate(scheme.places)
            if not split.startswith(CATEGORY) or (root, split) in occurs
        ],
        dtype=np.intp,
    )


def _counts(language: Mapping[str, Any], cells: Mapping[Cell, int], start: int) -> Block:
    places, columns, values = list[int](), list[int](), list[float]()
    for split, bases in language["cells"].items():
        for basis, rows in bases.items():
            first = 3 * cells[split, basis]
            for sentence, *counts in rows:
                for side, count in enumerate(counts):
                    if count:
                        places.append(sentence)
                        columns.append(first + side)
                        values.append(count)
    entries = np.array(places, dtype=np.intp), np.array(columns, dtype=np.intp), np.array(values, dtype=np.float64)
    return collect(language["sentences"], 3 * len(cells), *entries, start=start)


def _finish(scheme: _Scheme, sums: Floats) -> Floats:
    """P, R and F1 of every cell of every language, then of macro."""
    shape = sums.shape[:-1]
    counts = sums.reshape(*shape, len(scheme.languages), len(scheme.cells), 3)
    values = precision_recall_f1(counts)
    compares = np.array([split in TRAINING_VIEWS for split, _ in scheme.cells])
    applies = scheme.with_training[:, None] | ~compares
    shown = np.where((applies & scheme.submitted[:, None])[..., None], values, np.nan)
    found = [shown.reshape(*shape, -1, 3)]
    if scheme.macro is not None:
        found.append(_macro(scheme, counts[..., 1] > 0, values, applies))
    return np.concatenate(found, axis=-2)[..., scheme.kept, :].reshape(*shape, -1)


def _macro(scheme: _Scheme, has_gold: Any, values: Floats, applies: Any) -> Floats:
    """As `mwe.macro`: mean P and mean R over languages, the F1 of the means."""
    counted = has_gold & applies
    among = counted.sum(axis=-2)
    over = np.broadcast_to(applies.sum(axis=0), among.shape) if scheme.macro == "as-zero" else among
    means = []
    for part in (0, 1):
        total = np.where(counted, values[..., part], 0.0).sum(axis=-2)
        means.append(np.divide(total, over, out=np.full(total.shape, np.nan), where=among > 0))
    f1 = np.where(np.isnan(means[0]), np.nan, harmonic(np.nan_to_num(means[0]), np.nan_to_num(means[1])))
    return np.stack([*means, f1], axis=-1)


def _types(name: str, language: Mapping[str, Any], start: int) -> Sums:
    """Richness, entropy and evenness of what was found."""
    types = sorted({kind for _, kind in language["types"]})
    number = {kind: place for place, kind in enumerate(types)}
    places = np.array([sentence for sentence, _ in language["types"]], dtype=np.intp)
    columns = np.array([number[kind] for _, kind in language["types"]], dtype=np.intp)
    block = collect(language["sentences"], len(types), places, columns, start=start)
    names = tuple((metric, name) for metric in DIVERSITY)
    return Sums(names, (block,), diversity, tuple((name, kind) for kind in types), kinds_by_label=1)


def _mean_of(metric: str, languages: Sequence[str] | Mapping[str, Any]) -> Derived:
    """Over all languages, what is undefined or was not entered counting 0."""
    inputs = tuple((metric, language) for language in languages)
    return Derived(((metric, MACRO),), inputs, _mean_with_zeros)


def _mean_with_zeros(values: Floats) -> Floats:
    found: Floats = np.nan_to_num(values).mean(axis=-1, keepdims=True)
    return found
