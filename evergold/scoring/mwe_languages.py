"""All languages of a task together: their counts, the macro means, and the compact report for pages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from operator import is_
from typing import Any, NamedTuple

from evergold.scoring.cupt_prediction import PredictedMwes
from evergold.scoring.mwe import (
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
    describe,
    found_diversity,
    found_types,
    macro,
    outcomes,
)
from evergold.scoring.mwe_report import language_report

BASES = (MWE_BASED, TOKEN_BASED)
DIVERSITY = ("richness", "entropy", "evenness")

#: Gold of every language of the task, and what was submitted of them.
AllGold = Mapping[str, GoldMwes]
AllPredicted = Mapping[str, PredictedMwes]


class Counted(NamedTuple):
    """What was predicted in one language, and how much of it is right, in gold and predicted."""

    predicted: Side
    counts: Mapping[Cell, Counts]


def count_all(gold: AllGold, predicted: AllPredicted) -> dict[str, Counted]:
    """The counts of every language; one not submitted has gold's, with nothing found and nothing predicted."""
    tables: dict[str, Counted] = {}
    for language, of_gold in gold.items():
        side = describe(of_gold, predicted[language].mwes if language in predicted else ())
        tables[language] = Counted(side, count(of_gold, side))
    return tables


def cells_of(tables: Sequence[Mapping[Cell, Counts]]) -> list[Cell]:
    """What is scored, in order: global, every view, and every category that occurs in any of the tables."""
    categories = sorted({split for table in tables for split, _ in table if split.startswith(CATEGORY)})
    return [
        *((ALL, basis) for basis in BASES),
        *((view, MWE_BASED) for view in VIEWS),
        *((category, basis) for category in categories for basis in BASES),
    ]


def macro_means(
    gold: AllGold, tables: Mapping[str, Counted], *, absent_as_zero: bool = False
) -> dict[Cell, tuple[float, float, float] | None]:
    """Mean P, mean R and their F1 of every cell, see `mwe.macro`; None where gold has nothing of the kind anywhere.

    absent_as_zero: as for `mwe.macro`. A language without training data stays out of the views that compare with it. A
    category that only predictions have is left out altogether.
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


def macro_diversity(gold: AllGold, predicted: AllPredicted) -> dict[str, float]:
    """Mean richness, entropy and evenness over all languages; 0 for one not submitted or where it is undefined."""
    found = [found_diversity(gold[language], one.mwes) for language, one in predicted.items()]
    return {name: sum(getattr(one, name) or 0.0 for one in found) / len(gold) for name in DIVERSITY}


def language_document(gold: GoldMwes, predicted: PredictedMwes | None, counted: Counted) -> dict[str, Any] | None:
    """The report of one language, see `mwe_report.language_report`; None where it was not submitted.

    counted: what `count_all` has for it.
    """
    if predicted is None:
        return None
    official = _official_counts(gold, predicted, counted.predicted) if gold.training else None
    found = found_diversity(gold, predicted.mwes)
    return language_report(counted.counts, found, with_training=gold.training is not None, official=official)


def language_outcomes(gold: GoldMwes, predicted: PredictedMwes | None, counted: Counted) -> dict[str, Any]:
    """The outcomes of one language; where it was not submitted, nothing is predicted. counted: as for its report."""
    mwes = predicted.mwes if predicted is not None else ()
    cells: dict[str, dict[str, list[Outcome]]] = {}
    for (split, basis), rows in outcomes(gold, counted.predicted).items():
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
    """The counts by the lemmas that the prediction itself has; None where they are gold's."""
    official = describe(gold, predicted.mwes, predicted.lemmas, known=side)
    same = all(map(is_, official.described.values(), side.described.values()))
    return None if same else count(gold, official)


def macro_document(
    gold: AllGold, predicted: AllPredicted, tables: Mapping[str, Counted], *, absent_as_zero: bool = False
) -> dict[str, Any]:
    """The macro means as `{"all": {"mwe": [P, R, F1], "token": …}, "views": {view: …}, "categories": {name: {"mwe": …,
    "token": …}}, "diversity": {…}, "submitted": n, "of": n}`; null where a mean is undefined. tables: of `count_all`.
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
        "diversity": macro_diversity(gold, predicted),
        "submitted": len(predicted),
        "of": len(gold),
    }
