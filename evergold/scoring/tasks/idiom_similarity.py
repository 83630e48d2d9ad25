"""idiom-similarity: how similar are two sentences with an idiom? SemEval-2022 Task 2 Subtask B; AStitch Task 2.

Items: CSV with ID, Language (other columns are ignored).
Gold: CSV `ID,DataID,Language,sim,otherID`; a row has either `sim`, its target, or `otherID`: then the target is the
system's own Sim for that item in the same setting, since the task requires consistency: sim(E, E with a wrong meaning)
= sim(E with the right meaning, E with the wrong one).
Prediction: CSV `ID,Language,Setting,Sim`, each item (the otherIDs too) once per setting; a setting may be left out
altogether.
Score: Spearman's rho of Sim with the targets, per setting and language and, as `all`, pooled over the languages' items;
over all rows, the STS rows (third part of DataID is `sts`) and the others (`idiom`).
Source: Tayyar Madabushi et al. 2022, §4.2, and the task's evaluation script.
Deviations: partial files and duplicates are rejected; where rho is undefined the score is None with a reason, not NaN.
Sim may lie outside 0..1 unless the organiser sets a range.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import numpy as np
from pydantic import model_validator

from evergold.scoring.archives import read_single
from evergold.scoring.characters import folded
from evergold.scoring.correlation import Floats, spearman_of_parts
from evergold.scoring.errors import InvalidFile, InvalidGold, InvalidItems, Problems, quoted, shorten
from evergold.scoring.gold_values import LOOK_ALIKE, note_names, values_with_lines
from evergold.scoring.halves import Keep, kept_clusters, kept_places
from evergold.scoring.numerals import finite_number, finite_numbers
from evergold.scoring.option_types import ALL, SettingNames
from evergold.scoring.samples.idiom_similarity import sample
from evergold.scoring.slips import number_fault
from evergold.scoring.tables.entries import ValueColumn, read_entries
from evergold.scoring.tables.reading import Table, read_table
from evergold.scoring.tables.row_problems import RowProblems
from evergold.scoring.tables.settings import (
    Items,
    Positions,
    Prediction,
    SettingOptions,
    clusters_document,
    empty_submission,
    kept_splits,
    language_splits,
    note_clusters,
    note_items,
    order_of,
    read_blind,
    with_clusters,
)
from evergold.scoring.task import NOT_ENTERED, Column, ItemResult, Metric, Score, Task, signature

NAME, VERSION = "idiom-similarity", 1

#: The kinds of rows, with the titles of the published tables.
#: The third part of the DataID of an STS row.
STS = "sts"
SUBSETS = {"all": "All", "idiom": "Idiom Only", "sts": "STS Only"}


class Options(SettingOptions):
    """settings: their names, as written in the column Setting; languages: the allowed languages (None: those of the
    gold); resample_by: a gold column whose rows with the same value belong together, for intervals and comparisons;
    sim_min, sim_max: the range in which a Sim must lie (None: any number).
    """

    settings: SettingNames = ("pre_train", "fine_tune")
    sim_min: float | None = None
    sim_max: float | None = None

    @model_validator(mode="after")
    def _range_is_one(self) -> Self:
        for bound in (self.sim_min, self.sim_max):
            if bound is not None and not math.isfinite(bound):
                raise ValueError("sim_min and sim_max must be finite numbers")
        if self.sim_min is not None and self.sim_max is not None and self.sim_min >= self.sim_max:
            raise ValueError("sim_min must be smaller than sim_max")
        return self


@dataclass(frozen=True)
class Gold:
    """n scored rows over m items (the rows' own and those named only as otherID), items sorted by id.

    rows: n positions in items.
    sims: n targets, NaN where the target is the system's own.
    others: n positions of the item whose Sim is the target, -1 where sims has the target.
    splits: `<language>/<subset>` -> the numbers of its rows.
    clusters: cluster of each row, None: no clusters.
    """

    items: Items
    rows: Positions
    sims: Floats
    others: Positions
    splits: dict[str, Positions]
    clusters: tuple[str, ...] | None = None


def read_items(path: Path, options: Options) -> Items:
    """Read the items in the order of the blind file, or by id if `path` is gold; raises InvalidItems."""
    _, data = read_single(path, error=InvalidItems)
    items = read_blind(data, options.languages, answer_column="otherID")
    return _parse_gold(data, options, InvalidItems).items if items is None else items


def read_gold(path: Path, options: Options) -> Gold:
    """Read the gold; raises InvalidGold on duplicate ids, rows without exactly one target, chained otherIDs, …"""
    _, data = read_single(path, error=InvalidGold)
    return _parse_gold(data, options, InvalidGold)


def items_of(gold: Gold, options: Options) -> Items:
    """Return the ids of the gold's rows and of their otherIDs, sorted: their order must not reveal which are which."""
    return gold.items


def read_prediction(path: Path, items: Items, options: Options) -> Prediction:
    """Read the similarities per setting, in items' order; raises InvalidPrediction with every problem of the file.

    A Sim is a finite decimal number with a point, within [sim_min, sim_max] if these are set.
    """
    return read_entries(path, items, options.settings, _sim_column(options))


def score(gold: Gold, prediction: Prediction, options: Options) -> list[Score]:
    """Compute Spearman's rho in [-1, 1] for `<setting>/<language or all>/<all, idiom or sts>`, in this order.

    None with a reason: NOT_ENTERED for a setting without values; else fewer than two rows, or constant values. Raises
    InvalidGold if the prediction was checked against an items file that lacks items of the gold.
    """
    scores: list[Score] = []
    for setting, pairs in _pairs(gold, prediction, options).items():
        absent = [(None, NOT_ENTERED)] * len(gold.splits)
        found = spearman_of_parts(*pairs, gold.splits.values()) if pairs else absent
        for split, rho in zip(gold.splits, found, strict=True):
            scores.append(_score_of(f"{setting}/{split}", *rho, _pooled(gold, split)))
    return scores


def outcomes(gold: Gold, prediction: Prediction, options: Options) -> dict[str, Any]:
    """Return the outcomes per scored row.

    `{"items": ids, "splits": {"en/idiom": numbers of its rows}, "settings": {setting: {"targets": …, "predicted": …},
    or null if it was not entered}}`. Raises InvalidGold as `score` does.
    """
    pairs = _pairs(gold, prediction, options)
    return {
        "items": [gold.items.ids[place] for place in gold.rows],
        "splits": {name: places.tolist() for name, places in gold.splits.items()},
        "settings": {
            setting: None if pair is None else {"targets": pair[0].tolist(), "predicted": pair[1].tolist()}
            for setting, pair in pairs.items()
        },
        **clusters_document(options.resample_by, gold.clusters),
    }


def item_results(gold: Gold, prediction: Prediction, options: Options) -> list[ItemResult]:
    """Return per entered setting and scored row, in gold's order, its Sim, and its difference from the gold's sim.

    If the target is the system's own Sim for another item, there is no gold, and so no error. Raises InvalidGold as
    `score` does.
    """
    narrow = [(name, places) for name, places in gold.splits.items() if ALL not in name.split("/")]
    split_of = {place: name for name, places in narrow for place in places.tolist()}
    sims, found = gold.sims.tolist(), list[ItemResult]()
    for setting, pairs in _pairs(gold, prediction, options).items():
        for place, own in enumerate(pairs[1].tolist() if pairs else ()):
            sim = None if math.isnan(sims[place]) else sims[place]
            error = None if sim is None else own - sim
            id_, splits = gold.items.ids[gold.rows[place]], (f"{setting}/{split_of[place]}",)
            found.append(ItemResult(id_, splits, sim, own, error=error))
    return found


def _pairs(gold: Gold, prediction: Prediction, options: Options) -> dict[str, tuple[Floats, Floats] | None]:
    """Return targets and predicted values of the scored rows, by setting; None if it was not entered."""
    order = order_of(gold.items, prediction.items)
    pairs: dict[str, tuple[Floats, Floats] | None] = {}
    for setting in options.settings:
        values = prediction.values[setting]
        if values is None:
            pairs[setting] = None
            continue
        values = values if order is None else values[order]
        pairs[setting] = np.where(gold.others >= 0, values[gold.others], gold.sims), values[gold.rows]
    return pairs


def part(gold: Gold, prediction: Prediction, keep: Keep) -> tuple[Gold, Prediction]:
    """Return the gold of the kept rows, and the prediction unchanged.

    A row's target may be the system's own Sim for an item that is not kept.
    """
    kept = kept_places([gold.items.ids[place] for place in gold.rows], gold.clusters, keep)
    rows, sims, others = gold.rows[kept], gold.sims[kept], gold.others[kept]
    splits, clusters = kept_splits(gold.splits, kept), kept_clusters(gold.clusters, kept)
    return Gold(gold.items, rows, sims, others, splits, clusters), prediction


def columns(options: Options) -> tuple[Column, ...]:
    """Return every subset of every setting over all languages, and of the declared languages."""
    return tuple(
        Column("spearman", f"{setting}/{language}/{subset}", _column_title(setting, language, title))
        for setting in options.settings
        for language in (ALL, *(options.languages or ()))
        for subset, title in SUBSETS.items()
    )


def template(items: Items, options: Options) -> str:
    """Return the empty submission: every item once per setting."""
    return empty_submission(items, options.settings, "Sim")


def _score_of(split: str, value: float | None, reason: str | None, pooled: tuple[str, ...]) -> Score:
    signed = signature(NAME, VERSION, "spearman", split, languages=pooled, ties="average-ranks", target="own-sim")
    return Score("spearman", split, value, reason, signed)


def _pooled(gold: Gold, split: str) -> tuple[str, ...]:
    language = split.partition("/")[0]
    names = dict.fromkeys(name.partition("/")[0] for name in gold.splits)
    return tuple(name for name in names if name != ALL) if language == ALL else (language,)


def _parse_gold(data: bytes, options: Options, error: type[InvalidFile]) -> Gold:
    problems = Problems()
    wanted = with_clusters(["ID", "DataID", "Language", "sim", "otherID"], options.resample_by)
    table = read_table(data, wanted, problems, others=True)
    if table is None:
        raise error(problems.errors, problems.omitted)
    own = note_items(table, options.languages, problems)
    targets = _note_targets(table, own, problems)
    clusters = note_clusters(table, options.resample_by, problems)
    _note_names(table, problems)
    problems.raise_if_any(error)
    pairs = {**targets, **dict(zip(own.ids, own.languages, strict=True))}
    items = Items(tuple(pairs), tuple(pairs.values())).in_order_of_id()
    return Gold(
        items,
        np.array([items.position[id_] for id_ in own.ids], dtype=np.intp),
        np.array([float(sim) if sim else math.nan for sim in table["sim"]]),
        np.array([items.position[other] if other else -1 for other in table["otherID"]], dtype=np.intp),
        _splits(own.languages, table["DataID"], options),
        clusters,
    )


def _note_names(table: Table, problems: Problems) -> None:
    """Report otherIDs that only look like another ID, and DataIDs that only look like those of STS rows."""
    faults, alike, own = RowProblems(), RowProblems(), set(table["ID"])
    others = values_with_lines(table.lines, table["otherID"])
    note_names([*zip(table.lines, table["ID"], strict=True), *others], "otherID", alike)
    for (code, column), found in alike.kinds.items():
        for fault in found:
            if fault.text not in own:  # else it was reported with the IDs
                faults.add(code, fault.message, fault.line, column, fault.text)
    for line, data_id in zip(table.lines, table["DataID"], strict=True):
        for part in data_id.split(".")[2:3]:
            if part != STS and folded(part) == STS:
                message = f"the third part of DataID is {quoted(part)}: write `{STS}` in rows of STS"
                faults.add(LOOK_ALIKE, message, line, "DataID", data_id)
    faults.report(problems)


def _note_targets(table: Table, own: Items, problems: Problems) -> dict[str, str]:
    """Return the otherIDs' languages; check that each row has one target, and that no otherID's own row has an otherID,
    too.
    """
    with_other = {id_ for id_, other in zip(table["ID"], table["otherID"], strict=True) if other}
    languages: dict[str, str] = {}
    rows = zip(table.lines, table["ID"], table["Language"], table["sim"], table["otherID"], strict=True)
    for line, id_, language, sim, other in rows:
        if fault := _target_fault(id_, sim, other, with_other):
            problems.add(*fault, line=line, text=sim or other)
        elif other:
            known = own.languages[own.position[other]] if other in own.position else None
            if (known or languages.setdefault(other, language)) != language:
                message = f"otherID {shorten(other)} is in another language elsewhere"
                problems.add("wrong-language", message, line=line, column="otherID", text=other)
    return languages


def _target_fault(id_: str, sim: str, other: str, with_other: set[str]) -> tuple[str, str] | None:
    if bool(sim) == bool(other):
        return "bad-target", f"a row must have either sim or otherID, this one has {'both' if sim else 'neither'}"
    if sim and (fault := number_fault(sim)):
        return "bad-value", f"sim {fault}"
    if other != other.strip():
        return "bad-id", f"otherID {quoted(other)} has spaces around it"
    if other == id_:
        return "bad-target", f"otherID {shorten(other)} is the row itself"
    if other in with_other:
        return "bad-target", f"otherID {shorten(other)} has an otherID itself: targets cannot be chained"
    return None


def _splits(languages: tuple[str, ...], data_ids: Sequence[str], options: Options) -> dict[str, Positions]:
    sts = np.array([data_id.split(".")[2:3] == [STS] for data_id in data_ids], dtype=bool)
    splits: dict[str, Positions] = {}
    for language, places in language_splits(languages, options.languages).items():
        parts = (places, places[~sts[places]], places[sts[places]])
        splits |= {f"{language}/{subset}": part for subset, part in zip(SUBSETS, parts, strict=True)}
    return splits


def _sim_column(options: Options) -> ValueColumn:
    low = -math.inf if options.sim_min is None else options.sim_min
    high = math.inf if options.sim_max is None else options.sim_max

    def parse(text: str) -> float | None:
        number = finite_number(text)
        return number if number is not None and low <= number <= high else None

    def parse_all(texts: Sequence[str]) -> list[float] | None:
        numbers = finite_numbers(texts)
        return numbers if numbers and low <= min(numbers) and max(numbers) <= high else None

    def explain(text: str) -> str:
        if finite_number(text) is not None:
            return f"{shorten(text)} lies outside the range {low:g} to {high:g}"
        return number_fault(text) or f"{quoted(text)} is not a finite number"

    return ValueColumn("Sim", np.float64, parse, explain, ("idiom-detection", "Label"), parse_all)


def _column_title(setting: str, language: str, subset: str) -> str:
    name = setting.replace("_", "-").capitalize()
    return f"{name}: {subset}" if language == ALL else f"{name} {language.upper()}: {subset}"


METRICS = {
    "spearman": Metric(
        "spearman",
        "Spearman's rho",
        "Rank correlation of the similarities with the targets; where gold asks for consistency, the target is the "
        "system's own similarity of the other pair.",
        minimum=-1.0,
    )
}

TASK = Task(
    name=NAME,
    version=VERSION,
    title="Idiomatic semantic similarity",
    summary="How similar are two sentences, one with an idiom? One number per item and setting, Spearman's rho.",
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
