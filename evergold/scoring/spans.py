"""Labelled spans: read BIO and BIOES tags, and compare predicted spans with gold, exactly and by overlap.

Pure: from tags and spans to numbers; `span_files` reads the files.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from evergold.scoring.optional import load_package
from evergold.scoring.resampling.formulas import ratio

Floats = npt.NDArray[np.float64]
Scheme = Literal["bio", "bioes"]
Reading = Literal["lenient", "strict"]

OUTSIDE = "O"
#: The type of spans whose tags name none, as in seqeval.
UNNAMED = "_"
PREFIXES: Mapping[Scheme, str] = {"bio": "BI", "bioes": "BIES"}
#: The scores of all types together, of their mean and of each type: exact, then by overlap.
SPAN_METRICS = ("f1", "precision", "recall", "lenient_f1", "lenient_precision", "lenient_recall")


class Span(NamedTuple):
    """A span from start to end (not included), of a type. Positions are tokens or characters, depending on the format
    of the file.
    """

    start: int
    end: int
    type: str


class SpanCounts(NamedTuple):
    """Counts of one type: spans that are equal on both sides, overlap, are in gold, are predicted."""

    exact: int
    overlapping: int
    gold: int
    predicted: int


def spans_of(tags: Sequence[str], scheme: Scheme, reading: Reading) -> list[Span]:
    """Return the spans that some tags (`O`, `B-PER`, …) mark.

    lenient: as conlleval and seqeval read: a tag continues the span before it if it is I or E, of the same type, and
    that span was not ended by E or S; every other tag but O begins a span. strict: as seqeval's strict mode reads: B I*
    of one type in BIO, S or B I* E of one type in BIOES; anything else is in no span.
    """
    return _lenient(tags) if reading == "lenient" else _strict(tags, scheme)


def breaks_scheme(before: str, tag: str, scheme: Scheme) -> bool:
    """Return whether a tag may not follow another (the tag before a sentence is O), by the scheme."""
    goes_on = tag[:1] in ("I", "E")
    is_open = before[:1] == "B" or before[:1] == "I"
    if goes_on:
        return not (is_open and before[2:] == tag[2:])
    return scheme == "bioes" and is_open


def _lenient(tags: Sequence[str]) -> list[Span]:
    spans: list[Span] = []
    start, before = 0, OUTSIDE
    for place, tag in enumerate([*tags, OUTSIDE]):
        goes_on = tag[0] in "IE" and before[0] in "BI" and tag[2:] == before[2:]
        if not goes_on:
            if before != OUTSIDE:
                spans.append(Span(start, place, before[2:]))
            start = place
        before = tag
    return spans


def _strict(tags: Sequence[str], scheme: Scheme) -> list[Span]:
    spans: list[Span] = []
    place = 0
    while place < len(tags):
        kind, type_ = tags[place][0], tags[place][2:]
        end = place + 1
        if kind == "B":
            while end < len(tags) and tags[end] == f"I-{type_}":
                end += 1
            is_ended = end < len(tags) and tags[end] == f"E-{type_}"
            end += scheme == "bioes" and is_ended
            if scheme == "bio" or is_ended:
                spans.append(Span(place, end, type_))
        elif kind == "S":
            spans.append(Span(place, end, type_))
        place = end
    return spans


# ---------------------------------------------------------------------------------------------------------- agreement


def count_spans(gold: Iterable[Span], predicted: Iterable[Span]) -> dict[str, SpanCounts]:
    """Return by type the counts of one item.

    Overlapping: gold and predicted spans of one type are paired one to one so that as many pairs as possible share a
    position.
    """
    theirs, ours = _by_type(gold), _by_type(predicted)
    found = {}
    for type_ in sorted(theirs.keys() | ours.keys()):
        one, other = theirs.get(type_, []), ours.get(type_, [])
        exact = len(set(one) & set(other))
        found[type_] = SpanCounts(exact, _most_pairs(one, other), len(one), len(other))
    return found


def _by_type(spans: Iterable[Span]) -> dict[str, list[Span]]:
    found: defaultdict[str, list[Span]] = defaultdict(list)
    for span in sorted(spans):
        found[span.type].append(span)
    return found


def _most_pairs(gold: Sequence[Span], predicted: Sequence[Span]) -> int:
    if _are_apart(gold) and _are_apart(predicted):
        return _pairs_in_order(gold, predicted)
    edges = [(i, j) for i, one in enumerate(gold) for j, other in enumerate(predicted) if _overlap(one, other)]
    if not edges:
        return 0
    sparse, graphs = load_package("scipy.sparse"), load_package("scipy.sparse.csgraph")
    rows, columns = zip(*edges, strict=True)
    graph = sparse.csr_matrix((np.ones(len(edges)), (rows, columns)), shape=(len(gold), len(predicted)))
    return int((graphs.maximum_bipartite_matching(graph, perm_type="column") >= 0).sum())


def _are_apart(spans: Sequence[Span]) -> bool:
    return all(one.end <= other.start for one, other in zip(spans, spans[1:], strict=False))


def _pairs_in_order(gold: Sequence[Span], predicted: Sequence[Span]) -> int:
    """Return the largest number of one-to-one pairs of overlapping spans, if no two spans of one side overlap.

    Both sides are sorted: the first spans of both overlap and are a pair, or the one that ends first has no partner.
    """
    i = j = pairs = 0
    while i < len(gold) and j < len(predicted):
        if _overlap(gold[i], predicted[j]):
            i, j, pairs = i + 1, j + 1, pairs + 1
        elif gold[i].end <= predicted[j].start:
            i += 1
        else:
            j += 1
    return pairs


def _overlap(one: Span, other: Span) -> bool:
    return one.start < other.end and other.start < one.end


# ------------------------------------------------------------------------------------------------------------- scores


def type_scores(counts: Floats) -> Floats:
    """Compute SPAN_METRICS of each of t types: … × t × 6, in [0, 1], from the `SpanCounts` of each: … × t × 4.

    NaN if a type occurs on neither side. Precision and recall are 0 for 0/0.
    """
    exact, overlapping, gold, predicted = np.moveaxis(counts, -1, 0)
    scores = []
    for hits in (exact, overlapping):
        scores += [ratio(2 * hits, gold + predicted), ratio(hits, predicted, 0.0), ratio(hits, gold, 0.0)]
    found: Floats = np.where((gold + predicted > 0)[..., None], np.stack(scores, axis=-1), np.nan)
    return found


def overall_scores(counts: Floats) -> Floats:
    """Compute SPAN_METRICS of all spans together, then their means over the types in gold or prediction.

    … × 12, from … × t × 4; NaN if there is no span at all.
    """
    together = type_scores(counts.sum(axis=-2, keepdims=True))[..., 0, :]
    each = type_scores(counts)
    occur = ~np.isnan(each)
    number = occur.sum(axis=-2).astype(np.float64)
    return np.concatenate([together, ratio(np.where(occur, each, 0.0).sum(axis=-2), number)], axis=-1)
