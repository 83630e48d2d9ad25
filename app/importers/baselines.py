"""Baselines of an imported task: their files and declarations, with scores if the gold is known."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from app.importers.writing import Inline
from evergold.baselines.catalogue import find_baseline, write_baseline
from evergold.scoring.task import read_options
from evergold.scoring.tasks import get_task

#: Decimals on boards, and in comparisons by `evergold check --gold`.
DECIMALS = 4


@dataclass(frozen=True, slots=True)
class BaselineRequest:
    """Baselines to create for a task in a phase.

    - type: the task type; options: in this phase.
    - items: the blind file or folder.
    - training: files for baselines that learn, which are omitted if it is empty.
    - gold: to compute scores, if available.
    - ranked: the scores that rank boards, as (metric, split).
    """

    type: str
    names: Sequence[str]
    options: Mapping[str, Any]
    items: Path
    training: Sequence[Path] = ()
    gold: Path | None = None
    ranked: Sequence[tuple[str, str]] = field(default=())


def add_baselines(request: BaselineRequest, target: Path, folder: str) -> tuple[list[Path], list[dict[str, Any]]]:
    """Write the files below `target`/`folder`; return their paths, and the value of `baselines` for the phase task."""
    written, declared = [], []
    for name in request.names:
        baseline = find_baseline(request.type, name)
        if baseline.learns and not request.training:
            continue
        file = f"{folder}/{name}{baseline.suffix}"
        path = target / file
        training = request.training if baseline.learns else ()
        write_baseline(request.type, name, request.items, path, training, request.options)
        row: dict[str, Any] = {"name": _title(name), "file": file, "method": baseline.summary}
        if scores := _scores(request, path):
            row["scores"] = Inline(scores)
        written.append(path)
        declared.append(row)
    return written, declared


def _title(name: str) -> str:
    """Return the title of a baseline, such as `Word overlap`."""
    return name.replace("-", " ").capitalize()


def _scores(request: BaselineRequest, path: Path) -> dict[str, float]:
    """Return the scores that rank boards, without undefined ones."""
    if request.gold is None:
        return {}
    type_ = get_task(request.type)
    options = read_options(type_, request.options)
    gold = type_.read_gold(request.gold, options)
    prediction = type_.read_prediction(path, type_.read_items(request.items, options), options)
    found = {(score.metric, score.split): score.value for score in type_.score(gold, prediction, options)}
    return {f"{metric} {split}": round(value, DECIMALS) for (metric, split), value in _defined(found, request.ranked)}


def _defined(
    found: Mapping[tuple[str, str], float | None], ranked: Iterable[tuple[str, str]]
) -> list[tuple[tuple[str, str], float]]:
    pairs = ((place, found.get(place)) for place in ranked)
    return [(place, value) for place, value in pairs if value is not None]
