"""A valid submission from a model's vectors of the probing items: a tensor for each language, setting and level."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from evergold.baselines.baseline import read_rows
from evergold.probe.model import SUFFIXES, ContextualModel, Marked, Model, StaticModel
from evergold.scoring.probing.items import ITEM_COLUMNS, LEVELS, SETTING_OF
from evergold.scoring.task import read_options
from evergold.scoring.tasks import get_task

TASK = "idiomaticity-probing"


def load_model(name: str, layer: int | None = None, device: str = "cpu") -> Model:
    """Load word vectors from a file, or else an encoder; raises ScoringError if there is no such model."""
    path = Path(name)
    return StaticModel(path) if path.is_file() and path.suffix in SUFFIXES else ContextualModel(name, layer, device)


def write_probe(model: Model, items: Path, into: Path, options: Mapping[str, Any] | None = None) -> None:
    """Write `into`, an .npz, and check it as the server would.

    items: the blind file; options: those of the task, as the competition sets them. Raises InvalidItems,
    InvalidOptions, InvalidPrediction if the vectors cannot be compared, ScoringError, OSError.
    """
    task = get_task(TASK)
    chosen: Any = read_options(task, options)
    blind = task.read_items(items, chosen)
    parts: defaultdict[str, list[Marked]] = defaultdict(list)
    for row in read_rows(items, ITEM_COLUMNS):
        if row["language"] in chosen.languages:
            words, marks = row["sentence"].split(), row["nc"].split()
            compound = tuple(place for place, mark in enumerate(marks) if mark == "1")
            parts[f"{row['language']}/{SETTING_OF[row['context']]}"].append(Marked(tuple(words), compound))
    tensors = _tensors(model, parts, chosen.levels)
    into.parent.mkdir(parents=True, exist_ok=True)
    with into.open("wb") as file:
        np.savez(file, **tensors)
    task.read_prediction(into, blind, chosen)


def _tensors(model: Model, parts: Mapping[str, Sequence[Marked]], levels: Sequence[str]) -> dict[str, Any]:
    """Probe all distinct sentences at once, and return their vectors by part and in its order."""
    distinct = {
        marked: place for place, marked in enumerate(dict.fromkeys(m for found in parts.values() for m in found))
    }
    probed = model.probe(list(distinct))
    vectors = dict(zip(LEVELS, (probed.sentences, probed.compounds), strict=True))
    return {
        f"{part}/{level}": vectors[level][[distinct[marked] for marked in found]].astype(np.float16)
        for part, found in parts.items()
        for level in levels
    }
