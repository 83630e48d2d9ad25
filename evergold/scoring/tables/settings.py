"""Shared code of tasks with settings: every item has a language and gets one value per setting (zero_shot, pre_train,
…).

Options, items, splits, columns, the empty submission file. `entries` reads predictions; the tasks interpret the values.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
from pydantic import Field

from evergold.scoring.errors import InvalidGold, InvalidItems, Problem, Problems, quoted, shorten
from evergold.scoring.gold_values import note_names, values_with_lines
from evergold.scoring.option_types import ALL, SPLIT_NAME, LanguageNames, SettingNames
from evergold.scoring.slips import id_fault
from evergold.scoring.tables.reading import Table, read_table
from evergold.scoring.tables.row_problems import RowProblems
from evergold.scoring.task import Column, ItemResult, Metric, Options

Positions = npt.NDArray[np.intp]

_IDS_LISTED = 5


class SettingOptions(Options):
    """settings: their names, as written in the column Setting; splits on boards begin with them; languages: the allowed
    languages (in any case), so that boards can have a column for each and gold is checked against them; None: those of
    the gold. resample_by: a gold column whose rows with the same value belong together (an idiom, a document), for
    intervals and comparisons; no score depends on it.
    """

    settings: SettingNames
    languages: LanguageNames | None = None
    resample_by: str | None = Field(None, min_length=1)


@dataclass(frozen=True)
class Items:
    """The items that a prediction must cover: n ids and their languages, as written in the file."""

    ids: tuple[str, ...]
    languages: tuple[str, ...]

    @cached_property
    def position(self) -> dict[str, int]:
        """The index of each id."""
        return {id_: place for place, id_ in enumerate(self.ids)}

    def demands(self) -> dict[str, str]:
        """Return the ids, each with its language."""
        return dict(zip(self.ids, map(str.lower, self.languages), strict=True))

    def only(self, places: Sequence[int]) -> Items:
        """Return the items at these indices."""
        return Items(tuple(self.ids[place] for place in places), tuple(self.languages[place] for place in places))

    def in_order_of_id(self) -> Items:
        """Return the items sorted by id: gold's own order could reveal something about its labels."""
        pairs = sorted(zip(self.ids, self.languages, strict=True), key=lambda pair: (len(pair[0]), pair[0]))
        return Items(tuple(id_ for id_, _ in pairs), tuple(language for _, language in pairs))


@dataclass(frozen=True, slots=True)
class Prediction:
    """A checked prediction: for each setting n values in the order of `items.ids`, or None if it was not entered."""

    items: Items
    values: dict[str, npt.NDArray[Any] | None]
    warnings: tuple[Problem, ...] = field(default=())


def read_blind(data: bytes, languages: Sequence[str] | None, answer_column: str) -> Items | None:
    """Read the items in a blind file's order; None if the file has `answer_column` and so is gold. Raises InvalidItems.

    languages: the declared ones in lower case, None: any. Columns other than ID and Language are ignored.
    """
    problems = Problems()
    table = read_table(data, ["ID", "Language"], problems, optional=["Setting", answer_column], others=True)
    if table is None:
        raise InvalidItems(problems.errors, problems.omitted)
    if "Setting" in table:
        message = "this is a submission file, with a column Setting: use the blind file of the task"
        raise InvalidItems([Problem("wrong-columns", message, line=1, column="Setting")])
    if answer_column in table:
        return None
    items = note_items(table, languages, problems)
    problems.raise_if_any(InvalidItems)
    return items


def note_items(table: Table, languages: Sequence[str] | None, problems: Problems) -> Items:
    """Return the items of an organiser's table with the columns ID and Language; their faults are added to `problems`.

    languages: the declared ones in lower case, or None: any.
    """
    ids, spelled = table["ID"], table["Language"]
    first: dict[str, int] = {}
    for line, id_, language in zip(table.lines, ids, spelled, strict=True):
        if fault := id_fault(id_):
            problems.add("bad-id", fault, line=line, column="ID", text=id_)
        elif (before := first.setdefault(id_, line)) != line:
            message = f"id {shorten(id_)} appears twice, first on line {before}"
            problems.add("duplicate-id", message, line=line, column="ID", text=id_)
        if fault := _language_fault(language, languages):
            problems.add("bad-language", fault, line=line, column="Language", text=language)
    faults = RowProblems()
    note_names(((line, id_) for id_, line in first.items()), "ID", faults)
    faults.report(problems)
    if not len(table) and not table.skipped_rows:
        problems.add("empty-file", "the file has no items, only a header")
    found = {language.lower() for language in spelled}
    for language in languages or ():
        if language not in found:
            problems.add("missing-language", f"no item is in {language}, although the options list it under languages")
    return Items(tuple(ids), tuple(spelled))


def _language_fault(language: str, declared: Sequence[str] | None) -> str | None:
    if not SPLIT_NAME.fullmatch(language.lower()) or language.lower() == ALL:
        return f"{quoted(language)} is not a language code"
    if declared is not None and language.lower() not in declared:
        return f"the language {language} is not one of the options' languages: {', '.join(declared)}"
    return None


def with_clusters(columns: Sequence[str], column: str | None) -> list[str]:
    """Return these columns, and `column` (that of `resample_by`) if it is set and not among them."""
    return list(dict.fromkeys((*columns, *([column] if column else []))))


def note_clusters(table: Table, column: str | None, problems: Problems) -> tuple[str, ...] | None:
    """Return the cluster of every row: its value in `column`, which the option `resample_by` names; None if `column` is
    None.

    Empty cells, and names that look alike, are added to `problems`.
    """
    if column is None:
        return None
    faults = RowProblems()
    note_names(values_with_lines(table.lines, table[column]), column, faults, spaces=True)
    faults.report(problems)
    for line, text in zip(table.lines, table[column], strict=True):
        if not text.strip():
            problems.add("empty-cell", "resample_by: the cluster of the row is empty", line=line, column=column)
    return tuple(table[column])


def clusters_document(column: str | None, names: Sequence[str] | None) -> dict[str, Any]:
    """Return the part of the outcomes that describes clusters: `{"clusters": {"by": column, "names": cluster of every
    row}}`; {} if there are no clusters.
    """
    return {} if column is None or names is None else {"clusters": {"by": column, "names": list(names)}}


def kept_splits(splits: Mapping[str, Positions], places: Sequence[int]) -> dict[str, Positions]:
    """Return, for each split, the positions in `places` of its items."""
    return {name: np.flatnonzero(np.isin(places, where)) for name, where in splits.items()}


def language_splits(languages: Sequence[str], declared: Sequence[str] | None) -> dict[str, Positions]:
    """Return, for the split `all` and that of every language, the indices of its items.

    Languages are in lower case, in the declared order, or alphabetically if none are declared.
    """
    lower = np.array([language.lower() for language in languages])
    names = declared or sorted(set(lower.tolist()))
    return {ALL: np.arange(len(lower)), **{name: np.flatnonzero(lower == name) for name in names}}


def order_of(gold: Items, predicted: Items) -> Positions | None:
    """Return the index of each gold item among the predicted ones; None if the two have the same order.

    Raises InvalidGold if the items file, by which the prediction was checked, lacks an item of the gold or gives it
    another language.
    """
    if gold.ids == predicted.ids and gold.languages == predicted.languages:
        return None
    missing = [id_ for id_ in gold.ids if id_ not in predicted.position]
    order = [predicted.position.get(id_, 0) for id_ in gold.ids]
    other = [
        id_ for id_, language, place in zip(gold.ids, gold.languages, order, strict=True)
        if id_ in predicted.position and predicted.languages[place] != language
    ]  # fmt: skip
    problems = Problems()
    if missing:
        problems.add("unknown-id", f"{len(missing)} gold items are not in the items file: {listed(missing)}")
    if other:
        message = f"{len(other)} items have a different language in gold than in the items file: {listed(other)}"
        problems.add("wrong-language", message)
    problems.raise_if_any(InvalidGold)
    return np.array(order, dtype=np.intp)


def label_results(
    gold: Items, labels: Positions, prediction: Prediction, settings: Sequence[str], names: Sequence[str]
) -> list[ItemResult]:
    """Return the result of every item in every setting that was entered, by setting and in gold's order: right or
    wrong.

    labels: the gold's label numbers, in the order of `gold`; names: the labels by their numbers. Raises InvalidGold as
    `order_of` does.
    """
    order = order_of(gold, prediction.items)
    found: list[ItemResult] = []
    for setting in settings:
        values = prediction.values[setting]
        if values is None:
            continue
        ours = values if order is None else values[order]
        for id_, language, label, own in zip(gold.ids, gold.languages, labels.tolist(), ours.tolist(), strict=True):
            splits = (f"{setting}/{language.lower()}",)
            found.append(ItemResult(id_, splits, names[label], names[own], is_right=own == label))
    return found


def listed(names: Sequence[str]) -> str:
    """List the first few names, and the number of others."""
    shown = ", ".join(shorten(name) for name in names[:_IDS_LISTED])
    return f"{shown} and {len(names) - _IDS_LISTED} more" if len(names) > _IDS_LISTED else shown


def setting_columns(metrics: Mapping[str, Metric], options: SettingOptions) -> tuple[Column, ...]:
    """Return every metric of every setting over all languages, and for each declared language.

    metrics: in the order of the columns; the first is implied in their titles.
    """
    usual = next(iter(metrics))

    def title(metric: str, setting: str, split: str) -> str:
        place = f"{setting.replace('_', '-').capitalize()} {'all' if split == ALL else split.upper()}"
        return place if metric == usual else f"{place}, {metrics[metric].title.lower()}"

    return tuple(
        Column(metric, f"{setting}/{split}", title(metric, setting, split))
        for metric in metrics
        for setting in options.settings
        for split in (ALL, *(options.languages or ()))
    )


def unfilled(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return the CSV that teams fill in: these columns, and the given cells of each row."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(header)
    writer.writerows(rows)
    return text.getvalue()


def empty_submission(items: Items, settings: Sequence[str], value_column: str) -> str:
    """Return the CSV that teams fill in: every item once per setting, in the items' order, the last column empty."""
    pairs = list(zip(items.ids, items.languages, strict=True))
    rows = ((id_, language, setting, "") for setting in settings for id_, language in pairs)
    return unfilled(["ID", "Language", "Setting", value_column], rows)
