"""sequence-labelling: spans with types in tokens or texts: named entities, terms, arguments, toxic passages.

Files are CoNLL columns with BIO or BIOES tags, or JSON lines with spans, detected by content; gold, items and
prediction must be in the same format.
Items: the tokens (CoNLL, further columns are ignored), or ids and, if they are public, the texts.
Scores: precision, recall and F1 of spans, exact (same place, same type) and lenient (same type, any overlap, paired one
to one): of all spans (`all`), the mean over types (`macro`), and of each type (`type/PER`).
Source: conlleval and seqeval, with the same exact numbers: its default mode is the reading `lenient`, its strict mode
`strict`.
Deliberate: a tag of another scheme is rejected (seqeval reads it somehow), and one without a type beside others; a
score without any span on either side is undefined (seqeval: 0).
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import isnan
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import Field, field_validator

from evergold.scoring.archives import read_single
from evergold.scoring.characters import LookAlikes, difference
from evergold.scoring.errors import InvalidGold, InvalidItems, InvalidPrediction, Problem, Problems, quoted
from evergold.scoring.gold_values import note_labels
from evergold.scoring.halves import Keep, kept_clusters, kept_places
from evergold.scoring.option_types import Texts
from evergold.scoring.samples.sequence_labelling import ALL, MACRO, TYPE, sample
from evergold.scoring.spans import (
    OUTSIDE,
    SPAN_METRICS,
    UNNAMED,
    Reading,
    Scheme,
    Span,
    SpanCounts,
    breaks_scheme,
    count_spans,
    overall_scores,
    spans_of,
    type_scores,
)
from evergold.scoring.tables.json_lines import is_json_lines
from evergold.scoring.tables.row_problems import RowProblems
from evergold.scoring.tables.rows import sorted_ids
from evergold.scoring.tables.settings import clusters_document, listed
from evergold.scoring.tables.span_files import (
    Sentence,
    SpanText,
    check_tags,
    clusters_of_sentences,
    clusters_of_texts,
    distinct_types,
    place_fault,
    read_conll,
    read_spans,
    type_fault,
)
from evergold.scoring.task import Column, ItemResult, Metric, Options, Score, Task, signature
from evergold.scoring.undeclared import advice as advice_on, note_undeclared

NAME, VERSION = "sequence-labelling", 2

Spans = dict[str, tuple[Span, ...]]
Clusters = tuple[str, ...] | None


class SequenceOptions(Options):
    """Options of the task type.

    scheme: the scheme of the tags; reading: how tags that break the scheme are read; types: the allowed types (None:
    any), each of which has a column;
    rank_by: which F1 of all spans is the first column;
    resample_by: in CoNLL the name of a comment `# NAME = …`, which applies to all sentences up to the next one, in JSON
    lines the name of a key; sentences or texts with the same value (such as a document) belong together, for intervals
    and comparisons. No score depends on it.
    """

    scheme: Scheme = "bio"
    reading: Reading = "lenient"
    types: Texts | None = None
    rank_by: Literal["f1", "lenient_f1", "macro"] = "f1"
    resample_by: Annotated[str, Field(pattern=r"^[\w.:-]+$")] | None = None

    @field_validator("types")
    @classmethod
    def _can_be_types(cls, types: tuple[str, ...] | None) -> tuple[str, ...] | None:
        for type_ in types or ():
            if fault := type_fault(type_, None):
                raise ValueError(fault)
        return types


@dataclass(frozen=True)
class Items:
    """The items that must be labelled, by name: the tokens of each sentence, or the length of each text (None:
    unknown).
    """

    tokens: Mapping[str, tuple[str, ...]]
    lengths: Mapping[str, int | None]

    @property
    def names(self) -> tuple[str, ...]:
        """The names in order; either `tokens` or `lengths` is empty."""
        return (*self.tokens, *self.lengths)

    def demands(self) -> dict[str, object]:
        """Return each sentence with its tokens, or each id of a text, without a value."""
        return {**self.tokens, **dict.fromkeys(self.lengths)}


@dataclass(frozen=True)
class Gold:
    """The spans of each item; clusters: the cluster of each item, by `resample_by`."""

    items: Items
    spans: Mapping[str, tuple[Span, ...]]
    types: tuple[str, ...]
    clusters: tuple[str, ...] | None = None


@dataclass(frozen=True)
class Prediction:
    """A checked prediction: the spans of each item."""

    spans: Mapping[str, tuple[Span, ...]]
    warnings: tuple[Problem, ...] = ()


# -------------------------------------------------------------------------------------------------------------- reading


def read_items(path: Path, options: SequenceOptions) -> Items:
    """Read the tokens of a CoNLL file, whose last column is ignored, or the ids of JSON lines; raises InvalidItems.

    The ids of gold are sorted.
    """
    data, problems = read_single(path, error=InvalidItems)[1], Problems()
    if is_json_lines(data):
        texts = read_spans(data, options.types, problems, others=True)
        items = _items_of_texts(texts, problems, in_order=all(text.spans is None for text in texts))
    else:
        items = _items_of_sentences(read_conll(data, problems))
    problems.raise_if_any(InvalidItems)
    return items


def read_gold(path: Path, options: SequenceOptions) -> Gold:
    """Read the spans of every sentence or text; raises InvalidGold with every problem."""
    data, problems = read_single(path, error=InvalidGold)[1], Problems()
    read = _read_json if is_json_lines(data) else _read_tagged
    items, spans, clusters = read(data, options, problems)
    distinct_types(list(spans.values()), problems)
    if not problems.errors and not any(spans.values()):
        problems.add("no-span", "no span is labelled: is this the gold?")
    problems.raise_if_any(InvalidGold)
    types = options.types or tuple(sorted({span.type for of_item in spans.values() for span in of_item}))
    return Gold(items, spans, types, clusters)


def items_of(gold: Gold, options: SequenceOptions) -> Items:
    """Return sentences in gold's order; texts by id, since their order could reveal something."""
    return Items(gold.items.tokens, {id_: gold.items.lengths[id_] for id_ in sorted_ids(gold.items.lengths)})


def read_prediction(path: Path, items: Items, options: SequenceOptions) -> Prediction:
    """Read the spans of every item, in the form of the items; raises InvalidPrediction with every problem of the file.

    Tags that break the scheme cause a warning: organisers choose how they are read.
    """
    data, problems = read_single(path)[1], Problems()
    if is_json_lines(data) is bool(items.tokens):
        wanted = "CoNLL columns, a token and its tag on each line" if items.tokens else "JSON lines, an object on each"
        problems.add("wrong-format", f"the file must be in the form of the items: {wanted}", line=1)
        raise InvalidPrediction(problems.errors)
    read = _predicted_tags if items.tokens else _predicted_spans
    spans = read(data, items, options, problems)
    distinct_types(list(spans.values()), problems)
    problems.raise_if_any()
    if options.types is None:
        types = (span.type for of_item in spans.values() for span in of_item if span.type != UNNAMED)
        note_undeclared(types, "type", "tag" if items.tokens else "spans", problems)
    return Prediction(spans, tuple(problems.warnings))


def _read_json(data: bytes, options: SequenceOptions, problems: Problems) -> tuple[Items, Spans, Clusters]:
    texts = read_spans(data, options.types, problems, others=True)
    if lacking := [text.line for text in texts if text.spans is None]:
        problems.add("missing-key", f"{len(lacking)} lines have no `spans`", line=lacking[0], column="spans")
    clusters = clusters_of_texts(texts, options.resample_by, problems) if options.resample_by else None
    faults = RowProblems()
    if options.types is None:
        note_labels(_types_of_spans(texts), "spans", "types", faults)
    faults.report(problems)
    return _items_of_texts(texts, problems, in_order=True), {text.id: text.spans or () for text in texts}, clusters


def _read_tagged(data: bytes, options: SequenceOptions, problems: Problems) -> tuple[Items, Spans, Clusters]:
    sentences, faults = read_conll(data, problems), RowProblems()
    items = _items_of_sentences(sentences)
    tags = check_tags(sentences, options.scheme, options.types, faults)
    if options.types is None:
        note_labels(_types_of_tags(sentences, tags), "tag", "types", faults)
    faults.report(problems)
    read = (tuple(spans_of(of_sentence, options.scheme, options.reading)) for of_sentence in tags)
    clusters = clusters_of_sentences(sentences, options.resample_by, problems) if options.resample_by else None
    return items, dict(zip(items.names, read, strict=True)), clusters


def _items_of_sentences(sentences: Sequence[Sentence]) -> Items:
    return Items({f"sentence {number}": one.tokens for number, one in enumerate(sentences, 1)}, {})


def _items_of_texts(texts: Sequence[SpanText], problems: Problems, *, in_order: bool) -> Items:
    if not texts and not problems.errors:
        problems.add("empty-file", "the file has no items")
    lengths = {text.id: text.length for text in texts}
    return Items({}, lengths if in_order else {id_: lengths[id_] for id_ in sorted_ids(lengths)})


def _predicted_tags(data: bytes, items: Items, options: SequenceOptions, problems: Problems) -> Spans:
    sentences, faults = read_conll(data, problems), RowProblems()
    if sentences and len(sentences) != len(items.tokens):
        message = f"the file has {len(sentences):,} sentences, the items have {len(items.tokens):,}"
        problems.add("wrong-sentences", message)
    found, broken = {}, list[int]()
    for (name, tokens), sentence in zip(items.tokens.items(), sentences, strict=False):
        _compare_tokens(name, tokens, sentence, faults)
    of_all = check_tags(sentences, options.scheme, options.types, faults)
    if options.types is None:
        note_labels(_types_of_tags(sentences, of_all), "tag", None, faults)
    for name, sentence, tags in zip(items.tokens, sentences, of_all, strict=False):
        pairs = zip(sentence.lines, (OUTSIDE, *tags), tags, strict=False)
        broken += [line for line, before, tag in pairs if breaks_scheme(before, tag, options.scheme)]
        found[name] = tuple(spans_of(tags, options.scheme, options.reading))
    faults.report(problems)
    if broken:
        how = "is read as conlleval does" if options.reading == "lenient" else "is not in a span"
        often = f" (and {len(broken) - 1} more)" if len(broken) > 1 else ""
        message = f"this tag does not follow from the one before{often}: what breaks {options.scheme.upper()} {how}"
        problems.add("broken-scheme", message, line=broken[0], severity="warning")
    return found


def _types_of_tags(sentences: Sequence[Sentence], tags: Sequence[Sequence[str]]) -> Iterator[tuple[int, str]]:
    """Yield the type of every tag that has one, with its line."""
    for sentence, own in zip(sentences, tags, strict=True):
        yield from ((line, tag[2:]) for line, tag in zip(sentence.lines, own, strict=True) if tag[2:])


def _types_of_spans(texts: Sequence[SpanText]) -> Iterator[tuple[int, str]]:
    """Yield the type of every span, with its line."""
    return ((text.line, span.type) for text in texts for span in text.spans or ())


def _compare_tokens(name: str, tokens: Sequence[str], sentence: Sentence, faults: RowProblems) -> None:
    if len(tokens) != len(sentence.tokens):
        message = f"{name} has {len(sentence.tokens)} tokens, in the items it has {len(tokens)}"
        faults.add("wrong-tokens", message, sentence.lines[0], "token")
        return
    for line, ours, theirs in zip(sentence.lines, sentence.tokens, tokens, strict=True):
        if ours != theirs:
            message = f"the token is {quoted(ours)}, in the items it is {quoted(theirs)} ({name})"
            message += f": {why}" if (why := difference(ours, theirs)) else ""
            faults.add("wrong-tokens", message, line, "token", ours)
            return


def _predicted_spans(data: bytes, items: Items, options: SequenceOptions, problems: Problems) -> Spans:
    texts, faults = read_spans(data, options.types, problems, others=False), RowProblems()
    likely = LookAlikes(items.lengths)
    if options.types is None:
        note_labels(_types_of_spans(texts), "spans", None, faults)
    for text in texts:
        if text.id not in items.lengths:
            message = f"id {quoted(text.id)} is not an item{likely.hint(text.id)}"
            faults.add("unknown-id", message, text.line, "id", text.id)
        elif text.spans is None:
            faults.add("missing-key", "`spans` is missing; write [] if there are none", text.line, "spans")
        for span in text.spans or ():
            if fault := place_fault(span.start, span.end, items.lengths.get(text.id)):
                faults.add("bad-span", fault, text.line, "spans")
    faults.report(problems)
    found = {text.id: text.spans or () for text in texts}
    if (missing := [id_ for id_ in items.lengths if id_ not in found]) and not problems.errors:
        problems.add("missing-id", f"{len(missing)} of {len(items.lengths)} ids are missing: {listed(missing)}")
    return found


# -------------------------------------------------------------------------------------------------------------- scoring


def score(gold: Gold, prediction: Prediction, options: SequenceOptions) -> list[Score]:
    """Compute SPAN_METRICS of all spans, their means over the types in gold or prediction, and those of each gold type.

    Raises InvalidGold if the prediction was checked against an items file that lacks items of the gold.
    """
    types, table = _totals(gold, prediction)
    overall = overall_scores(table).tolist()
    named = dict.fromkeys((*((ALL, metric) for metric in SPAN_METRICS), *((MACRO, metric) for metric in SPAN_METRICS)))
    found = dict(zip(named, overall, strict=True))
    for type_, row in zip(types, type_scores(table).tolist(), strict=True):
        found |= {(TYPE + type_, m): v for m, v in zip(SPAN_METRICS, row, strict=True) if type_ in gold.types}
    return [_score(metric, split, value, gold, options) for (split, metric), value in found.items()]


def outcomes(gold: Gold, prediction: Prediction, options: SequenceOptions) -> dict[str, Any]:
    """Return the outcomes per item, in gold's order, and clusters, if any.

    `{"items": names, "types": all types, "of_gold": how many types, counted from the first, have scores, "counts": for
    each item a list of [number of type, *SpanCounts], one for each type that it has}`. Raises InvalidGold as `score`
    does.
    """
    counts = _counts(gold, prediction)
    types = _all_types(gold, counts)
    number = {type_: place for place, type_ in enumerate(types)}
    rows = [[[number[type_], *of_type] for type_, of_type in of_item.items()] for of_item in counts]
    found = {"items": list(gold.spans), "types": types, "of_gold": len(gold.types), "counts": rows}
    return {**found, **clusters_document(options.resample_by, gold.clusters)}


def item_results(gold: Gold, prediction: Prediction, options: SequenceOptions) -> list[ItemResult]:
    """Return per item, in gold's order, the number of spans in gold, in the prediction, and exactly equal in both.

    Raises InvalidGold as `score` does.
    """
    found = []
    for (name, theirs), counts in zip(gold.spans.items(), _counts(gold, prediction), strict=True):
        exact, predicted = (sum(getattr(one, kind) for one in counts.values()) for kind in ("exact", "predicted"))
        wrong = len(theirs) + predicted - 2 * exact
        found.append(ItemResult(name, (), len(theirs), predicted, wrong == 0, wrong, matched=exact))
    return found


def _counts(gold: Gold, prediction: Prediction) -> list[dict[str, SpanCounts]]:
    """Return, for each item in gold's order, the counts by type; raises InvalidGold if the prediction lacks an item."""
    if missing := [name for name in gold.spans if name not in prediction.spans]:
        message = f"{len(missing)} gold items are not in the items file: {listed(missing)}"
        raise InvalidGold([Problem("unknown-id", message)])
    return [count_spans(theirs, prediction.spans[name]) for name, theirs in gold.spans.items()]


def _all_types(gold: Gold, counts: Sequence[Mapping[str, SpanCounts]]) -> list[str]:
    """Return gold's types, then those that only the prediction has."""
    return list(dict.fromkeys([*gold.types, *sorted({type_ for of_item in counts for type_ in of_item})]))


def _totals(gold: Gold, prediction: Prediction) -> tuple[list[str], np.ndarray[Any, np.dtype[np.float64]]]:
    counts = _counts(gold, prediction)
    types = _all_types(gold, counts)
    number = {type_: place for place, type_ in enumerate(types)}
    table = np.zeros((len(types), len(SpanCounts._fields)))
    for of_item in counts:
        for type_, of_type in of_item.items():
            table[number[type_]] += of_type
    return types, table


def _score(metric: str, split: str, value: float, gold: Gold, options: SequenceOptions) -> Score:
    tags = {"scheme": options.scheme, "reading": options.reading} if gold.items.tokens else {"spans": "given"}
    types = {"types": "present"} if split == MACRO else {}
    signed = signature(NAME, VERSION, metric, split, **tags, **types)
    reason = "neither gold nor prediction has such a span"
    return Score(metric, split, None, reason, signed) if isnan(value) else Score(metric, split, value, None, signed)


def part(gold: Gold, prediction: Prediction, keep: Keep) -> tuple[Gold, Prediction]:
    """Return the gold of the kept sentences or texts, and the prediction unchanged: it may contain further ones."""
    names = list(gold.spans)
    kept = kept_places(names, gold.clusters, keep)
    spans = {names[place]: gold.spans[names[place]] for place in kept}
    return replace(gold, spans=spans, clusters=kept_clusters(gold.clusters, kept)), prediction


def columns(options: SequenceOptions) -> tuple[Column, ...]:
    """Return the metrics of all spans and of the mean, the one by which boards rank first, and both F1s of every
    declared type.
    """
    first = (MACRO, "f1") if options.rank_by == "macro" else (ALL, options.rank_by)
    names = [(split, metric) for split in (ALL, MACRO) for metric in SPAN_METRICS]
    names.sort(key=lambda name: name != first)
    names += [(TYPE + type_, metric) for type_ in options.types or () for metric in ("f1", "lenient_f1")]
    return tuple(Column(metric, split, METRICS[metric].title + _suffix(split)) for split, metric in names)


def _suffix(split: str) -> str:
    return "" if split == ALL else f", {split.removeprefix(TYPE)}"


def advice(options: SequenceOptions) -> str | None:
    """Return the advice to declare the types; None if they are declared."""
    return advice_on("types", "type") if options.types is None else None


def template(items: Items, options: SequenceOptions) -> str:
    """Return every token with the tag O, or every id without a span, to be filled in."""
    if items.tokens:
        sentences = ("".join(f"{token}\t{OUTSIDE}\n" for token in tokens) for tokens in items.tokens.values())
        return "\n".join(sentences)
    return "".join(json.dumps({"id": id_, "spans": []}, ensure_ascii=False) + "\n" for id_ in items.lengths)


METRICS = {
    metric.name: metric
    for metric in (
        Metric("f1", "F1", "F1 of spans with exactly the right place and type."),
        Metric("precision", "Precision", "The share of predicted spans that are exactly right."),
        Metric("recall", "Recall", "The share of gold's spans that were found exactly."),
        Metric("lenient_f1", "Lenient F1", "F1 of spans of the right type that overlap, paired one to one."),
        Metric("lenient_precision", "Lenient precision", "The share of predicted spans in such a pair."),
        Metric("lenient_recall", "Lenient recall", "The share of gold's spans in such a pair."),
    )
}

TASK = Task(
    name=NAME,
    version=VERSION,
    title="Sequence labelling",
    summary="Spans with types, as BIO or BIOES tags or as JSON lines: exact and lenient F1, overall and by type.",
    options=SequenceOptions,
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
    template_name="template.txt",
)
