"""multi-label: any number of labels per id.

Every file is CSV, TSV or JSON lines, detected by content.
Items: the id column (others are ignored).
Gold: ids and the value column (others are ignored), whose cells contain labels with a separator between them; an empty
cell has no labels; in JSON lines, cells may be lists.
Prediction: exactly these two columns, every id once.
Scores: F1 over labels, micro and macro, and over items; the share of items with exactly the right labels; F1 of every
label.
Source: scikit-learn's definitions of `f1_score` and `accuracy_score` for multi-label data.
Deliberate: macro is the mean over the labels that occur in gold or prediction, as in the task type `table`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from math import isnan
from pathlib import Path
from typing import Any, Literal, Self

from pydantic import Field, model_validator

from evergold.scoring.archives import read_single
from evergold.scoring.characters import LookAlikes
from evergold.scoring.errors import (
    InvalidFile,
    InvalidGold,
    InvalidItems,
    InvalidPrediction,
    Problem,
    Problems,
    quoted,
)
from evergold.scoring.gold_values import note_labels
from evergold.scoring.halves import Keep, kept_clusters, kept_places
from evergold.scoring.multi_label import equal_sets, item_f1, label_counts, label_sets, micro_macro_f1
from evergold.scoring.option_types import Texts
from evergold.scoring.samples.multi_label import sample
from evergold.scoring.tables.forms import read_any_table
from evergold.scoring.tables.row_problems import RowProblems
from evergold.scoring.tables.rows import Items, check_ids, match_ids, read_blind_ids, values_in_order
from evergold.scoring.tables.settings import clusters_document, listed, note_clusters, unfilled, with_clusters
from evergold.scoring.task import Column, ItemResult, Metric, Options, Score, Task, signature
from evergold.scoring.undeclared import advice as advice_on, note_undeclared

NAME, VERSION = "multi-label", 1
ALL, LABEL = "all", "label/"
NO_LABEL = "neither gold nor prediction has a label"
_SPLIT = re.compile(r"[^\s/|,]{1,60}")

Labels = tuple[str, ...]


class MultiLabelOptions(Options):
    """Options of the task type.

    id, value: the columns' names; gold_value: the name of the value column in gold (None: the same); separator: the
    text between labels; labels: the allowed ones (None: any, with a warning); both_empty: the samples F1 of an item
    without labels in gold and prediction (scikit-learn's zero_division); rank_by: which score is the first column;
    resample_by: a gold column whose items with the same value belong together, for intervals and comparisons; no score
    depends on it.
    """

    id: str = Field("id", min_length=1)
    value: str = Field("labels", min_length=1)
    gold_value: str | None = Field(None, min_length=1)
    separator: str = Field("|", min_length=1, max_length=1, pattern=r"[^\s,\"]")
    labels: Texts | None = None
    both_empty: Literal[0, 1] = 0
    rank_by: Literal["micro_f1", "macro_f1", "samples_f1", "subset_accuracy"] = "micro_f1"
    resample_by: str | None = Field(None, min_length=1)

    @model_validator(mode="after")
    def _fits_together(self) -> Self:
        if self.id in (self.value, self.gold_value):
            raise ValueError("id and value must be different columns")
        for label in self.labels or ():
            if not _SPLIT.fullmatch(label) or self.separator in label:
                raise ValueError(
                    f"{quoted(label)} cannot be a label: 1 to 60 characters, no spaces, commas, / or |, no separator"
                )
        return self

    @property
    def answer(self) -> str:
        """The name of gold's value column."""
        return self.value if self.gold_value is None else self.gold_value


@dataclass(frozen=True)
class Gold:
    """n ids and the labels of each.

    items.labels: all labels, sorted unless declared.
    clusters: the cluster of each item, its value in the column `resample_by`.
    """

    items: Items
    values: tuple[Labels, ...]
    clusters: tuple[str, ...] | None = None


@dataclass(frozen=True)
class Prediction:
    """A checked prediction: the labels of each id."""

    values: dict[str, Labels]
    warnings: tuple[Problem, ...] = ()


def read_items(path: Path, options: MultiLabelOptions) -> Items:
    """Read the ids of the blind file in its order, or of gold, sorted; raises InvalidItems."""
    _, data = read_single(path, error=InvalidItems)
    lists = {options.answer: options.separator}
    items = read_blind_ids(data, options.id, options.answer, options.labels, lists)
    return items_of(_parse_gold(data, options, InvalidItems), options) if items is None else items


def read_gold(path: Path, options: MultiLabelOptions) -> Gold:
    """Read the labels of each id in file order; raises InvalidGold with every problem."""
    return _parse_gold(read_single(path, error=InvalidGold)[1], options, InvalidGold)


def items_of(gold: Gold, options: MultiLabelOptions) -> Items:
    """Return the gold's ids, sorted: the file's order could reveal something about the labels.

    Only declared labels are included: gold's own are never revealed, not even by a list of expected ones.
    """
    return Items(gold.items.in_order_of_id().ids, options.labels)


def read_prediction(path: Path, items: Items, options: MultiLabelOptions) -> Prediction:
    """Read the labels of every id; raises InvalidPrediction with every problem of the file."""
    _, data = read_single(path)
    problems, faults = Problems(), RowProblems()
    lists = {options.value: options.separator}
    table = read_any_table(data, [options.id, options.value], problems, lists=lists)
    if table is None:
        raise InvalidPrediction(problems.errors, problems.omitted)
    values, written = {}, list[tuple[int, str]]()
    for line, id_, cell in zip(table.lines, table[options.id], table[options.value], strict=True):
        values[id_] = _labels(cell, items.labels, options, line, options.value, faults)
        written += ((line, label) for label in values[id_])
    if options.labels is None:
        note_labels(written, options.value, None, faults)
    match_ids(table, options.id, items.ids, faults, problems)
    problems.raise_if_any()
    if options.labels is None:
        note_undeclared((label for own in values.values() for label in own), "label", options.value, problems)
    return Prediction(values, tuple(problems.warnings))


def score(gold: Gold, prediction: Prediction, options: MultiLabelOptions) -> list[Score]:
    """Compute micro, macro and samples F1 and subset accuracy over all items, then F1 of every label, in [0, 1].

    Undefined: a label's F1 if it occurs on neither side. Labels that only a prediction has count as errors, and have no
    score of their own. Raises InvalidGold if the prediction was checked against an items file that lacks items of the
    gold.
    """
    names, theirs, ours = _numbered(gold, prediction)
    sets = label_sets(theirs, ours, len(names))
    counts = label_counts(sets)
    micro, macro = micro_macro_f1(counts).tolist()
    samples = float(item_f1(sets, options.both_empty).mean())
    found = {"micro_f1": micro, "macro_f1": macro, "samples_f1": samples}
    found |= {"subset_accuracy": float(equal_sets(sets).mean())}
    scores = [_score(metric, ALL, value, _parts(metric, options), NO_LABEL) for metric, value in found.items()]
    for place, label in enumerate(gold.items.labels or ()):
        hits, of_gold, of_ours = counts[place :: len(names)].tolist()
        value = 2 * hits / (of_gold + of_ours) if of_gold + of_ours else float("nan")
        scores.append(_score("label_f1", LABEL + label, value, {}, "neither gold nor prediction has this label"))
    return scores


def outcomes(gold: Gold, prediction: Prediction, options: MultiLabelOptions) -> dict[str, Any]:
    """Return the outcomes per item, in gold's order.

    `{"items": ids, "labels": names, "of_gold": how many labels, counted from the first, have a score, "gold": numbers
    of each item's labels, "predicted": …, "both_empty": option}`. Raises InvalidGold as `score` does.
    """
    names, theirs, ours = _numbered(gold, prediction)
    of_gold, sides = len(gold.items.labels or ()), {"gold": theirs, "predicted": ours}
    shape = {"items": list(gold.items.ids), "labels": names, "of_gold": of_gold, "both_empty": options.both_empty}
    return {**shape, **sides, **clusters_document(options.resample_by, gold.clusters)}


def item_results(gold: Gold, prediction: Prediction, options: MultiLabelOptions) -> list[ItemResult]:
    """Return per item, in gold's order, its labels on both sides: right if they are the same.

    Raises InvalidGold as `score` does.
    """
    ours = values_in_order(gold.items, prediction.values)
    written = options.separator.join
    return [
        ItemResult(id_, (), written(sorted(own)), written(sorted(other)), is_right=set(own) == set(other))
        for id_, own, other in zip(gold.items.ids, gold.values, ours, strict=True)
    ]


def part(gold: Gold, prediction: Prediction, keep: Keep) -> tuple[Gold, Prediction]:
    """Return the gold of the kept items, and the prediction unchanged: it may contain further items."""
    kept = kept_places(gold.items.ids, gold.clusters, keep)
    values = tuple(gold.values[place] for place in kept)
    return Gold(gold.items.only(kept), values, kept_clusters(gold.clusters, kept)), prediction


def columns(options: MultiLabelOptions) -> tuple[Column, ...]:
    """Return the scores over all items, the one by which boards rank first, and F1 of every declared label."""
    names = sorted((name for name in METRICS if name != "label_f1"), key=lambda name: name != options.rank_by)
    of_all = tuple(Column(name, ALL, METRICS[name].title) for name in names)
    return of_all + tuple(Column("label_f1", LABEL + label, f"F1, {label}") for label in options.labels or ())


def advice(options: MultiLabelOptions) -> str | None:
    """Return the advice to declare the labels; None if they are declared."""
    return advice_on("labels", "label") if options.labels is None else None


def template(items: Items, options: MultiLabelOptions) -> str:
    """Return the empty submission: every id, no label."""
    return unfilled([options.id, options.value], ((id_, "") for id_ in items.ids))


def _score(metric: str, split: str, value: float, parts: dict[str, object], reason: str) -> Score:
    is_defined, signed = not isnan(value), signature(NAME, VERSION, metric, split, **parts)
    return Score(metric, split, value if is_defined else None, None if is_defined else reason, signed)


def _parts(metric: str, options: MultiLabelOptions) -> dict[str, object]:
    if metric == "samples_f1":
        return {"both_empty": options.both_empty}
    return {"labels": "present"} if metric == "macro_f1" else {}


def _numbered(gold: Gold, prediction: Prediction) -> tuple[list[str], list[list[int]], list[list[int]]]:
    """Return all labels, gold's first, and per item in gold's order the numbers of its gold and predicted labels."""
    ours = values_in_order(gold.items, prediction.values)
    names = dict.fromkeys([*(gold.items.labels or ()), *sorted({label for own in ours for label in own})])
    number = {label: place for place, label in enumerate(names)}
    theirs, predicted = ([[number[label] for label in own] for own in side] for side in (gold.values, ours))
    return list(names), theirs, predicted


def _parse_gold(data: bytes, options: MultiLabelOptions, error: type[InvalidFile]) -> Gold:
    problems, faults = Problems(), RowProblems()
    lists = {options.answer: options.separator}
    wanted = with_clusters([options.id, options.answer], options.resample_by)
    table = read_any_table(data, wanted, problems, others=True, lists=lists)
    if table is None:
        raise error(problems.errors, problems.omitted)
    check_ids(table, options.id, problems)
    clusters = note_clusters(table, options.resample_by, problems)
    values = tuple(
        _labels(cell, options.labels, options, line, options.answer, faults)
        for line, cell in zip(table.lines, table[options.answer], strict=True)
    )
    if options.labels is None:
        written = ((line, label) for line, own in zip(table.lines, values, strict=True) for label in own)
        note_labels(written, options.answer, "labels", faults)
    faults.report(problems)
    if not problems.errors and not any(values):
        problems.add("no-label", "no item has a label", column=options.answer)
    problems.raise_if_any(error)
    labels = options.labels or tuple(sorted({label for own in values for label in own}))
    return Gold(Items(tuple(table[options.id]), labels), values, clusters)


def _labels(
    cell: str, known: Sequence[str] | None, options: MultiLabelOptions, line: int, column: str, faults: RowProblems
) -> Labels:
    """Return the labels in a cell; their faults are reported."""
    if not cell:
        return ()
    labels = tuple(cell.split(options.separator))
    for label in labels:
        if known is not None and label not in known:
            shown = f"invalid label {quoted(label)}: expected one of {listed(known)}{LookAlikes(known).hint(label)}"
            faults.add("bad-value", shown, line, column, cell)
        elif not _SPLIT.fullmatch(label):
            message = f"{quoted(label)} cannot be a label: 1 to 60 characters, no spaces, commas, / or |"
            faults.add("bad-value", message, line, column, cell)
    if twice := next((label for label in labels if labels.count(label) > 1), None):
        faults.add("repeated-label", f"the label {quoted(twice)} occurs twice", line, column, cell)
    return labels


METRICS = {
    metric.name: metric
    for metric in (
        Metric("micro_f1", "Micro F1", "F1 of all labels of all items together."),
        Metric("macro_f1", "Macro F1", "The mean of the labels' F1, over those in gold or prediction."),
        Metric("samples_f1", "Samples F1", "The mean of the items' F1."),
        Metric(
            "subset_accuracy", "Subset accuracy", "The share of items with exactly the right labels.", is_share=True
        ),
        Metric("label_f1", "F1 of a label", "F1 of one label."),
    )
}

TASK = Task(
    name=NAME,
    version=VERSION,
    title="Multi-label",
    summary="Any number of labels per id: F1 over labels and over items, and the share of exactly right sets.",
    options=MultiLabelOptions,
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
    advice=advice,
)
