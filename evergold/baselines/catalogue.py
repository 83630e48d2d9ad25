"""All baselines by task type; `write_baseline` writes the submission of one, checked as the server would check it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from evergold.baselines import (
    label_sets,
    labels,
    meanings,
    mwes,
    paraphrases,
    probing,
    rankings,
    similarities,
    spans,
    tables,
)
from evergold.baselines.baseline import Baseline, UnknownBaseline
from evergold.scoring.task import read_options
from evergold.scoring.tasks import get_task

#: By task type; the first of each is the recommended one.
BASELINES: Mapping[str, Sequence[Baseline]] = {
    "idiom-detection": labels.BASELINES,
    "idiom-similarity": similarities.BASELINES,
    "meaning-matching": meanings.BASELINES,
    "idiomaticity-probing": probing.BASELINES,
    "mwe-identification": mwes.BASELINES,
    "mwe-paraphrase": paraphrases.BASELINES,
    "table": tables.BASELINES,
    "text-generation": tables.BASELINES_OF_TEXTS,
    "multi-label": label_sets.BASELINES,
    "ranking": rankings.BASELINES,
    "sequence-labelling": spans.BASELINES,
}


def first_baseline(task: str, options: Mapping[str, Any] | None = None) -> Baseline | None:
    """Return the first baseline without training data for a task with these options; None if there is none."""
    known = [baseline for baseline in BASELINES.get(task, ()) if not baseline.learns]
    chosen = read_options(get_task(task), options) if known else None
    return next((baseline for baseline in known if baseline.fits(chosen)), None)


def find_baseline(task: str, name: str) -> Baseline:
    """Return a baseline of a task type by its name; raises UnknownTask, UnknownBaseline."""
    known = BASELINES.get(get_task(task).name, ())
    found = next((baseline for baseline in known if baseline.name == name), None)
    if found is None:
        names = ", ".join(baseline.name for baseline in known) or "none"
        raise UnknownBaseline(f"{task} has no baseline '{name}'; it has {names}")
    return found


def write_baseline(
    task: str,
    name: str,
    items: Path,
    into: Path,
    training: Sequence[Path] = (),
    options: Mapping[str, Any] | None = None,
) -> None:
    """Write the submission of a baseline, and check it as the server would.

    items: the blind file, as everybody downloads it; training: labelled data, for baselines that learn; options: those
    of the task, as the competition sets them. Raises UnknownTask, UnknownBaseline (also if the baseline does not suit
    these options), InvalidOptions, InvalidItems if the items or the training data cannot be used, OSError.
    """
    baseline, type_ = find_baseline(task, name), get_task(task)
    chosen = read_options(type_, options)
    if not baseline.fits(chosen):
        raise UnknownBaseline(f"'{name}' is not a baseline for a {task} with these options")
    blind = type_.read_items(items, chosen)
    content = baseline.predict(items, training, chosen)
    into.parent.mkdir(parents=True, exist_ok=True)
    into.write_bytes(content)
    type_.read_prediction(into, blind, chosen)
