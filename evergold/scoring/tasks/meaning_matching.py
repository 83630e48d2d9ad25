"""meaning-matching: does this candidate meaning fit the expression in this sentence? AStitch Task 1, fine-grained.

Items: pairs of a sentence and a candidate meaning (a paraphrase, `Proper Noun` or `Meta Usage`); CSV with ID, Language
(other columns are ignored).
Gold: CSV with ID, Language, SentenceID, Label: 1 for a right meaning, 0 for a wrong one; every sentence has a right
one.
Prediction: CSV `ID,Language,Setting,Label`, optionally with a column `Score` (any finite number, higher: fits better),
each item once per setting; a setting may be left out, but never half-filled.
Score: macro-F1 over the pairs' labels, accuracy, and the share of sentences whose meaning was found: the one with the
highest Score, or without Scores the only one labelled 1; per setting and language and pooled as `all`.
Source: Tayyar Madabushi et al. 2021, §4. The share of sentences is ours: it is the purpose of the pairs.
Deliberate: a tie for the highest Score, or no or several positive labels, is no decision and counts as not found.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from evergold.scoring.archives import read_single
from evergold.scoring.characters import LookAlikes
from evergold.scoring.correlation import Floats
from evergold.scoring.errors import (
    InvalidFile,
    InvalidGold,
    InvalidItems,
    InvalidPrediction,
    Problem,
    Problems,
    quoted,
    shorten,
)
from evergold.scoring.f1 import accuracy, confusion, macro_f1
from evergold.scoring.gold_values import note_names, values_with_lines
from evergold.scoring.halves import Keep, kept_clusters, kept_places
from evergold.scoring.numerals import finite_number
from evergold.scoring.option_types import ALL, SettingNames
from evergold.scoring.samples.meaning_matching import sample
from evergold.scoring.slips import number_fault
from evergold.scoring.tables.entries import ValueColumn, read_entries
from evergold.scoring.tables.reading import read_table
from evergold.scoring.tables.row_problems import RowProblems
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

NAME, VERSION = "meaning-matching", 1
LABELS = ("0", "1")
SCORE = "Score"


class MatchingOptions(SettingOptions):
    """settings: their names, as written in the column Setting; languages: the allowed languages (None: those of the
    gold); resample_by: a gold column whose rows with the same value belong together, for intervals and comparisons.
    """

    settings: SettingNames = ("zero_shot", "one_shot", "few_shot")


@dataclass(frozen=True)
class Gold:
    """n items, their labels (0 or 1), sentence numbers, the indices of each split's items, and their clusters."""

    items: Items
    labels: npt.NDArray[np.intp]
    sentences: npt.NDArray[np.intp]
    splits: dict[str, Positions]
    clusters: tuple[str, ...] | None = None


@dataclass(frozen=True)
class RankedPrediction:
    """Labels per setting, and per setting n Scores or None if the file has none."""

    labels: Prediction
    scores: dict[str, Floats | None]

    @property
    def warnings(self) -> tuple[Problem, ...]:
        """The warnings about the prediction: peculiarities that do not prevent scoring."""
        return self.labels.warnings


def read_items(path: Path, options: MatchingOptions) -> Items:
    """Read the items in the order of the blind file, or by id if `path` is gold; raises InvalidItems."""
    _, data = read_single(path, error=InvalidItems)
    items = read_blind(data, options.languages, answer_column="Label")
    return _parse_gold(data, options, InvalidItems).items.in_order_of_id() if items is None else items


def read_gold(path: Path, options: MatchingOptions) -> Gold:
    """Read the gold in file order.

    Raises InvalidGold with all problems, such as duplicate ids, invalid labels, or sentences without a right meaning.
    """
    _, data = read_single(path, error=InvalidGold)
    return _parse_gold(data, options, InvalidGold)


def items_of(gold: Gold, options: MatchingOptions) -> Items:
    """Return the gold's items, sorted by id: the file's order could reveal something about the labels."""
    return gold.items.in_order_of_id()


def read_prediction(path: Path, items: Items, options: MatchingOptions) -> RankedPrediction:
    """Read Labels and Scores per setting, in items' order; raises InvalidPrediction with all problems of both."""
    faults: list[Problem] = []
    omitted = 0
    labels = Prediction(items, dict.fromkeys(options.settings))
    try:
        labels = read_entries(path, items, options.settings, _LABEL_COLUMN, optional=[SCORE])
    except InvalidPrediction as invalid:
        faults, omitted = list(invalid.problems), invalid.omitted
    problems = Problems()
    scores = _read_scores(path, items, options.settings, problems)
    for setting in options.settings:
        if not faults and labels.values[setting] is None and scores[setting] is not None:
            problems.add("empty-value", f"{setting} has Scores but no Labels: fill in both or neither", column="Label")
    if faults or problems.errors:
        raise InvalidPrediction([*faults, *problems.errors], omitted + problems.omitted)
    return RankedPrediction(labels, scores)


def score(gold: Gold, prediction: RankedPrediction, options: MatchingOptions) -> list[Score]:
    """Compute macro_f1, accuracy and sentence_accuracy for `<setting>/all` and every `<setting>/<language>`.

    All are in [0, 1]; None with NOT_ENTERED for a setting without labels. Raises InvalidGold if the prediction was
    checked against an items file that lacks items of the gold.
    """
    order = order_of(gold.items, prediction.labels.items)
    everything = np.arange(len(gold.labels)) if order is None else order
    scores: list[Score] = []
    for setting in options.settings:
        labels, ranking = prediction.labels.values[setting], prediction.scores[setting]
        for split, places in gold.splits.items():
            values: dict[str, float | None] = dict.fromkeys(METRICS)
            if labels is not None:
                ours = labels[everything[places]]
                counts = confusion(gold.labels[places], ours, len(LABELS))
                strengths = ours.astype(np.float64) if ranking is None else ranking[everything[places]]
                found = _decisions(gold.sentences[places], gold.labels[places], strengths, ranking is None)
                share = sum(found.values()) / len(found) if found else None
                values = {"macro_f1": macro_f1(counts), "accuracy": accuracy(counts), "sentence_accuracy": share}
            pooled = tuple(name for name in gold.splits if name != ALL) if split == ALL else (split,)
            scores += [_score(metric, f"{setting}/{split}", value, pooled) for metric, value in values.items()]
    return scores


def outcomes(gold: Gold, prediction: RankedPrediction, options: MatchingOptions) -> dict[str, Any]:
    """Return the outcomes per pair, in gold's order.

    `{"items": ids, "languages": …, "sentences": …, "gold": labels, "settings": {setting: {"predicted": labels, "found":
    {split: [[its first pair, whether its meaning was found], …] per sentence}}, or null if it was not entered}}`.
    Raises InvalidGold as `score` does.
    """
    order = order_of(gold.items, prediction.labels.items)
    everything = np.arange(len(gold.labels)) if order is None else order
    settings: dict[str, Any] = dict.fromkeys(options.settings)
    for setting in options.settings:
        labels, ranking = prediction.labels.values[setting], prediction.scores[setting]
        if labels is None:
            continue
        strengths = (labels.astype(np.float64) if ranking is None else ranking)[everything]
        found = {
            split: [
                [int(places[first]), is_found]
                for first, is_found in _decisions(
                    gold.sentences[places], gold.labels[places], strengths[places], ranking is None
                ).items()
            ]
            for split, places in gold.splits.items()
        }
        settings[setting] = {"predicted": labels[everything].tolist(), "found": found}
    return {
        "items": list(gold.items.ids),
        "languages": [language.lower() for language in gold.items.languages],
        "sentences": [str(sentence) for sentence in gold.sentences.tolist()],
        "gold": gold.labels.tolist(),
        "settings": settings,
        **clusters_document(options.resample_by, gold.clusters),
    }


def item_results(gold: Gold, prediction: RankedPrediction, options: MatchingOptions) -> list[ItemResult]:
    """Return per entered setting and pair, in gold's order, the labels 0 and 1, and whether they are the same.

    Scores are ignored. Raises InvalidGold as `score` does.
    """
    return label_results(gold.items, gold.labels, prediction.labels, options.settings, LABELS)


def part(gold: Gold, prediction: RankedPrediction, keep: Keep) -> tuple[Gold, RankedPrediction]:
    """Return the gold of the kept items, and the prediction unchanged: it may contain further items.

    The pairs of a sentence stay together: `keep` decides by the smallest of their ids.
    """
    first: dict[int, str] = {}
    for id_, sentence in zip(gold.items.ids, gold.sentences.tolist(), strict=True):
        first[sentence] = min(id_, first.get(sentence, id_))
    kept = kept_places([first[sentence] for sentence in gold.sentences.tolist()], gold.clusters, keep)
    splits, clusters = kept_splits(gold.splits, kept), kept_clusters(gold.clusters, kept)
    return Gold(gold.items.only(kept), gold.labels[kept], gold.sentences[kept], splits, clusters), prediction


def columns(options: MatchingOptions) -> tuple[Column, ...]:
    """Return every metric of every setting over all languages, and of the declared languages."""
    return setting_columns(METRICS, options)


def template(items: Items, options: MatchingOptions) -> str:
    """Return the empty submission: every item once per setting; the column Score may be added."""
    return empty_submission(items, options.settings, "Label")


def _decisions(
    sentences: npt.NDArray[np.intp], labels: npt.NDArray[np.intp], strengths: Floats, are_labels: bool
) -> dict[int, bool]:
    """Return whether the single strongest meaning of each sentence is right, by the index of the sentence's first pair.

    are_labels: strengths are predicted labels, of which a sentence needs exactly one positive.
    """
    pairs: dict[int, list[int]] = {}
    for place, sentence in enumerate(sentences.tolist()):
        pairs.setdefault(sentence, []).append(place)
    found: dict[int, bool] = {}
    for places in pairs.values():
        best = strengths[places].max()
        strongest = [place for place in places if strengths[place] == best]
        decided = len(strongest) == 1 and (best > 0 or not are_labels)
        found[places[0]] = bool(decided and labels[strongest[0]] == 1)
    return found


def _score(metric: str, split: str, value: float | None, pooled: tuple[str, ...]) -> Score:
    parts: dict[str, object] = {"labels": LABELS, "languages": pooled}
    if metric == "macro_f1":
        parts["average"] = "labels-present"
    if metric == "sentence_accuracy":
        parts["decision"] = "highest-score-or-only-positive"
    signed = signature(NAME, VERSION, metric, split, **parts)
    return Score(metric, split, value, None if value is not None else NOT_ENTERED, signed)


def _parse_gold(data: bytes, options: MatchingOptions, error: type[InvalidFile]) -> Gold:
    problems = Problems()
    wanted = with_clusters(["ID", "Language", "SentenceID", "Label"], options.resample_by)
    table = read_table(data, wanted, problems, others=True)
    if table is None:
        raise error(problems.errors, problems.omitted)
    items = note_items(table, options.languages, problems)
    clusters = note_clusters(table, options.resample_by, problems)
    number = {name: place for place, name in enumerate(dict.fromkeys(table["SentenceID"]))}
    solved: set[str] = set()
    for line, sentence, label in zip(table.lines, table["SentenceID"], table["Label"], strict=True):
        if label not in LABELS:
            problems.add("bad-value", f"a Label must be 0 or 1, not {quoted(label)}", line=line, column="Label")
        if not sentence.strip():
            problems.add("empty-cell", "the SentenceID is empty", line=line, column="SentenceID")
        if label == "1":
            solved.add(sentence)
    faults = RowProblems()
    note_names(values_with_lines(table.lines, table["SentenceID"]), "SentenceID", faults, spaces=True)
    faults.report(problems)
    for sentence in number:
        if sentence not in solved and not problems.errors:
            problems.add("no-right-meaning", f"no meaning of the sentence {shorten(sentence)} has the Label 1")
    problems.raise_if_any(error)
    labels = np.array([int(label) for label in table["Label"]], dtype=np.intp)
    sentences = np.array([number[sentence] for sentence in table["SentenceID"]], dtype=np.intp)
    return Gold(items, labels, sentences, language_splits(items.languages, options.languages), clusters)


def _read_scores(path: Path, items: Items, settings: Sequence[str], problems: Problems) -> dict[str, Floats | None]:
    """Return the Scores of each setting, None if it has none; rows of unknown items were reported with the labels."""
    _, data = read_single(path)
    table = read_table(data, ["ID", "Setting"], Problems(), optional=[SCORE], others=True)
    found: dict[str, Floats | None] = dict.fromkeys(settings)
    if table is None or SCORE not in table:
        return found
    faults = RowProblems()
    empty: dict[str, int] = {}
    for line, id_, setting, text in zip(table.lines, table["ID"], table["Setting"], table[SCORE], strict=True):
        if setting not in found or id_ not in items.position:
            continue
        value = finite_number(text)
        if not text:
            empty.setdefault(setting, line)
        elif value is None:
            faults.add("bad-value", number_fault(text) or "", line, SCORE, text)
        else:
            scores = found.get(setting)
            if scores is None:
                scores = found[setting] = np.zeros(len(items.ids))
            scores[items.position[id_]] = value
    faults.report(problems)
    for setting, line in empty.items():
        if found[setting] is not None:
            message = f"{setting} has Scores only for some rows; this is the first without: fill in all or none"
            problems.add("empty-value", message, line=line, column=SCORE)
    return found


def _explain(text: str) -> str:
    meant = text.strip().removesuffix(".0")
    hint = f"; write {meant}, without spaces or decimals" if meant in LABELS else LookAlikes(LABELS).hint(text)
    return f"invalid label {quoted(text)}: expected 0 or 1{hint}"


_LABEL_COLUMN = ValueColumn(
    "Label",
    np.intp,
    {label: place for place, label in enumerate(LABELS)}.get,
    _explain,
    other_task=("idiom-similarity", "Sim"),
)


METRICS = {
    "macro_f1": Metric(
        "macro_f1", "Macro F1", "The mean of the F1 scores of both labels, over sentence-meaning pairs."
    ),
    "accuracy": Metric("accuracy", "Accuracy", "The share of the pairs whose label is right.", is_share=True),
    "sentence_accuracy": Metric(
        "sentence_accuracy",
        "Meaning found",
        "The share of the sentences whose highest-scored meaning, or only one labelled 1, is the right one.",
        is_share=True,
    ),
}

TASK = Task(
    name=NAME,
    version=VERSION,
    title="Meaning matching",
    summary="Which of the candidate meanings does the expression have in this sentence? One label per pair, macro F1.",
    options=MatchingOptions,
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
