"""How much of hidden gold scores can give away: bits of the gold, and bits that each shown score tells at most.

Upper bounds, by counting: whoever knows m scores with v possible values each knows m · log2(v) bits and no more,
however clever the predictions were. Nothing here opens a file.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from evergold.scoring.table_options import TableOptions
from evergold.scoring.task import AnyTask, Metric
from evergold.scoring.tasks import (
    idiom_detection,
    idiom_similarity,
    meaning_matching,
    multi_label,
    ranking,
    sequence_labelling,
    table,
)

#: What a number shown with all its digits can tell: the bits of a double's fraction.
FULL_BITS = 53.0
#: Powers of ten that a number without bounds may have.
DECADES = 300
#: Of a number of 10 or more so many digits are shown at least: see `rounded` in `app.competitions.visibility`.
DIGITS = 5
#: A p is shown with three decimals.
P_BITS = math.log2(1001)
#: Scores that count right items, so that n items allow n + 1 values.
SHARES_OF_ITEMS = frozenset({"accuracy", "exact_match", "subset_accuracy"})


@dataclass(frozen=True, slots=True)
class GoldSize:
    """How much there is to learn.

    items: how many have an answer of their own; bits: the entropy of all answers together, each taken by itself;
    labels: how many different labels a prediction may have, None where answers are no labels or come in clusters;
    is_measured: whether it was computed from gold, and not taken from what is asked.
    """

    items: int
    bits: float
    labels: int | None = None
    is_measured: bool = True

    def part(self, share: float) -> GoldSize:
        """Return the size of a part of the items, on average."""
        return replace(self, items=round(self.items * share), bits=self.bits * share)


@dataclass(frozen=True, slots=True)
class Shown:
    """A score that is shown for each submission. decimals: of the fraction; None: all; has_statistics: whether its
    interval is shown, too, and a test of it against the submission before."""

    metric: Metric
    decimals: int | None
    has_statistics: bool = False

    def bits(self, size: GoldSize | None) -> float:
        """Return the most that it tells of one submission. size: bounds it where a score counts items."""
        number = _bits_of_number(self.metric, self.decimals)
        digits = 5 * number + P_BITS if self.has_statistics and self.metric.has_interval else number
        outcomes = self._bits_of_outcomes(size) if size is not None else None
        return digits if outcomes is None else min(digits, outcomes)

    def _bits_of_outcomes(self, size: GoldSize) -> float | None:
        """Return the bits of all that could come out, given how many items gold has of each label; None: no bound.

        Scores of labels, and their intervals, follow from how many items of each label are right; with two labels one
        number says both. A test compares two submissions, whose predictions divide the items once more.
        """
        if size.labels is None:
            return None
        if self.metric.name in SHARES_OF_ITEMS:
            numbers = 2 if self.has_statistics and size.labels > 2 else 1
        else:
            numbers = (1 if size.labels <= 2 else size.labels) * (2 if self.has_statistics else 1)
        return numbers * math.log2(size.items + 1)


def _bits_of_number(metric: Metric, decimals: int | None) -> float:
    if decimals is None:
        return FULL_BITS
    if metric.minimum is not None and metric.maximum is not None:
        values = (metric.maximum - metric.minimum) * 10**decimals + 1
    else:
        values = 2 * 10.0 ** (decimals + 1) + DECADES * 9 * 10.0 ** max(DIGITS - 1, decimals)
    return min(FULL_BITS, math.log2(values))


def bits_of_ladder(submissions: int, step: float) -> float:
    """The most that a Ladder tells in so many submissions: its records rise from step to step, and never fall."""
    steps = math.floor(1 / step) + 1
    return _log2_of_choices(submissions + steps, submissions)


def _log2_of_choices(of: int, chosen: int) -> float:
    return (math.lgamma(of + 1) - math.lgamma(chosen + 1) - math.lgamma(of - chosen + 1)) / math.log(2)


# --------------------------------------------------------------------------------------------------------------- gold


def entropy_bits(answers: Iterable[Hashable]) -> float:
    """The entropy of all answers together: n · H of how often each value occurs, as it is given."""
    counts = Counter(answers)
    n = counts.total()
    return sum(count * math.log2(n / count) for count in counts.values())


def size_of_gold(task: AnyTask, gold: Any, options: Any) -> GoldSize | None:
    """How much there is to learn of this gold; None where the task type's answers have no such measure."""
    measure = _SIZES.get(task.name)
    return measure(gold, options) if measure else None


def size_of_items(task: AnyTask, items: Any, options: Any) -> GoldSize | None:
    """How much there is to learn, as far as what is asked says: labels as if all were as frequent, texts as if each
    were another, any other answer as one bit. None where the task type's answers have no such measure."""
    if task.demands is None or task.name not in _SIZES:
        return None
    labels = _labels_of(task, options)
    tokens = getattr(items, "tokens", None)
    count = sum(map(len, tokens.values())) if tokens else len(task.demands(items))
    kinds = count if getattr(options, "kind", None) == "texts" else labels or 2
    in_clusters = getattr(options, "resample_by", None) is not None
    return GoldSize(count, count * math.log2(max(1, kinds)), None if in_clusters else labels, is_measured=False)


def _labels_of(task: AnyTask, options: Any) -> int | None:
    """How many labels a prediction may have; None where it has none, or nobody said which."""
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
        others = 0 if options.labels else 1  # else a prediction may have labels that no gold has
        return _of_labels(gold.values, len(gold.items.labels or ()) + others, gold.clusters)
    return _of_values(gold.values)


def _detection(gold: idiom_detection.Gold, options: idiom_detection.Options) -> GoldSize:
    return _of_labels([int(label) for label in gold.labels], len(options.labels), gold.clusters)


def _matching(gold: meaning_matching.Gold, options: object) -> GoldSize:
    return _of_labels([int(label) for label in gold.labels], 2, gold.clusters)


def _similarity(gold: idiom_similarity.Gold, options: object) -> GoldSize:
    return _of_values([float(value) for value in gold.sims if not math.isnan(value)])


def _sets(gold: multi_label.Gold, options: object) -> GoldSize:
    """Each label of each item is an answer of its own."""
    labels = gold.items.labels or sorted({label for own in gold.values for label in own})
    bits = sum(entropy_bits([label in own for own in gold.values]) for label in labels)
    return GoldSize(len(gold.values), bits)


def _rankings(gold: ranking.Gold, options: object) -> GoldSize:
    return _of_values([relevance for judged in gold.judgements.values() for relevance in judged.values()])


def _spans(gold: sequence_labelling.Gold, options: object) -> GoldSize | None:
    """Of tokens the tags; None for spans of characters, of which hardly any is an answer."""
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
