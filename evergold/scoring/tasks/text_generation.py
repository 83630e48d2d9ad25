"""text-generation: a text per id, compared with references by BERTScore, and by the text metrics of `table`.

Files, checks, groups and the other metrics are those of the task type `table`; BERTScore is computed as for
mwe-paraphrase (`bertscore`): of several references the best, for precision, recall and F1 separately; over items, the
mean. An empty prediction, where it is allowed, scores 0. With idf, all tokens of a text may have the weight 0 (because
each occurs in every reference): its precision or recall is then undefined, and so is the mean over items; its F1 is 0,
as in bert-score.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import replace
from typing import Annotated, Any, Self

import numpy as np
from pydantic import AfterValidator, Field, model_validator

from evergold.scoring.bertscore.encoders import Encoder, load_encoder
from evergold.scoring.bertscore.models import LAYERS, Precision, current_settings, model_name
from evergold.scoring.bertscore.scores import Compatibility, bertscore, bertscore_signature
from evergold.scoring.option_types import Texts
from evergold.scoring.progress import report_progress
from evergold.scoring.samples.table import sample
from evergold.scoring.tables.metrics import METRICS as TABLE_METRICS, NO_ITEMS, TEXT_METRICS, Found
from evergold.scoring.tables.options import ALL, MEAN, TableOptions
from evergold.scoring.tables.rows import Items
from evergold.scoring.task import Column, ItemResult, Metric, Score, Task, signature
from evergold.scoring.tasks import table
from evergold.scoring.tasks.table import Gold, Prediction

NAME, VERSION = "text-generation", 3
WEIGHTLESS = "by idf no token of some {} weighs anything: each is in every reference"
_SIDES = {"bertscore_precision": "predicted texts", "bertscore_recall": "references"}
BERTSCORES = ("bertscore_f1", "bertscore_precision", "bertscore_recall")

#: Values of every item, by metric; NaN where undefined.
Numbers = Mapping[str, "np.ndarray[Any, np.dtype[np.float64]]"]


class TextOptions(TableOptions):
    """Options besides those of `table` for texts; metrics: those besides BERTScore.

    model, layer: the encoder and the layer of its vectors (None: as bert-score recommends for the model); precision: of
    the encoder; idf: whether rare tokens weigh more; baseline: the scores of unrelated texts, used for rescaling;
    compatibility: `upstream-64` to reproduce what bert-score prints by default.
    """

    metrics: Annotated[Texts, Field(min_length=1)] = ("chrf",)
    value: str = Field("text", min_length=1)
    model: Annotated[str, AfterValidator(model_name)] = "bert-base-multilingual-cased"
    layer: Annotated[int, Field(ge=0, le=100)] | None = None
    precision: Precision = "fp32"
    idf: bool = False
    baseline: Annotated[float, Field(gt=-1, lt=1)] | None = None
    compatibility: Compatibility = "batch-independent"

    @model_validator(mode="after")
    def _of_texts(self) -> Self:
        if self.kind != "texts":
            raise ValueError(f"the metrics beside BERTScore are those of texts: {', '.join(TEXT_METRICS)}")
        if self.layer is None and self.model not in LAYERS:
            raise ValueError(f"give layer: for {self.model} none is recommended")
        return self

    @property
    def used_layer(self) -> int:
        """The layer that the options name, or else the one recommended for the model."""
        return LAYERS[self.model] if self.layer is None else self.layer


def score(gold: Gold, prediction: Prediction, options: TextOptions) -> list[Score]:
    """Compute BERTScore's F1, precision and recall, then the other metrics, for all items, for groups and their means.

    BERTScore is at most 1, and seldom below 0; precision and recall of a split are undefined if they are for one of its
    items (`WEIGHTLESS`). Raises InvalidGold as `table.score` does, and the errors of `load_encoder`.
    """
    return score_with_outcomes(gold, prediction, options)[0]


def score_with_outcomes(gold: Gold, prediction: Prediction, options: TextOptions) -> tuple[list[Score], dict[str, Any]]:
    """Return the scores, and the outcomes from which they follow, as `table.outcomes` does.

    Metrics that need no encoder come before the first report of progress: until then the time limit is that of `table`.
    """
    compared = table.statistics_of(gold, prediction, options)
    encoder, numbers = _bertscores(gold, prediction, options)
    scores = [score for metric in BERTSCORES for score in _scores(metric, numbers, gold, encoder, options)]
    scores += table.scores_as(NAME, VERSION, gold, prediction, options, compared)
    found = table.outcomes_of(gold, prediction, options, compared)
    statistics = {name: [[_number(value)] for value in numbers[name]] for name in BERTSCORES}
    metrics = {"metrics": [*BERTSCORES, *options.metrics], "statistics": statistics | found["statistics"]}
    return scores, found | metrics


def outcomes(gold: Gold, prediction: Prediction, options: TextOptions) -> dict[str, Any]:
    """Return the outcomes, see `score_with_outcomes`."""
    return score_with_outcomes(gold, prediction, options)[1]


def item_results(
    gold: Gold, prediction: Prediction, options: TextOptions, outcomes: Mapping[str, Any]
) -> list[ItemResult]:
    """Return the results of `table.item_results`; the error of an item is its BERTScore minus 1.

    Items that `exact_match` judges right or wrong have no error.
    """
    values = [value for (value,) in outcomes["statistics"][BERTSCORES[0]]]
    return [
        one if one.is_right is not None else replace(one, error=value - 1)
        for one, value in zip(table.item_results(gold, prediction, options), values, strict=True)
    ]


def _number(value: float) -> float | None:
    """Return a number for JSON, None for NaN."""
    return None if np.isnan(value) else float(value)


def _bertscores(gold: Gold, prediction: Prediction, options: TextOptions) -> tuple[Encoder, Numbers]:
    texts = table.in_order_of(gold, prediction)
    references = [[reference for reference in of_item if reference] for of_item in gold.references]
    report_progress(0, len(texts))
    encoder = load_encoder(options.model, options.used_layer, options.precision, current_settings())
    report_progress(0, len(texts))  # loading the model is not part of the pace
    pairs = bertscore(
        encoder,
        texts,
        references,
        idf=options.idf,
        baseline=None if options.baseline is None else (options.baseline,) * 3,
        compatibility=options.compatibility,
        gold_sha256=hashlib.sha256(repr(references).encode()).hexdigest(),
        advance=lambda share: report_progress(int(share * len(texts)), len(texts)),
    )
    # Rounding sometimes makes the scores of equal texts 1.0000001.
    best = (np.minimum(values.astype(np.float64), 1.0) for values in (pairs.f1, pairs.precision, pairs.recall))
    return encoder, dict(zip(BERTSCORES, best, strict=True))


def _scores(metric: str, numbers: Numbers, gold: Gold, encoder: Encoder, options: TextOptions) -> list[Score]:
    found = {split: _mean(metric, numbers[metric][where]) for split, where in gold.splits.items()}
    parts = bertscore_signature(encoder, idf=options.idf, compatibility=options.compatibility)
    parts |= {"baseline": options.baseline, "nrefs": 1 + len(options.references)}
    scores = []
    for split in table.splits_of(options):
        column, _, group = split.partition("/")
        value, reason = table.group_mean(column, found, options) if group == MEAN else found[split]
        groups = {"groups": options.groups[column]} if group == MEAN else {}
        signed = signature(NAME, VERSION, metric, split, **parts, **groups)
        scores.append(Score(metric, split, value, reason, signed))
    return scores


def _mean(metric: str, values: np.ndarray[Any, np.dtype[np.float64]]) -> Found:
    if not len(values):
        return None, NO_ITEMS
    mean = _number(values.mean())
    return mean, WEIGHTLESS.format(_SIDES.get(metric, "texts")) if mean is None else None


def columns(options: TextOptions) -> tuple[Column, ...]:
    """Return the columns: BERTScore's F1 of every split, the other metrics, then BERTScore's precision and recall."""
    of_others = table.columns(options)
    own = [
        Column(metric, split, METRICS[metric].title + ("" if split == ALL else f", {split.replace('/', ' ')}"))
        for metric in BERTSCORES
        for split in table.splits_of(options)
    ]
    first = len(own) // len(BERTSCORES)
    return (*own[:first], *of_others, *own[first:])


METRICS = {
    **{
        metric.name: metric
        for metric in (
            Metric("bertscore_f1", "BERTScore", "F1 of tokens matched by their vectors, the mean over items.", None),
            Metric("bertscore_precision", "BERTScore, precision", "Of the predicted text's tokens.", None),
            Metric("bertscore_recall", "BERTScore, recall", "Of the reference's tokens.", None),
        )
    },
    **{name: TABLE_METRICS[name] for name in TEXT_METRICS},
}


TASK = Task(
    name=NAME,
    version=VERSION,
    title="Text generation",
    summary="A text per id, compared with references by BERTScore, ROUGE, chrF, BLEU and TER, in groups.",
    options=TextOptions,
    metrics=METRICS,
    columns=columns,
    read_items=table.read_items,
    read_gold=table.read_gold,
    items_of=table.items_of,
    demands=Items.demands,
    read_prediction=table.read_prediction,
    score=score,
    outcomes=outcomes,
    score_with_outcomes=score_with_outcomes,
    sample=sample,
    item_results_from_outcomes=item_results,
    part=table.part,
    template=table.template,
    needs_gpu=True,
)
