"""Kinds of answers that systems give, described for organisers; each determines a task type and its first options."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal

from app.declarations.blueprints.stories import first_document
from app.declarations.revisions.documents import Document
from evergold.scoring.errors import ScoringError
from evergold.scoring.tables.metrics import LABEL_METRICS, NUMBER_METRICS
from evergold.scoring.task import Metric, read_options
from evergold.scoring.tasks import TASKS, multi_label, mwe_identification, ranking, sequence_labelling, table

Answer = Literal["label", "labels", "number", "text"]


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of answer.

    answer: the content of a cell of the gold's table; None if gold is not a table, so that there are no columns to
    choose.
    metrics: those ticked at first, the ranking one first.
    """

    name: str
    title: str
    example: str
    task_type: str
    answer: Answer | None = None
    options: Mapping[str, Any] = field(default_factory=dict)
    metrics: tuple[str, ...] = ()


#: Text metrics that need no further package and no language.
_TEXTS = ("chrf", "bleu", "ter", "exact_match")
KINDS = (
    Kind(
        "label",
        "A label for each item",
        "sentence → idiomatic or literal",
        table.NAME,
        "label",
        {"metrics": list(LABEL_METRICS)},
        ("macro_f1", "accuracy"),
    ),
    Kind(
        "labels",
        "Several labels",
        "text → sport, politics",
        multi_label.NAME,
        "labels",
        metrics=("micro_f1", "macro_f1"),
    ),
    Kind(
        "number",
        "A number",
        "pair of sentences → similarity 0 to 5",
        table.NAME,
        "number",
        {"metrics": list(NUMBER_METRICS), "value": "score"},
        ("spearman", "pearson"),
    ),
    Kind(
        "text",
        "A text",
        "sentence → paraphrase",
        table.NAME,
        "text",
        {"metrics": list(_TEXTS), "value": "text"},
        ("chrf", "bleu"),
    ),
    Kind("spans", "Spans in a text", "names, expressions", sequence_labelling.NAME),
    Kind("ranking", "A ranking", "query → documents", ranking.NAME),
    Kind("corpus", "An annotated corpus", "multiword expressions in CUPT", mwe_identification.NAME),
)
#: Maximum length of a generated name, so that a number can be appended to it.
_NAME_CHARACTERS = 50

#: What a metric rewards, for metrics whose own description is a definition.
_REWARDS = {
    "accuracy": "the share of right answers; frequent labels weigh more",
    "macro_f1": "every label weighs the same, however rare",
    "micro_f1": "every decision weighs the same; with one label per item the same as accuracy",
    "weighted_f1": "labels weigh by how often they occur",
    "mcc": "0 for guessing, 1 for perfect, also where labels are unbalanced",
    "pearson": "distances between the scores are right",
    "spearman": "the order of items is right, whatever the scale",
    "kendall": "the order of each pair of items is right",
    "mae": "small errors on average; lower is better",
    "rmse": "no large errors; lower is better",
    "exact_match": "exactly a reference, character by character",
    "chrf": "shared pieces of words; works for every language",
    "bleu": "shared sequences of words",
    "ter": "few edits to reach a reference; lower is better",
}


def name_from(title: str) -> str:
    """Return a name for addresses derived from a title: letters without accents, digits, hyphens."""
    plain = unicodedata.normalize("NFKD", title).encode("ascii", "ignore").decode().lower()
    return re.sub(r"[^a-z0-9]+", "-", plain).strip("-")[:_NAME_CHARACTERS].strip("-") or "competition"


def kind_named(name: str) -> Kind | None:
    """Return the kind with this name; None if there is none."""
    return next((kind for kind in KINDS if kind.name == name), None)


def kind_of(task: Mapping[str, Any]) -> Kind | None:
    """Return the kind of a declared task; None for a task type without one."""
    same = [kind for kind in KINDS if kind.task_type == task.get("type")]
    if len(same) < 2:
        return same[0] if same else None
    metrics = (task.get("options") or {}).get("metrics") or same[0].options["metrics"]
    return next((kind for kind in same if metrics[0] in kind.options["metrics"]), same[0])


def begun_document(name: str, title: str, kind: Kind, now: datetime) -> Document:
    """Return a first declaration with a task of this kind, and a board with the kind's first metrics."""
    document = first_document(name, title, kind.task_type, now)
    if kind.options:
        document["tasks"][0]["options"] = dict(kind.options)
    if kind.metrics:
        document["boards"][0]["columns"] = [{"metric": metric, "split": "all"} for metric in kind.metrics]
    return document


def rewards(metric: Metric) -> str:
    """Return what a metric rewards, as text without a full stop."""
    words = _REWARDS.get(metric.name) or metric.description.rstrip(".")
    return words[:1].lower() + words[1:] if not words[:2].isupper() else words


def metrics_offered(task: Mapping[str, Any]) -> dict[str, Metric]:
    """Return the metrics that a declared task computes, by name; empty if its options are invalid."""
    type_ = TASKS.get(str(task.get("type")))
    if type_ is None:
        return {}
    try:
        options = read_options(type_, task.get("options") or {})
        named = dict.fromkeys(column.metric for column in type_.columns(options))
    except (ScoringError, ValueError, KeyError):
        return {}
    known = type_.metrics_of(options)
    return {name: known[name] for name in named if name in known}
