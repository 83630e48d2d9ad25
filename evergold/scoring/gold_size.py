"""The amount of information in gold: how many answers there are, and how many bits they have together.

Loads the task types; `leakage` counts what scores reveal, without them. Nothing here opens a file.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import Any

from evergold.scoring.leakage import GoldSize
from evergold.scoring.tables.options import TableOptions
from evergold.scoring.task import AnyTask
from evergold.scoring.tasks import (
    idiom_detection,
    idiom_similarity,
    meaning_matching,
    multi_label,
    ranking,
    sequence_labelling,
    table,
)


def entropy_bits(answers: Iterable[Hashable]) -> float:
    """Return the entropy of all answers together: n times the entropy H of the observed frequencies."""
    counts = Counter(answers)
    n = counts.total()
    return sum(count * math.log2(n / count) for count in counts.values())


def size_of_gold(task: AnyTask, gold: Any, options: Any) -> GoldSize | None:
    """Return the amount of information in this gold; None if the task type's answers have no such measure."""
    measure = _SIZES.get(task.name)
    return measure(gold, options) if measure else None


def size_of_items(task: AnyTask, items: Any, options: Any) -> GoldSize | None:
    """Estimate the amount of information in the gold of these items.

    Labels count as equally frequent, texts as all different, any other answer as one bit. None if the task type's
    answers have no such measure.
    """
    if task.demands is None or task.name not in _SIZES:
        return None
    labels = _labels_of(task, options)
    tokens = getattr(items, "tokens", None)
    count = sum(map(len, tokens.values())) if tokens else len(task.demands(items))
    kinds = count if getattr(options, "kind", None) == "texts" else labels or 2
    in_clusters = getattr(options, "resample_by", None) is not None
    return GoldSize(count, count * math.log2(max(1, kinds)), None if in_clusters else labels, is_measured=False)


def _labels_of(task: AnyTask, options: Any) -> int | None:
    """Return how many labels a prediction may have; None if it has none, or they are not declared."""
    if task.name == meaning_matching.NAME:
        return 2
    is_labelled = task.name == idiom_detection.NAME or getattr(options, "kind", None) == "labels"
    labels = getattr(options, "labels", None)
    return max(2, len(labels)) if is_labelled and labels else None


def _of_labels(labels: Sequence[Hashable], allowed: int, clusters: object) -> GoldSize:
    return GoldSize(len(labels), entropy_bits(labels), max(2, allowed) if clusters is None else None)


def _of_values(values: Sequence[Hashable]) -> GoldSize:
    return GoldSize(len(values), entropy_bits(values))


def _table(gold: table.Gold, options: TableOptions) -> GoldSize:
    if options.kind == "labels":
        others = 0 if options.labels else 1  # then a prediction may have labels that no gold has
        return _of_labels(gold.values, len(gold.items.labels or ()) + others, gold.clusters)
    return _of_values(gold.values)


def _detection(gold: idiom_detection.Gold, options: idiom_detection.Options) -> GoldSize:
    return _of_labels([int(label) for label in gold.labels], len(options.labels), gold.clusters)


def _matching(gold: meaning_matching.Gold, options: object) -> GoldSize:
    return _of_labels([int(label) for label in gold.labels], 2, gold.clusters)


def _similarity(gold: idiom_similarity.Gold, options: object) -> GoldSize:
    return _of_values([float(value) for value in gold.sims if not math.isnan(value)])


def _sets(gold: multi_label.Gold, options: object) -> GoldSize:
    """Return the size of gold with sets of labels: whether an item has a label counts as a separate answer."""
    labels = gold.items.labels or sorted({label for own in gold.values for label in own})
    bits = sum(entropy_bits([label in own for own in gold.values]) for label in labels)
    return GoldSize(len(gold.values), bits)


def _rankings(gold: ranking.Gold, options: object) -> GoldSize:
    return _of_values([relevance for judged in gold.judgements.values() for relevance in judged.values()])


def _spans(gold: sequence_labelling.Gold, options: object) -> GoldSize | None:
    """Return the size of gold with spans, by the tags of tokens; None for spans of characters, hardly any of which is
    an answer.
    """
    if not gold.items.tokens:
        return None
    tags = []
    for name, tokens in gold.items.tokens.items():
        own = ["O"] * len(tokens)
        for span in gold.spans.get(name, ()):
            for place in range(span.start, min(span.end, len(own))):
                own[place] = f"{'B' if place == span.start else 'I'}-{span.type}"
        tags += own
    return _of_values(tags)


_SIZES: Mapping[str, Callable[[Any, Any], GoldSize | None]] = {
    idiom_detection.NAME: _detection,
    idiom_similarity.NAME: _similarity,
    meaning_matching.NAME: _matching,
    multi_label.NAME: _sets,
    ranking.NAME: _rankings,
    sequence_labelling.NAME: _spans,
    table.NAME: _table,
}
