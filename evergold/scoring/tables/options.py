"""Options of the task type `table`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Annotated, Self

from pydantic import AfterValidator, Field, model_validator

from evergold.scoring.errors import quoted
from evergold.scoring.option_types import USUAL_CHARACTERS, MaxCharacters, Texts
from evergold.scoring.tables.metrics import BLEU_TOKENIZERS, KINDS, METRICS
from evergold.scoring.tables.rouge import ROUGE
from evergold.scoring.task import Options

ALL, MEAN = "all", "mean"

_GROUP = re.compile(r"[A-Za-z0-9]+([_.-][A-Za-z0-9]+)*")


def _group_names(groups: Mapping[str, tuple[str, ...]]) -> Mapping[str, tuple[str, ...]]:
    for column, values in groups.items():
        if not values:
            raise ValueError(f"groups: list the values of {column}")
        for name in (column, *values):
            if not _GROUP.fullmatch(name) or name in (ALL, MEAN):
                raise ValueError(f"{quoted(name)} cannot name a split: letters, digits, - . _, not {ALL} or {MEAN}")
    return groups


class TableOptions(Options):
    """Options of the task type.

    metrics: one or more of a kind; id, value: the columns' names in gold and prediction; gold_value: the name of the
    value column in gold (None: the same); groups: gold columns to score by, each with its values; labels: what a label
    may be (None: any, with a warning; one that gold lacks counts as wrong); minimum, maximum: bounds of predicted
    numbers; references: gold columns with further references for texts, empty cells allowed; lowercase: whether text
    metrics ignore case; bleu_tokenize: the tokeniser of BLEU; rouge_stemmer: whether ROUGE compares stems (English
    only); allow_empty: whether a predicted text may be empty; max_characters: maximum length of a text in gold or
    prediction; resample_by: a gold column whose items with the same value belong together (a document), for intervals
    and comparisons; no score depends on it.
    """

    metrics: Annotated[Texts, Field(min_length=1)] = ("macro_f1", "accuracy")
    id: str = Field("id", min_length=1)
    value: str = Field("label", min_length=1)
    gold_value: str | None = Field(None, min_length=1)
    groups: Annotated[Mapping[str, Texts], AfterValidator(_group_names)] = Field(default_factory=dict)
    labels: Texts | None = None
    minimum: float | None = None
    maximum: float | None = None
    references: Texts = ()
    lowercase: bool = False
    bleu_tokenize: str = "13a"
    rouge_stemmer: bool = False
    allow_empty: bool = False
    max_characters: MaxCharacters = USUAL_CHARACTERS
    resample_by: str | None = Field(None, min_length=1)

    @model_validator(mode="after")
    def _fits_together(self) -> Self:
        if unknown := [metric for metric in self.metrics if metric not in METRICS]:
            raise ValueError(f"there is no metric {quoted(unknown[0])}; the metrics are {', '.join(METRICS)}")
        if not any(set(self.metrics) <= set(names) for names in KINDS.values()):
            kinds = "; ".join(f"{kind}: {', '.join(names)}" for kind, names in KINDS.items())
            raise ValueError(f"the metrics must be of one kind ({kinds})")
        named = [self.id, self.answer, *self.groups, *self.references]
        if len(set(named)) < len(named) or self.value == self.id:
            raise ValueError("id, value, groups and references must be different columns")
        if self.bleu_tokenize not in BLEU_TOKENIZERS:
            raise ValueError(f"bleu_tokenize must be one of {', '.join(BLEU_TOKENIZERS)}")
        for names, kind in ((("labels",), "labels"), (("minimum", "maximum"), "numbers"), (_OF_TEXTS, "texts")):
            if self.kind != kind and self.model_fields_set.intersection(names):
                raise ValueError(f"{', '.join(names)} need metrics of {kind}, but these are of {self.kind}")
        return self

    @property
    def answer(self) -> str:
        """The name of gold's value column."""
        return self.value if self.gold_value is None else self.gold_value

    @property
    def uses_rouge(self) -> bool:
        """True if a metric is ROUGE."""
        return any(metric.startswith(ROUGE) for metric in self.metrics)

    @property
    def kind(self) -> str:
        """The kind of a value: `labels`, `numbers` or `texts`."""
        return next(kind for kind, names in KINDS.items() if self.metrics[0] in names)


_OF_TEXTS = ("references", "lowercase", "bleu_tokenize", "rouge_stemmer", "allow_empty", "max_characters")
