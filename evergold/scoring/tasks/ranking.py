"""ranking: documents in the order of their relevance to each query.

Gold: query, document, relevance (a whole number, 0 or less: judged and not relevant; other columns are ignored).
Prediction: query, document, score; the order follows from the scores alone.
Items: queries, and, if teams must rank given candidates, a document on each line. CSV, TSV, JSON lines, or TREC's qrels
and runs.
Scores: MRR, MAP and nDCG, overall or at cutoffs, means over all of gold's queries.
Source: trec_eval, see `evergold.scoring.ranking`.
Deliberate: a query left out is a problem (trec_eval would count 0, or leave it out); scores are compared in double
precision (trec_eval's are single).
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import fsum
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field

from evergold.scoring.archives import Limits, read_single
from evergold.scoring.characters import LookAlikes
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
from evergold.scoring.gold_values import note_names, values_with_lines
from evergold.scoring.halves import Keep, kept_clusters, kept_places
from evergold.scoring.numerals import finite_number
from evergold.scoring.ranking import average_precision, ndcg, ranked, reciprocal_rank
from evergold.scoring.samples.ranking import sample
from evergold.scoring.slips import blank_fault, id_fault, number_fault
from evergold.scoring.tables.ranking_files import DOCUMENT, QUERY, RELEVANCE, SCORE, clusters_of_queries, read_rankings
from evergold.scoring.tables.reading import Table
from evergold.scoring.tables.row_problems import RowProblems
from evergold.scoring.tables.rows import sorted_ids
from evergold.scoring.tables.settings import clusters_document, listed, unfilled, with_clusters
from evergold.scoring.task import Column, ItemResult, Metric, Options, Score, Task, signature

NAME, VERSION = "ranking", 1
ALL = "all"
CUTOFFS = (1, 3, 5, 10, 20, 50, 100, 1000)
MOST_RELEVANT = 100

_RELEVANCE = re.compile(r"-?[0-9]{1,3}")
_LIMITS = Limits(total_bytes=1024**3, member_bytes=1024**3)

Cutoff = Literal[1, 3, 5, 10, 20, 50, 100, 1000]


class RankingOptions(Options):
    """Options of the task type.

    cutoffs: the cutoffs of nDCG; relevant_from: the lowest relevance with which a document is relevant for MRR and MAP;
    gain: the gain in nDCG, the relevance itself or 2^relevance - 1; most_documents: how many documents a prediction may
    rank for one query; rank_by: which score is the first column (nDCG: at the first cutoff); resample_by: a column of
    gold whose queries with the same value belong together (a topic, a user), for intervals and comparisons; no score
    depends on it.
    """

    cutoffs: Annotated[tuple[Cutoff, ...], Field(min_length=1)] = (10,)
    relevant_from: int = Field(1, ge=1, le=MOST_RELEVANT)
    gain: Literal["linear", "exponential"] = "linear"
    most_documents: int = Field(1000, ge=1, le=100_000)
    rank_by: Literal["ndcg", "mrr", "map"] = "ndcg"
    resample_by: str | None = Field(None, min_length=1)

    @property
    def metrics(self) -> tuple[str, ...]:
        """The metrics that are computed."""
        return (*(f"ndcg_{cutoff}" for cutoff in dict.fromkeys(self.cutoffs)), "mrr", "map", "ndcg")


@dataclass(frozen=True)
class Items:
    """n queries. candidates: by query, exactly the documents that a prediction must rank; empty if it may rank any."""

    queries: tuple[str, ...]
    candidates: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def demands(self) -> dict[str, object]:
        """Return the queries."""
        return dict.fromkeys(self.queries)


@dataclass(frozen=True)
class Gold:
    """Relevance of every judged document of each query, in file order; clusters: the cluster of each query, its value
    in the column `resample_by`.
    """

    judgements: Mapping[str, Mapping[str, int]]
    clusters: tuple[str, ...] | None = None


@dataclass(frozen=True)
class Prediction:
    """A checked prediction: the ranked documents of each query."""

    rankings: Mapping[str, tuple[str, ...]]
    warnings: tuple[Problem, ...] = ()


def read_items(path: Path, options: RankingOptions) -> Items:
    """Read the queries of the blind file in its order, or of gold; raises InvalidItems.

    Documents of a blind file are candidates.
    """
    _, data = read_single(path, _LIMITS, InvalidItems)
    problems = Problems()
    table = read_rankings(data, RELEVANCE, problems, is_optional=True, others=True)
    if table is None:
        raise InvalidItems(problems.errors, problems.omitted)
    if RELEVANCE in table:
        return items_of(_parse_gold(data, options, InvalidItems), options)
    faults = RowProblems()
    has_documents = DOCUMENT in table
    documents = table[DOCUMENT] if has_documents else [""] * len(table)
    found = _grouped(table, documents, faults, needs_document=has_documents)
    faults.report(problems)
    if not found and not problems.errors:
        problems.add("empty-file", "the file has no items, only a header")
    problems.raise_if_any(InvalidItems)
    candidates = {query: tuple(rows) for query, rows in found.items()} if has_documents else {}
    return Items(tuple(found), candidates)


def read_gold(path: Path, options: RankingOptions) -> Gold:
    """Read the judgements of every query; raises InvalidGold with every problem."""
    return _parse_gold(read_single(path, _LIMITS, InvalidGold)[1], options, InvalidGold)


def items_of(gold: Gold, options: RankingOptions) -> Items:
    """Return gold's queries, sorted. Its documents are no items: it would reveal that they were judged."""
    return Items(sorted_ids(gold.judgements))


def read_prediction(path: Path, items: Items, options: RankingOptions) -> Prediction:
    """Read every query's documents by falling score; raises InvalidPrediction with every problem of the file."""
    _, data = read_single(path)
    problems, faults = Problems(), RowProblems()
    table = read_rankings(data, SCORE, problems)
    if table is None:
        raise InvalidPrediction(problems.errors, problems.omitted)
    known, likely = set(items.queries), LookAlikes(items.queries)
    for line, query, text in zip(table.lines, table[QUERY], table[SCORE], strict=True):
        if query not in known:
            faults.add("unknown-query", f"{quoted(query)} is not a query{likely.hint(query)}", line, QUERY, query)
        if fault := number_fault(text):
            faults.add("bad-score", fault, line, SCORE, text)
    found = _grouped(table, table[DOCUMENT], faults, needs_document=True)
    _check_candidates(table, items, faults)
    _check_lengths(table, found, options, faults)
    faults.report(problems)
    if not table.skipped_rows:
        _note_missing(found, items, problems)
    problems.raise_if_any()
    scores = [finite_number(text) or 0.0 for text in table[SCORE]]
    rankings = {
        query: tuple(ranked({document: scores[row] for document, row in rows.items()})) for query, rows in found.items()
    }
    return Prediction(rankings, tuple(problems.warnings))


def score(gold: Gold, prediction: Prediction, options: RankingOptions) -> list[Score]:
    """Compute nDCG at every cutoff, MRR, MAP and nDCG, each the mean over gold's queries, in [0, 1].

    A query without a relevant document counts as 0, as in trec_eval. Raises InvalidGold if the prediction was checked
    against an items file that lacks queries of the gold.
    """
    found = _values(gold, prediction, options)
    return [
        Score(
            metric,
            ALL,
            fsum(values) / len(values),
            None,
            signature(NAME, VERSION, metric, ALL, **_parts(metric, options)),
        )
        for metric, values in found.items()
    ]


def outcomes(gold: Gold, prediction: Prediction, options: RankingOptions) -> dict[str, Any]:
    """Return the outcomes per query, in gold's order, and clusters, if any.

    `{"items": queries, "values": {metric: of each query}}`. Raises InvalidGold as `score` does.
    """
    found = {"items": list(gold.judgements), "values": _values(gold, prediction, options)}
    return {**found, **clusters_document(options.resample_by, gold.clusters)}


def item_results(gold: Gold, prediction: Prediction, options: RankingOptions) -> list[ItemResult]:
    """Return per query, in gold's order, the number n of relevant documents, and how many of the first n ranked
    documents are relevant.

    Raises InvalidGold as `score` does.
    """
    found = []
    for query, judged in gold.judgements.items():
        relevant = {document for document, grade in judged.items() if grade >= options.relevant_from}
        first = _ranking(prediction, query)[: len(relevant)]
        hits = sum(document in relevant for document in first)
        wrong = len(relevant) + len(first) - 2 * hits
        found.append(ItemResult(query, (), len(relevant), len(first), hits == len(relevant), wrong, matched=hits))
    return found


def part(gold: Gold, prediction: Prediction, keep: Keep) -> tuple[Gold, Prediction]:
    """Return the judgements of the kept queries, and the prediction unchanged: it may rank further queries."""
    queries = list(gold.judgements)
    kept = kept_places(queries, gold.clusters, keep)
    judgements = {queries[place]: gold.judgements[queries[place]] for place in kept}
    return Gold(judgements, kept_clusters(gold.clusters, kept)), prediction


def columns(options: RankingOptions) -> tuple[Column, ...]:
    """Return every metric, the one by which boards rank first."""
    first = options.metrics[0] if options.rank_by == "ndcg" else options.rank_by
    names = sorted(options.metrics, key=lambda name: name != first)
    return tuple(Column(name, ALL, METRICS[name].title) for name in names)


def template(items: Items, options: RankingOptions) -> str | None:
    """Return the empty submission: every candidate without a score; None if there are no candidates."""
    if not items.candidates:
        return None
    rows = ((query, document, "") for query, documents in items.candidates.items() for document in documents)
    return unfilled([QUERY, DOCUMENT, SCORE], rows)


# ---------------------------------------------------------------------------------------------------------- scoring


def _values(gold: Gold, prediction: Prediction, options: RankingOptions) -> dict[str, list[float]]:
    """Return the value of every metric for each query, in gold's order."""
    if missing := [query for query in gold.judgements if query not in prediction.rankings]:
        message = f"{len(missing)} queries of gold are not in the items file: {listed(missing)}"
        raise InvalidGold([Problem("unknown-query", message)])
    rows = [_of_query(judged, _ranking(prediction, query), options) for query, judged in gold.judgements.items()]
    return {metric: [row[metric] for row in rows] for metric in options.metrics}


def _ranking(prediction: Prediction, query: str) -> tuple[str, ...]:
    return prediction.rankings[query]


def _of_query(judged: Mapping[str, int], ranking: Sequence[str], options: RankingOptions) -> dict[str, float]:
    grades = [judged.get(document, 0) for document in ranking]
    relevant = [grade >= options.relevant_from for grade in grades]
    gains, all_gains = (_gains(side, options) for side in (grades, judged.values()))
    cut = {f"ndcg_{cutoff}": ndcg(gains, all_gains, cutoff) for cutoff in options.cutoffs}
    of = sum(grade >= options.relevant_from for grade in judged.values())
    mean = {"mrr": reciprocal_rank(relevant), "map": average_precision(relevant, of)}
    return {**cut, **mean, "ndcg": ndcg(gains, all_gains, None)}


def _gains(grades: Iterable[int], options: RankingOptions) -> list[float]:
    """Return the gain of each grade; as in trec_eval, a negative grade has a gain of 0."""
    return [float(grade if options.gain == "linear" else 2**grade - 1) if grade > 0 else 0.0 for grade in grades]


def _parts(metric: str, options: RankingOptions) -> dict[str, object]:
    if metric.startswith("ndcg"):
        return {"gain": options.gain, "discount": "log2", "ties": "name"}
    return {"relevant": options.relevant_from, "ties": "name"}


# ---------------------------------------------------------------------------------------------------------- reading


def _parse_gold(data: bytes, options: RankingOptions, error: type[InvalidFile]) -> Gold:
    problems, faults = Problems(), RowProblems()
    wanted = with_clusters([QUERY, DOCUMENT], options.resample_by)
    table = read_rankings(data, RELEVANCE, problems, columns=wanted, others=True)
    if table is None:
        raise error(problems.errors, problems.omitted)
    grades = table[RELEVANCE]
    for line, text in zip(table.lines, grades, strict=True):
        if not _RELEVANCE.fullmatch(text) or abs(int(text)) > MOST_RELEVANT:
            message = blank_fault(text, "relevance")
            message = message or f"{quoted(text)} is not a whole number from -{MOST_RELEVANT} to {MOST_RELEVANT}"
            faults.add("bad-relevance", message, line, RELEVANCE, text)
    found = _grouped(table, table[DOCUMENT], faults, needs_document=True)
    for column in (QUERY, DOCUMENT):
        note_names(values_with_lines(table.lines, table[column]), column, faults)
    faults.report(problems)
    if not found and not problems.errors:
        problems.add("empty-file", "the file has no judgement")
    clusters = clusters_of_queries(table, options.resample_by, problems)
    problems.raise_if_any(error)
    judgements = {query: {name: int(grades[row]) for name, row in rows.items()} for query, rows in found.items()}
    return Gold(judgements, tuple(clusters[query] for query in judgements) if clusters is not None else None)


def _grouped(
    table: Table, documents: Sequence[str], faults: RowProblems, *, needs_document: bool
) -> dict[str, dict[str, int]]:
    """Return the row of each query and document, in the order of the file; report empty and repeated names."""
    found: defaultdict[str, dict[str, int]] = defaultdict(dict)
    for row, (line, query, document) in enumerate(zip(table.lines, table[QUERY], documents, strict=True)):
        if fault := id_fault(query, "query"):
            faults.add("bad-id", fault, line, QUERY, query)
        if needs_document and (fault := id_fault(document, "document")):
            faults.add("bad-id", fault, line, DOCUMENT, document)
        before = found[query].setdefault(document, row)
        if before != row:
            what = f"document {shorten(document)} of query {shorten(query)}" if document else f"query {shorten(query)}"
            message = f"{what} appears twice, first on line {table.lines[before]}"
            faults.add("duplicate-id", message, line, DOCUMENT if document else QUERY, document or query)
    return dict(found)


def _check_candidates(table: Table, items: Items, faults: RowProblems) -> None:
    known = {query: set(documents) for query, documents in items.candidates.items()}
    for line, query, document in zip(table.lines, table[QUERY], table[DOCUMENT], strict=True):
        if query in known and document not in known[query]:
            message = f"{quoted(document)} is not a candidate of query {shorten(query)}"
            faults.add("unknown-document", message, line, DOCUMENT, document)


def _check_lengths(
    table: Table, found: Mapping[str, Mapping[str, int]], options: RankingOptions, faults: RowProblems
) -> None:
    for query, rows in found.items():
        if len(rows) > options.most_documents:
            message = f"query {shorten(query)} has {len(rows):,} documents, at most {options.most_documents:,} may be"
            line = table.lines[list(rows.values())[options.most_documents]]
            faults.add("too-many-documents", message, line, QUERY, query)


def _note_missing(found: Mapping[str, Mapping[str, int]], items: Items, problems: Problems) -> None:
    if missing := [query for query in items.queries if query not in found]:
        message = f"{len(missing)} of {len(items.queries)} queries are missing: {listed(missing)}"
        problems.add("missing-query", message, column=QUERY)
    short = [
        query
        for query, documents in items.candidates.items()
        if query in found and not found[query].keys() >= set(documents)
    ]
    if short:
        message = f"{len(short)} queries lack some of their candidates: {listed(short)}"
        problems.add("missing-document", message, column=DOCUMENT)


METRICS = {
    metric.name: metric
    for metric in (
        *(
            Metric(
                f"ndcg_{cutoff}", f"nDCG@{cutoff}", f"Discounted gain of the first {cutoff}, over the best possible."
            )
            for cutoff in CUTOFFS
        ),
        Metric("mrr", "MRR", "The mean of 1 / rank of the first relevant document."),
        Metric("map", "MAP", "The mean of average precision."),
        Metric("ndcg", "nDCG", "Discounted gain of the whole ranking, over the best possible."),
    )
}

TASK = Task(
    name=NAME,
    version=VERSION,
    title="Ranking",
    summary="Documents in the order of their relevance to each query: MRR, MAP, nDCG, as trec_eval computes them.",
    options=RankingOptions,
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
