"""Paraphrases of sentences: units are the items of a language, drawn within it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from evergold.scoring.option_types import ALL, MACRO
from evergold.scoring.paraphrase.languages import BERTSCORE, DIVERSITY, METRIC_NAMES, REMOVED, TYPE, splits_of
from evergold.scoring.resampling.blocks import collect
from evergold.scoring.resampling.formulas import diversity
from evergold.scoring.resampling.parts import Sums
from evergold.scoring.resampling.sample import Derived, Sample
from evergold.scoring.resampling.units import Positions, group_items
from evergold.scoring.samples.tables import mean_sums, mean_with_zeros


def sample(outcomes: Mapping[str, Any]) -> Sample:
    """Return the scores of the submitted languages and, for gold in folders, of macro.

    See `tasks.mwe_paraphrase.outcomes`.
    """
    languages: Mapping[str, Mapping[str, Any]] = outcomes["languages"]
    names = [f"{name}/{id_}" for name, one in languages.items() for id_ in one["items"]]
    units, places = group_items(names, [name.partition("/")[0] for name in names])
    parts, start = list[Sums](), 0
    for name, one in languages.items():
        of_language = places[start : start + len(one["items"])]
        start += len(one["items"])
        for split in splits_of(outcomes["types"]):
            parts += _parts(name, split, one, of_language)
    left_out = {name for name, one in languages.items() if one["predicted"] is None}
    hidden = frozenset(name for part in parts for name in part.names if name[1].partition("/")[0] in left_out)
    if not outcomes["in_folders"]:
        return Sample(units, tuple(parts), hidden=hidden)
    means = [_mean_of(outcomes, metric, split) for split in splits_of(outcomes["types"]) for metric in METRIC_NAMES]
    submitted = float(sum(one["predicted"] is not None for one in languages.values()))
    means = [mean for mean in means if mean.inputs]
    return Sample(units, tuple(parts), tuple(means), {("languages", MACRO): submitted}, hidden)


def _parts(name: str, split: str, language: Mapping[str, Any], places: Positions) -> list[Sums]:
    """Return the scores of one split; a language that was not submitted has 0 for every item, and no words."""
    where = _members(language, split)
    if not len(where):
        return []
    root = name if split == ALL else f"{name}/{split}"
    predicted = language["predicted"] or _nothing(len(places))
    values = [np.array(predicted[metric], dtype=np.float64)[where] for metric in (BERTSCORE, REMOVED)]
    means = mean_sums((BERTSCORE, REMOVED), root, values, places[where])
    new = [(place, word) for place in where.tolist() for word in predicted["new_words"][place]]
    words = sorted({word for _, word in new})
    number = {word: column for column, word in enumerate(words)}
    columns = np.array([number[word] for _, word in new], dtype=np.intp)
    block = collect(len(words), places[np.array([place for place, _ in new], dtype=np.intp)], columns)
    names = tuple((metric, root) for metric in DIVERSITY)
    keys = tuple((name, word) for word in words)
    return [means, Sums(names, (block,), diversity, keys, kinds_by_label=1)]


def _nothing(items: int) -> dict[str, Any]:
    return {BERTSCORE: [0.0] * items, REMOVED: [0.0] * items, "new_words": [[]] * items}


def _members(language: Mapping[str, Any], split: str) -> Positions:
    if split == ALL:
        return np.arange(len(language["items"]))
    kind = split.removeprefix(TYPE)
    return np.array([place for place, name in enumerate(language["mwe_types"]) if name == kind], dtype=np.intp)


def _mean_of(outcomes: Mapping[str, Any], metric: str, split: str) -> Derived:
    """Return the mean over the languages whose gold has items of the split; undefined or missing counts as 0."""
    tail = "" if split == ALL else f"/{split}"
    having = [name for name, one in outcomes["languages"].items() if len(_members(one, split))]
    return Derived(((metric, MACRO + tail),), tuple((metric, name + tail) for name in having), mean_with_zeros)
