"""table: one label, number or text per id, for organisers who need no more. No code, only options.

Every file is CSV, TSV or JSON lines, detected by content.
Items: the id column (others are ignored).
Gold: ids, the value column (which may have another name than in predictions), and the columns of `groups` and
`references` (others are ignored).
Prediction: exactly the id and the value column, every id once.
Score: the chosen metrics (`tables.metrics`: scikit-learn, scipy, sacrebleu, rouge_score) over all items (`all`), within
each declared group (`language/en`), and, as `language/mean`, the unweighted mean over a column's groups.
Deliberate: all metrics of a task are of one kind, labels, numbers or texts, because that decides what a cell may hold;
a group mean is undefined as soon as one of its groups is.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

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
from evergold.scoring.gold_values import SPACES, note_labels, values_with_lines
from evergold.scoring.halves import Keep, kept_clusters, kept_places
from evergold.scoring.samples.table import sample
from evergold.scoring.slips import spaces_fault
from evergold.scoring.tables.forms import read_any_table
from evergold.scoring.tables.metrics import (
    METRICS,
    Found,
    TextSettings,
    TextStatistics,
    score_labels,
    score_numbers,
    score_statistics,
    score_texts,
    text_signature,
    text_statistics,
)
from evergold.scoring.tables.options import ALL, MEAN, TableOptions
from evergold.scoring.tables.reading import Table
from evergold.scoring.tables.row_problems import RowProblems
from evergold.scoring.tables.rows import Items, check_ids, match_ids, read_blind_ids, values_in_order
from evergold.scoring.tables.settings import clusters_document, kept_splits, note_clusters, unfilled, with_clusters
from evergold.scoring.tables.values import note_lengths, note_values
from evergold.scoring.task import TEXT_CHARACTERS, Column, ItemResult, Score, Task, signature
from evergold.scoring.undeclared import advice as advice_on, note_undeclared

NAME, VERSION = "table", 2

Positions = npt.NDArray[np.intp]
#: Statistics of each text, by metric.
Statistics = Mapping[str, TextStatistics]


@dataclass(frozen=True)
class Gold:
    """n ids and their values.

    references: the references of each id, with None in place of missing ones.
    splits: indices of each split's items.
    clusters: the cluster of each item, by `resample_by`.
    """

    items: Items
    values: tuple[str, ...]
    references: tuple[tuple[str | None, ...], ...]
    splits: Mapping[str, Positions]
    clusters: tuple[str, ...] | None = None


@dataclass(frozen=True)
class Prediction:
    """A checked prediction: a value for each id."""

    values: Mapping[str, str]
    warnings: tuple[Problem, ...] = ()


def read_items(path: Path, options: TableOptions) -> Items:
    """Read the ids of the blind file in its order, or of gold, sorted; raises InvalidItems."""
    _, data = read_single(path, error=InvalidItems)
    items = read_blind_ids(data, options.id, options.answer, options.labels)
    return items_of(_parse_gold(data, options, InvalidItems), options) if items is None else items


def read_gold(path: Path, options: TableOptions) -> Gold:
    """Read the gold values and groups in file order; raises InvalidGold with every problem."""
    _, data = read_single(path, error=InvalidGold)
    return _parse_gold(data, options, InvalidGold)


def items_of(gold: Gold, options: TableOptions) -> Items:
    """Return the gold's ids, sorted: the file's order could reveal something about the values.

    Only declared labels are included: gold's own are never revealed, not even by a list of expected ones.
    """
    return Items(gold.items.in_order_of_id().ids, options.labels)


def read_prediction(path: Path, items: Items, options: TableOptions) -> Prediction:
    """Read a value for every id; raises InvalidPrediction with every problem of the file."""
    _, data = read_single(path)
    problems, faults = Problems(), RowProblems()
    table = read_any_table(data, [options.id, options.value], problems)
    if table is None:
        raise InvalidPrediction(problems.errors, problems.omitted)
    note_values(table, options.value, items.labels, options, faults)
    if options.kind == "labels" and options.labels is None:
        note_labels(values_with_lines(table.lines, table[options.value]), options.value, None, faults)
    match_ids(table, options.id, items.ids, faults, problems)
    problems.raise_if_any()
    if options.kind == "labels" and options.labels is None:
        note_undeclared(table[options.value], "label", options.value, problems)
    return Prediction(dict(zip(table[options.id], table[options.value], strict=True)), tuple(problems.warnings))


def score(gold: Gold, prediction: Prediction, options: TableOptions) -> list[Score]:
    """Compute every metric for `all`, then for each group column its groups and their mean, in declared order.

    None with a reason if a metric is undefined (`tables.metrics`) or a group has no items. Raises InvalidGold if the
    prediction was checked against an items file that lacks items of the gold.
    """
    return scores_as(NAME, VERSION, gold, prediction, options)


def score_with_outcomes(
    gold: Gold, prediction: Prediction, options: TableOptions
) -> tuple[list[Score], dict[str, Any]]:
    """Return the scores and the outcomes of the items; for texts, both are computed from the same statistics."""
    statistics = statistics_of(gold, prediction, options)
    scores = scores_as(NAME, VERSION, gold, prediction, options, statistics)
    return scores, outcomes_of(gold, prediction, options, statistics)


def statistics_of(gold: Gold, prediction: Prediction, options: TableOptions) -> Statistics:
    """Return the statistics of each text for every metric, in gold's order; {} for labels and numbers.

    Raises InvalidGold as `score` does.
    """
    if options.kind != "texts":
        return {}
    predicted, settings = in_order_of(gold, prediction), _text_settings(options)
    return {name: text_statistics(name, gold.references, predicted, settings) for name in options.metrics}


def scores_as(
    name: str,
    version: int,
    gold: Gold,
    prediction: Prediction,
    options: TableOptions,
    statistics: Statistics | None = None,
) -> list[Score]:
    """Compute the scores. name, version: of the task type that signs them, which may be another one with the same
    metrics; statistics: from `statistics_of`.
    """
    predicted = in_order_of(gold, prediction)
    known = statistics_of(gold, prediction, options) if statistics is None else statistics
    scores: list[Score] = []
    for metric in options.metrics:
        parts = _signature_parts(metric, options)
        found = {
            split: _measure(metric, gold, predicted, where, options, known) for split, where in gold.splits.items()
        }
        for split in splits_of(options):
            column, _, group = split.partition("/")
            value, reason = group_mean(column, found, options) if group == MEAN else found[split]
            groups = {"groups": options.groups[column]} if group == MEAN else {}
            scores.append(
                Score(metric, split, value, reason, signature(name, version, metric, split, **parts, **groups))
            )
    return scores


def outcomes(gold: Gold, prediction: Prediction, options: TableOptions) -> dict[str, Any]:
    """Return the outcomes per item, in gold's order.

    `{"kind": …, "metrics": …, "items": ids, "groups": {column: {group: places}}}` with, for labels, `"labels": names,
    "gold": numbers of labels, "predicted": …`; for numbers `"gold"` and `"predicted"`; for texts `"statistics":
    {metric: see resampling.texts}`. Raises InvalidGold as `score` does.
    """
    return outcomes_of(gold, prediction, options, statistics_of(gold, prediction, options))


def outcomes_of(gold: Gold, prediction: Prediction, options: TableOptions, statistics: Statistics) -> dict[str, Any]:
    """Return the outcomes, given the texts' statistics."""
    predicted = in_order_of(gold, prediction)
    groups = {
        column: {group: gold.splits[f"{column}/{group}"].tolist() for group in of_column}
        for column, of_column in options.groups.items()
    }
    found = {"kind": options.kind, "metrics": list(options.metrics), "items": list(gold.items.ids), "groups": groups}
    compared = {"statistics": statistics} if options.kind == "texts" else _compared(gold, predicted, options)
    return found | compared | clusters_document(options.resample_by, gold.clusters)


def item_results(gold: Gold, prediction: Prediction, options: TableOptions) -> list[ItemResult]:
    """Return the results per item, in gold's order, with its groups as splits.

    Labels are right or wrong. Numbers have an error, predicted minus gold. Texts are cut to TEXT_CHARACTERS, and right
    or wrong only if `exact_match` is among the metrics; gold is the first reference. Raises InvalidGold as `score`.
    """
    predicted = in_order_of(gold, prediction)
    splits: list[list[str]] = [[] for _ in predicted]
    for split, places in gold.splits.items():
        for place in places.tolist() if split != ALL else ():
            splits[place].append(split)
    return [_item_result(gold, place, tuple(splits[place]), own, options) for place, own in enumerate(predicted)]


def _item_result(gold: Gold, place: int, splits: tuple[str, ...], own: str, options: TableOptions) -> ItemResult:
    id_, value = gold.items.ids[place], gold.values[place]
    if options.kind == "labels":
        return ItemResult(id_, splits, value, own, is_right=own == value)
    if options.kind == "numbers":
        return ItemResult(id_, splits, float(value), float(own), error=float(own) - float(value))
    is_right = None
    if "exact_match" in options.metrics:
        is_right = score_texts("exact_match", [gold.references[place]], [own], _text_settings(options))[0] == 1
    return ItemResult(id_, splits, value[:TEXT_CHARACTERS], own[:TEXT_CHARACTERS], is_right=is_right)


def in_order_of(gold: Gold, prediction: Prediction) -> tuple[str, ...]:
    """Return the predicted values in gold's order; raises InvalidGold unless there is one for each of its items."""
    return values_in_order(gold.items, prediction.values)


def part(gold: Gold, prediction: Prediction, keep: Keep) -> tuple[Gold, Prediction]:
    """Return the gold of the kept items, and the prediction unchanged: it may contain further items."""
    kept = kept_places(gold.items.ids, gold.clusters, keep)
    items = gold.items.only(kept)
    values = tuple(gold.values[place] for place in kept)
    references = tuple(gold.references[place] for place in kept)
    splits, clusters = kept_splits(gold.splits, kept), kept_clusters(gold.clusters, kept)
    return Gold(items, values, references, splits, clusters), prediction


def columns(options: TableOptions) -> tuple[Column, ...]:
    """Return every metric of every split."""
    return tuple(
        Column(metric, split, METRICS[metric].title + ("" if split == ALL else f", {split.replace('/', ' ')}"))
        for metric in options.metrics
        for split in splits_of(options)
    )


def advice(options: TableOptions) -> str | None:
    """Return the advice to declare the labels; None if they are declared, or if values are not labels."""
    return advice_on("labels", "label") if options.kind == "labels" and options.labels is None else None


def template(items: Items, options: TableOptions) -> str:
    """Return the empty submission: every id, no value."""
    return unfilled([options.id, options.value], ((id_, "") for id_ in items.ids))


def splits_of(options: TableOptions) -> Iterator[str]:
    """Yield `all`, and for each column its groups and their mean."""
    yield ALL
    for column, groups in options.groups.items():
        yield from (f"{column}/{group}" for group in (*groups, MEAN))


def _measure(
    metric: str,
    gold: Gold,
    predicted: Sequence[str],
    where: Positions,
    options: TableOptions,
    statistics: Statistics,
) -> Found:
    if options.kind == "texts":
        return score_statistics(metric, [statistics[metric][place] for place in where], _text_settings(options))
    ours = [predicted[place] for place in where]
    theirs = [gold.values[place] for place in where]
    if options.kind == "labels":
        return score_labels(metric, theirs, ours)
    return score_numbers(metric, np.array(theirs, dtype=np.float64), np.array(ours, dtype=np.float64))


def _compared(gold: Gold, predicted: Sequence[str], options: TableOptions) -> dict[str, Any]:
    if options.kind == "numbers":
        return {"gold": [float(value) for value in gold.values], "predicted": [float(value) for value in predicted]}
    labels = sorted({*gold.values, *predicted})
    number = {label: place for place, label in enumerate(labels)}
    sides = {"gold": gold.values, "predicted": predicted}
    return {"labels": labels, **{side: [number[label] for label in values] for side, values in sides.items()}}


def group_mean(column: str, scores: Mapping[str, Found], options: TableOptions) -> Found:
    """Return the mean of a column's groups; undefined if the score of a group is. scores: by split."""
    values = [scores[f"{column}/{group}"][0] for group in options.groups[column]]
    known = [value for value in values if value is not None]
    if len(known) < len(values):
        lacking = [group for group, value in zip(options.groups[column], values, strict=True) if value is None]
        return None, f"undefined for {', '.join(lacking)}"
    return sum(known) / len(known), None


def _text_settings(options: TableOptions) -> TextSettings:
    return TextSettings(options.lowercase, options.bleu_tokenize, options.rouge_stemmer)


def _signature_parts(metric: str, options: TableOptions) -> dict[str, object]:
    if options.kind == "texts":
        return {"sacrebleu": text_signature(metric, _text_settings(options), 1 + len(options.references))}
    if metric.endswith("_f1"):
        return {"labels": "present"}
    return {"tau": "b"} if metric == "kendall" else {}


def _parse_gold(data: bytes, options: TableOptions, error: type[InvalidFile]) -> Gold:
    problems = Problems()
    columns = [options.id, options.answer, *options.groups, *options.references]
    wanted = with_clusters(columns, options.resample_by)
    table = read_any_table(data, wanted, problems, others=True)
    if table is None:
        raise error(problems.errors, problems.omitted)
    check_ids(table, options.id, problems)
    ids = tuple(table[options.id])
    clusters = note_clusters(table, options.resample_by, problems)
    faults = RowProblems()
    note_values(table, options.answer, options.labels, options, faults, gold=True)
    _note_unlike(table, options, faults)
    for column in options.references:
        note_lengths(table, column, options, faults)
    for column, groups in options.groups.items():
        likely = LookAlikes(groups)
        for line, value in zip(table.lines, table[column], strict=True):
            if value not in groups:
                message = f"{quoted(value)} is not one of the declared groups {', '.join(groups)}"
                message += likely.hint(value)
                faults.add("unknown-group", message, line, column, value)
    faults.report(problems)
    problems.raise_if_any(error)
    values = tuple(table[options.answer])
    labels = options.labels or (tuple(sorted(set(values))) if options.kind == "labels" else None)
    return Gold(Items(ids, labels), values, _references(table, options), _places(table, options), clusters)


def _note_unlike(table: Table, options: TableOptions, faults: RowProblems) -> None:
    """Report labels that look alike, and texts with spaces around them, which no prediction would equal."""
    if options.kind == "labels" and options.labels is None:
        note_labels(values_with_lines(table.lines, table[options.answer]), options.answer, "labels", faults)
    for column in (options.answer, *options.references) if "exact_match" in options.metrics else ():
        for line, text in values_with_lines(table.lines, table[column]):
            if fault := spaces_fault(text):
                message = f"{fault}, and exact_match compares every character"
                faults.add(SPACES, message, line, column, text)


def _references(table: Table, options: TableOptions) -> tuple[tuple[str | None, ...], ...]:
    others = [[text or None for text in table[column]] for column in options.references]
    return tuple(zip(table[options.answer], *others, strict=True))


def _places(table: Table, options: TableOptions) -> dict[str, Positions]:
    places: dict[str, Positions] = {ALL: np.arange(len(table))}
    for column, groups in options.groups.items():
        values = np.array(table[column], dtype=object)
        places |= {f"{column}/{group}": np.flatnonzero(values == group) for group in groups}
    return places


TASK = Task(
    name=NAME,
    version=VERSION,
    title="Table",
    summary="One label, number or text per id, compared with gold by standard metrics, in groups.",
    options=TableOptions,
    metrics=METRICS,
    columns=columns,
    read_items=read_items,
    read_gold=read_gold,
    items_of=items_of,
    demands=Items.demands,
    read_prediction=read_prediction,
    score=score,
    outcomes=outcomes,
    score_with_outcomes=score_with_outcomes,
    sample=sample,
    item_results=item_results,
    part=part,
    template=template,
    advice=advice,
)
