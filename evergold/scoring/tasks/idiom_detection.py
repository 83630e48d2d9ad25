"""idiom-detection: is the expression in this sentence idiomatic? SemEval-2022 Task 2 Subtask A; AStitch Task 1.

Items: CSV with ID, Language (other columns are ignored).
Gold: CSV with ID, Language, Label.
Prediction: CSV `ID,Language,Setting,Label`, each item once per setting; a setting may be left out altogether, but never
half-filled.
Score: macro-F1 over the labels and accuracy, per setting and language and, as `all`, pooled over the languages' items
(not the mean of the languages).
Source: Tayyar Madabushi et al. 2022, §4.1, and the task's evaluation script.
Deviations: the script scores a partial file on its own subset and cannot see duplicates; here both are rejected. Labels
that occur in neither gold nor prediction do not enter the mean (see `f1.macro_f1`), as in the script.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import numpy.typing as npt
from pydantic import AfterValidator, Field

from evergold.scoring.archives import read_single
from evergold.scoring.characters import LookAlikes
from evergold.scoring.errors import InvalidFile, InvalidGold, InvalidItems, Problems, quoted
from evergold.scoring.f1 import Counts, accuracy, confusion, macro_f1
from evergold.scoring.halves import Keep, kept_clusters, kept_places
from evergold.scoring.option_types import ALL, SettingNames, Texts
from evergold.scoring.samples.idiom_detection import sample
from evergold.scoring.tables.entries import ValueColumn, read_entries
from evergold.scoring.tables.reading import read_table
from evergold.scoring.tables.settings import (
    Items,
    Positions,
    Prediction,
    SettingOptions,
    clusters_document,
    empty_submission,
    kept_splits,
    label_results,
    language_splits,
    note_clusters,
    note_items,
    order_of,
    read_blind,
    setting_columns,
    with_clusters,
)
from evergold.scoring.task import NOT_ENTERED, Column, ItemResult, Metric, Score, Task, signature

NAME, VERSION = "idiom-detection", 1


def _writable(labels: tuple[str, ...]) -> tuple[str, ...]:
    for label in labels:
        if not label or label != label.strip() or not label.isprintable():
            raise ValueError(f"{label!r} cannot be a label: it is empty, has spaces around it or is unprintable")
    return labels


class Options(SettingOptions):
    """settings: their names, as written in the column Setting; languages: the allowed languages (None: those of the
    gold); resample_by: a gold column whose rows with the same value belong together, for intervals and comparisons;
    labels: the allowed values of Label, as text.
    """

    settings: SettingNames = ("zero_shot", "one_shot")
    labels: Annotated[Texts, AfterValidator(_writable), Field(min_length=2, max_length=1000)] = ("0", "1")


@dataclass(frozen=True)
class Gold:
    """n items, their label numbers (positions in `options.labels`), the indices of each split's items, and their
    clusters.
    """

    items: Items
    labels: npt.NDArray[np.intp]
    splits: dict[str, Positions]
    clusters: tuple[str, ...] | None = None


def read_items(path: Path, options: Options) -> Items:
    """Read the items in the order of the blind file, or by id if `path` is gold; raises InvalidItems."""
    _, data = read_single(path, error=InvalidItems)
    items = read_blind(data, options.languages, answer_column="Label")
    return _parse_gold(data, options, InvalidItems).items.in_order_of_id() if items is None else items


def read_gold(path: Path, options: Options) -> Gold:
    """Read the gold labels in file order; raises InvalidGold on duplicate ids, other labels, undeclared languages, …"""
    _, data = read_single(path, error=InvalidGold)
    return _parse_gold(data, options, InvalidGold)


def items_of(gold: Gold, options: Options) -> Items:
    """Return the gold's items, sorted by id: the file's order could reveal something about the labels."""
    return gold.items.in_order_of_id()


def read_prediction(path: Path, items: Items, options: Options) -> Prediction:
    """Read the label numbers per setting, in items' order; raises InvalidPrediction with every problem of the file.

    A Label must be one of `options.labels` character by character: `1.0` and ` 1` are reported, not repaired.
    """
    return read_entries(path, items, options.settings, _label_column(options))


def score(gold: Gold, prediction: Prediction, options: Options) -> list[Score]:
    """Compute macro_f1 and accuracy, both in [0, 1], for `<setting>/all` and every `<setting>/<language>`, in this
    order.

    None with NOT_ENTERED for a setting without labels. Raises InvalidGold if the prediction was checked against an
    items file that lacks items of the gold.
    """
    order = order_of(gold.items, prediction.items)
    scores: list[Score] = []
    for setting in options.settings:
        values = prediction.values[setting]
        if values is not None and order is not None:
            values = values[order]
        for split, places in gold.splits.items():
            counts = None
            if values is not None:
                counts = confusion(gold.labels[places], values[places], len(options.labels))
            scores += _scores_of(f"{setting}/{split}", counts, _pooled(gold, split), options)
    return scores


def outcomes(gold: Gold, prediction: Prediction, options: Options) -> dict[str, Any]:
    """Return the outcomes per item, in gold's order, with `settings.clusters_document`.

    `{"items": ids, "languages": …, "labels": the options', "gold": label numbers, "predicted": {setting: label numbers,
    or null if it was not entered}}`. Raises InvalidGold as `score` does.
    """
    order = order_of(gold.items, prediction.items)
    predicted = {
        setting: None if values is None else (values if order is None else values[order]).tolist()
        for setting, values in prediction.values.items()
    }
    return {
        "items": list(gold.items.ids),
        "languages": [language.lower() for language in gold.items.languages],
        "labels": list(options.labels),
        "gold": gold.labels.tolist(),
        "predicted": predicted,
        **clusters_document(options.resample_by, gold.clusters),
    }


def item_results(gold: Gold, prediction: Prediction, options: Options) -> list[ItemResult]:
    """Return per entered setting and item, in gold's order, the labels as written, and whether they are the same.

    Raises InvalidGold as `score` does.
    """
    return label_results(gold.items, gold.labels, prediction, options.settings, options.labels)


def part(gold: Gold, prediction: Prediction, keep: Keep) -> tuple[Gold, Prediction]:
    """Return the gold of the kept items, and the prediction unchanged: it may contain further items."""
    kept = kept_places(gold.items.ids, gold.clusters, keep)
    labels, clusters = gold.labels[kept], kept_clusters(gold.clusters, kept)
    return Gold(gold.items.only(kept), labels, kept_splits(gold.splits, kept), clusters), prediction


def columns(options: Options) -> tuple[Column, ...]:
    """Return every metric of every setting over all languages, and of the declared languages."""
    return setting_columns(METRICS, options)


def template(items: Items, options: Options) -> str:
    """Return the empty submission: every item once per setting."""
    return empty_submission(items, options.settings, "Label")


def _scores_of(split: str, counts: Counts | None, pooled: tuple[str, ...], options: Options) -> list[Score]:
    """Return the metrics of one split; counts: None if the setting was not entered."""

    def scored(metric: str, value: float | None, **parts: object) -> Score:
        signed = signature(NAME, VERSION, metric, split, labels=options.labels, languages=pooled, **parts)
        return Score(metric, split, value, None if value is not None else NOT_ENTERED, signed)

    f1, right = (macro_f1(counts), accuracy(counts)) if counts is not None else (None, None)
    return [scored("macro_f1", f1, average="labels-present"), scored("accuracy", right)]


def _pooled(gold: Gold, split: str) -> tuple[str, ...]:
    return tuple(name for name in gold.splits if name != ALL) if split == ALL else (split,)


def _parse_gold(data: bytes, options: Options, error: type[InvalidFile]) -> Gold:
    problems = Problems()
    wanted = with_clusters(["ID", "Language", "Label"], options.resample_by)
    table = read_table(data, wanted, problems, others=True)
    if table is None:
        raise error(problems.errors, problems.omitted)
    items = note_items(table, options.languages, problems)
    clusters = note_clusters(table, options.resample_by, problems)
    number = {label: place for place, label in enumerate(options.labels)}
    for line, label in zip(table.lines, table["Label"], strict=True):
        if label not in number:
            message = f"{quoted(label)} is not one of the labels {', '.join(options.labels)}"
            message += LookAlikes(options.labels).hint(label)
            problems.add("bad-value", message, line=line, column="Label", text=label)
    problems.raise_if_any(error)
    labels = np.array([number[label] for label in table["Label"]], dtype=np.intp)
    return Gold(items, labels, language_splits(items.languages, options.languages), clusters)


def _label_column(options: Options) -> ValueColumn:
    number = {label: place for place, label in enumerate(options.labels)}
    allowed = " or ".join((", ".join(options.labels[:-1]), options.labels[-1]))

    def explain(text: str) -> str:
        meant = next((m for m in (text.strip(), text.strip().removesuffix(".0")) if m in number), None)
        hint = f"; write {meant}, without spaces or decimals" if meant else LookAlikes(number).hint(text)
        return f"invalid label {quoted(text)}: expected {allowed}{hint}"

    return ValueColumn("Label", np.intp, number.get, explain, other_task=("idiom-similarity", "Sim"))


METRICS = {
    "macro_f1": Metric(
        "macro_f1", "Macro F1", "The mean of the F1 scores of the labels; all languages' items are pooled under `all`."
    ),
    "accuracy": Metric("accuracy", "Accuracy", "The share of the items whose label is right.", is_share=True),
}

TASK = Task(
    name=NAME,
    version=VERSION,
    title="Idiomaticity detection",
    summary="Is the expression used idiomatically in this sentence? One label per item and setting, macro F1.",
    options=Options,
    metrics=METRICS,
    columns=columns,
    read_items=read_items,
    read_gold=read_gold,
    items_of=items_of,
    demands=Items.demands,
    read_prediction=read_prediction,
    score=score,
    outcomes=outcomes,
    sample=sample,
    item_results=item_results,
    part=part,
    template=template,
)
