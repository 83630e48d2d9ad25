"""Paraphrases of sentences: units are the items of a language, drawn within it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from evergold.scoring.correlation import Floats
from evergold.scoring.paraphrase_languages import BERTSCORE, DIVERSITY, MACRO, METRIC_NAMES, REMOVED, TYPE, splits_of
from evergold.scoring.resampling.blocks import collect
from evergold.scoring.resampling.formulas import diversity
from evergold.scoring.resampling.parts import Sums
from evergold.scoring.resampling.sample import Derived, Sample
from evergold.scoring.resampling.units import Positions, Units, group_items
from evergold.scoring.samples.tables import mean_sums
from evergold.scoring.settings import ALL


def sample(outcomes: Mapping[str, Any]) -> Sample:
    """The scores of the submitted languages and, for gold in folders, of macro. See `tasks.mwe_paraphrase.outcomes`."""
    languages: Mapping[str, Mapping[str, Any]] = outcomes["languages"]
    names = [f"{name}/{id_}" for name, one in languages.items() for id_ in one["items"]]
    units, places = group_items(names, [name.partition("/")[0] for name in names])
    parts, start = list[Sums](), 0
    for name, one in languages.items():
        of_language = places[start : start + len(one["items"])]
        start += len(one["items"])
        if one["predicted"] is not None:
            for split in splits_of(outcomes["types"]):
                parts += _parts(name, split, one, units, of_language)
    if not outcomes["in_folders"]:
        return Sample(units, tuple(parts))
    means = [_mean_of(outcomes, metric, split) for split in splits_of(outcomes["types"]) for metric in METRIC_NAMES]
    submitted = float(sum(one["predicted"] is not None for one in languages.values()))
    return Sample(units, tuple(parts), tuple(mean for mean in means if mean.inputs), {("languages", MACRO): submitted})


def _parts(name: str, split: str, language: Mapping[str, Any], units: Units, places: Positions) -> list[Sums]:
    where = _members(language, split)
    if not len(where):
        return []
    predicted, root = language["predicted"], name if split == ALL else f"{name}/{split}"
    values = [np.array(predicted[metric], dtype=np.float64)[where] for metric in (BERTSCORE, REMOVED)]
    means = mean_sums((BERTSCORE, REMOVED), root, values, len(units), places[where])
    new = [(place, word) for place in where.tolist() for word in predicted["new_words"][place]]
    words = sorted({word for _, word in new})
    number = {word: column for column, word in enumerate(words)}
    columns = np.array([number[word] for _, word in new], dtype=np.intp)
    block = collect(len(units), len(words), places[[place for place, _ in new]], columns)
    names = tuple((metric, root) for metric in DIVERSITY)
    keys = tuple((name, word) for word in words)
    return [means, Sums(names, (block,), diversity, keys, kinds_by_label=1)]


def _members(language: Mapping[str, Any], split: str) -> Positions:
    if split == ALL:
        return np.arange(len(language["items"]))
    kind = split.removeprefix(TYPE)
    return np.array([place for place, name in enumerate(language["mwe_types"]) if name == kind], dtype=np.intp)


def _mean_of(outcomes: Mapping[str, Any], metric: str, split: str) -> Derived:
    """Over the languages whose gold has such an item, what is undefined or was not entered counting 0."""
    tail = "" if split == ALL else f"/{split}"
    having = [name for name, one in outcomes["languages"].items() if len(_members(one, split))]
    return Derived(((metric, MACRO + tail),), tuple((metric, name + tail) for name in having), _mean_with_zeros)


def _mean_with_zeros(values: Floats) -> Floats:
    found: Floats = np.nan_to_num(values).mean(axis=-1, keepdims=True)
    return found
