"""All languages of a task together: their counts, the macro means, and the compact report for pages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from operator import is_
from typing import Any

from evergold.scoring.cupt.prediction import PredictedMwes
from evergold.scoring.diversity import Diversity
from evergold.scoring.mwe.counts import (
    ALL,
    CATEGORY,
    MWE_BASED,
    TOKEN_BASED,
    TRAINING_VIEWS,
    VIEWS,
    Cell,
    Counts,
    GoldMwes,
    Outcome,
    Side,
    count,
    counts_of,
    describe,
    found_diversity,
    found_types,
    macro,
    outcomes,
)
from evergold.scoring.mwe.report import language_report

BASES = (MWE_BASED, TOKEN_BASED)
DIVERSITY = ("richness", "entropy", "evenness")

#: Gold and submitted predictions of every language of the task.
AllGold = Mapping[str, GoldMwes]
AllPredicted = Mapping[str, PredictedMwes]


@dataclass(frozen=True)
class Counted:
    """One language of the task with its submission (None if not submitted); everything is counted on first use, and
    only once.
    """

    gold: GoldMwes
    submitted: PredictedMwes | None

    @cached_property
    def predicted(self) -> Side:
        return describe(self.gold, self.submitted.mwes if self.submitted is not None else ())

    @cached_property
    def outcomes(self) -> Mapping[Cell, list[Outcome]]:
        """The contribution of every sentence to every cell."""
        return outcomes(self.gold, self.predicted)

    @cached_property
    def counts(self) -> Mapping[Cell, Counts]:
        """The counts of every cell; computed from the outcomes if these are known."""
        return counts_of(self.outcomes) if "outcomes" in vars(self) else count(self.gold, self.predicted)

    @cached_property
    def diversity(self) -> Diversity | None:
        """Diversity of the found MWEs; None if nothing was submitted."""
        return found_diversity(self.gold, self.submitted.mwes) if self.submitted is not None else None


def count_all(gold: AllGold, predicted: AllPredicted) -> dict[str, Counted]:
    """Count every language; one not submitted has gold's counts, with nothing found and nothing predicted."""
    return {language: Counted(of_gold, predicted.get(language)) for language, of_gold in gold.items()}


def cells_of(tables: Sequence[Mapping[Cell, Counts]]) -> list[Cell]:
    """List the scored cells in order: global, every view, and every category that occurs in any of the tables."""
    categories = sorted({split for table in tables for split, _ in table if split.startswith(CATEGORY)})
    return [
        *((ALL, basis) for basis in BASES),
        *((view, MWE_BASED) for view in VIEWS),
        *((category, basis) for category in categories for basis in BASES),
    ]


def macro_means(
    gold: AllGold, tables: Mapping[str, Counted], *, absent_as_zero: bool = False
) -> dict[Cell, tuple[float, float, float] | None]:
    """Return mean P, mean R and their F1 of every cell, see `counts.macro`; None if no language's gold has such an MWE.

    absent_as_zero: as for `counts.macro`. A language without training data is left out of the views that compare with
    it. A category that only predictions have is left out altogether.
    """
    means: dict[Cell, tuple[float, float, float] | None] = {}
    for cell in cells_of([table.counts for table in tables.values()]):
        compares = cell[0] in TRAINING_VIEWS
        compared = [name for name in tables if not compares or gold[name].training is not None]
        counts = [tables[name].counts.get(cell) for name in compared]
        mean = macro(counts, absent_as_zero=absent_as_zero)
        if mean is not None or not cell[0].startswith(CATEGORY):
            means[cell] = mean
    return means


def macro_diversity(tables: Mapping[str, Counted], predicted: AllPredicted) -> dict[str, float]:
    """Return mean richness, entropy and evenness over all languages; 0 if not submitted or undefined."""
    found = [tables[language].diversity for language in predicted]
    return {name: sum(getattr(one, name) or 0.0 for one in found) / len(tables) for name in DIVERSITY}


def language_document(counted: Counted) -> dict[str, Any] | None:
    """Return the report of one language, see `report.language_report`; None if it was not submitted."""
    gold, predicted, found = counted.gold, counted.submitted, counted.diversity
    if predicted is None or found is None:
        return None
    official = _official_counts(gold, predicted, counted.predicted) if gold.training else None
    return language_report(counted.counts, found, with_training=gold.training is not None, official=official)


def language_outcomes(counted: Counted) -> dict[str, Any]:
    """Return the outcomes of one language; if it was not submitted, nothing is predicted."""
    gold, predicted = counted.gold, counted.submitted
    mwes = predicted.mwes if predicted is not None else ()
    cells: dict[str, dict[str, list[Outcome]]] = {}
    for (split, basis), rows in counted.outcomes.items():
        cells.setdefault(split, {})[basis] = rows
    types = [[sentence, lemmas.decode(errors="backslashreplace")] for sentence, lemmas in found_types(gold, mwes)]
    return {
        "submitted": predicted is not None,
        "with_training": gold.training is not None,
        "sentences": len(gold.corpus.items),
        "cells": cells,
        "types": types,
    }


def _official_counts(gold: GoldMwes, predicted: PredictedMwes, side: Side) -> dict[Cell, Counts] | None:
    """Return the counts by the prediction's own lemmas; None if they equal those by gold's."""
    official = describe(gold, predicted.mwes, predicted.lemmas, known=side)
    same = all(map(is_, official.described.values(), side.described.values()))
    return None if same else count(gold, official)


def macro_document(
    gold: AllGold, predicted: AllPredicted, tables: Mapping[str, Counted], *, absent_as_zero: bool = False
) -> dict[str, Any]:
    """Return the macro means for pages; null where a mean is undefined. tables: from `count_all`.

    `{"all": {"mwe": [P, R, F1], "token": …}, "views": {view: …}, "categories": {name: {"mwe": …, "token": …}},
    "diversity": {…}, "submitted": n, "of": n, "absent": "left-out" or "as-zero"}`; absent: how a language counts whose
    gold has no such MWE, see `counts.macro`.
    """
    means = macro_means(gold, tables, absent_as_zero=absent_as_zero)
    categories: dict[str, dict[str, Any]] = {}
    for (split, basis), mean in means.items():
        if split.startswith(CATEGORY):
            categories.setdefault(split.removeprefix(CATEGORY), {})[basis] = mean
    return {
        "all": {basis: means[ALL, basis] for basis in BASES},
        "views": {view: means[view, MWE_BASED] for view in VIEWS},
        "categories": categories,
        "diversity": macro_diversity(tables, predicted),
        "submitted": len(predicted),
        "of": len(gold),
        "absent": "as-zero" if absent_as_zero else "left-out",
    }
