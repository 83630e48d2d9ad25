"""All languages of a task together: their counts, the macro means, and the compact report for pages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from scoring.cupt_prediction import PredictedMwes
from scoring.mwe import (
    ALL,
    CATEGORY,
    MWE_BASED,
    TOKEN_BASED,
    TRAINING_VIEWS,
    VIEWS,
    Cell,
    Counts,
    GoldMwes,
    found_diversity,
    macro,
    outcomes,
    total,
)
from scoring.mwe_report import language_report

BASES = (MWE_BASED, TOKEN_BASED)
DIVERSITY = ("richness", "entropy", "evenness")

#: Gold of every language of the task, and what was submitted of them.
AllGold = Mapping[str, GoldMwes]
AllPredicted = Mapping[str, PredictedMwes]


def count_all(gold: AllGold, predicted: AllPredicted) -> dict[str, dict[Cell, Counts]]:
    """The counts of every language; one not submitted has gold's, with nothing found and nothing predicted."""
    return {
        language: total(outcomes(of_gold, predicted[language].mwes if language in predicted else ()))
        for language, of_gold in gold.items()
    }


def cells_of(tables: Sequence[Mapping[Cell, Counts]]) -> list[Cell]:
    """What is scored, in order: global, every view, and every category that occurs in any of the tables."""
    categories = sorted({split for table in tables for split, _ in table if split.startswith(CATEGORY)})
    return [
        *((ALL, basis) for basis in BASES),
        *((view, MWE_BASED) for view in VIEWS),
        *((category, basis) for category in categories for basis in BASES),
    ]


def macro_means(
    gold: AllGold, tables: Mapping[str, Mapping[Cell, Counts]]
) -> dict[Cell, tuple[float, float, float] | None]:
    """Mean P, mean R and their F1 of every cell, see `mwe.macro`; None where gold has nothing of the kind anywhere.

    A language without training data stays out of the views that compare with it. A category that only predictions have
    is left out altogether.
    """
    means: dict[Cell, tuple[float, float, float] | None] = {}
    for cell in cells_of(list(tables.values())):
        compares = cell[0] in TRAINING_VIEWS
        counts = [table.get(cell) for name, table in tables.items() if not compares or gold[name].training is not None]
        mean = macro(counts)
        if mean is not None or not cell[0].startswith(CATEGORY):
            means[cell] = mean
    return means


def macro_diversity(gold: AllGold, predicted: AllPredicted) -> dict[str, float]:
    """Mean richness, entropy and evenness over all languages; 0 for one not submitted or where it is undefined."""
    found = [found_diversity(gold[language], one.mwes) for language, one in predicted.items()]
    return {name: sum(getattr(one, name) or 0.0 for one in found) / len(gold) for name in DIVERSITY}


def language_document(gold: GoldMwes, predicted: PredictedMwes | None) -> dict[str, Any] | None:
    """The report of one language, see `mwe_report.language_report`; None where it was not submitted."""
    if predicted is None:
        return None
    counts = total(outcomes(gold, predicted.mwes))
    official = total(outcomes(gold, predicted.mwes, predicted.lemmas)) if gold.training else None
    found = found_diversity(gold, predicted.mwes)
    return language_report(counts, found, with_training=gold.training is not None, official=official)


def macro_document(gold: AllGold, predicted: AllPredicted) -> dict[str, Any]:
    """The macro means as `{"all": {"mwe": [P, R, F1], "token": …}, "views": {view: …}, "categories": {name: {"mwe": …,
    "token": …}}, "diversity": {…}, "submitted": n, "of": n}`; null where a mean is undefined."""
    means = macro_means(gold, count_all(gold, predicted))
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
