"""The metrics of the generic task `table`, from scikit-learn, scipy and sacrebleu: from aligned lists to a number.

An undefined metric is None with a reason, so that no conventional 0 or NaN is mistaken for a score.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from importlib.metadata import version
from math import fsum
from typing import Any

import numpy as np

from evergold.scoring.correlation import Floats, spearman, undefined_because
from evergold.scoring.optional import load_package
from evergold.scoring.tables.rouge import ROUGE, rouge_f1
from evergold.scoring.task import Metric

#: Value and reason: exactly one of the two is None.
Found = tuple[float | None, str | None]
#: One list of numbers for each text, see `text_statistics`.
TextStatistics = list[list[float]]

NO_ITEMS = "there is no such item"
ONE_LABEL = "all gold labels or all predicted labels are the same"

LABEL_METRICS = ("accuracy", "macro_f1", "micro_f1", "weighted_f1", "mcc")
NUMBER_METRICS = ("pearson", "spearman", "kendall", "mae", "rmse")
TEXT_METRICS = ("exact_match", "chrf", "bleu", "ter", "rouge_1", "rouge_2", "rouge_l")
KINDS = {"labels": LABEL_METRICS, "numbers": NUMBER_METRICS, "texts": TEXT_METRICS}
#: BLEU's tokenisers that need neither a download nor another package.
BLEU_TOKENIZERS = ("13a", "intl", "char", "zh", "none")


@dataclass(frozen=True, slots=True)
class TextSettings:
    """Settings of text metrics.

    lowercase: compare without case.
    bleu_tokenize: one of `BLEU_TOKENIZERS`.
    rouge_stemmer: compare stems (English only).
    """

    lowercase: bool = False
    bleu_tokenize: str = "13a"
    rouge_stemmer: bool = False


def score_labels(metric: str, gold: Sequence[str], prediction: Sequence[str]) -> Found:
    """Compute one of `LABEL_METRICS`; F1 and accuracy in [0, 1], Matthews' correlation in [-1, 1].

    gold, prediction: n labels each, same order. F1 is averaged over the labels that occur in gold or prediction (macro:
    equally, weighted: by their number in gold), scikit-learn's default. Matthews' correlation is undefined if one side
    has a single label (scikit-learn gives 0 there).
    """
    if not gold:
        return None, NO_ITEMS
    metrics = load_package("sklearn.metrics")
    if metric == "mcc":
        if len(set(gold)) == 1 or len(set(prediction)) == 1:
            return None, ONE_LABEL
        return float(metrics.matthews_corrcoef(gold, prediction)), None
    if metric == "accuracy":
        return float(metrics.accuracy_score(gold, prediction)), None
    average = metric.removesuffix("_f1")
    return float(metrics.f1_score(gold, prediction, average=average, zero_division=0)), None


def score_numbers(metric: str, gold: Floats, prediction: Floats) -> Found:
    """Compute one of `NUMBER_METRICS`: errors ≥ 0; correlations in [-1, 1], undefined for one item, and if gold or
    prediction is constant.

    gold, prediction: n finite numbers each, same order. Kendall's is tau-b.
    """
    if not len(gold):
        return None, NO_ITEMS
    if metric in ("mae", "rmse"):
        metrics = load_package("sklearn.metrics")
        error = metrics.mean_absolute_error if metric == "mae" else metrics.root_mean_squared_error
        return float(error(gold, prediction)), None
    if reason := undefined_because(gold, prediction):
        return None, reason
    if metric == "spearman":
        return spearman(gold, prediction), None
    stats = load_package("scipy.stats")
    found = stats.pearsonr(gold, prediction) if metric == "pearson" else stats.kendalltau(gold, prediction)
    return float(np.clip(found.statistic, -1.0, 1.0)), None


def score_texts(
    metric: str, gold: Sequence[Sequence[str | None]], prediction: Sequence[str], settings: TextSettings
) -> Found:
    """Compute one of `TEXT_METRICS` over the whole list (corpus level), as fractions: TER ≥ 0, the others in [0, 1].

    gold: for each of the n items its references, equally many for all items, with None in place of missing ones;
    prediction: n texts. exact_match: the share of texts equal to one of their references. ROUGE: the mean of the texts'
    F1, each with its best reference, by Google's `rouge_score`, which reads only the letters a to z and digits, and
    ignores case.
    """
    return score_statistics(metric, text_statistics(metric, gold, prediction, settings), settings)


def text_statistics(
    metric: str, gold: Sequence[Sequence[str | None]], prediction: Sequence[str], settings: TextSettings
) -> TextStatistics:
    """Return, for each of n texts, its contribution to the sums from which `score_texts` can be computed, see
    `resampling.texts`.

    The contributions come from private functions of sacrebleu, which it uses for its own paired tests; a test of ours
    compares the scores with `corpus_score`.
    """
    if not prediction:
        return []
    if metric == "exact_match":
        fold = str.lower if settings.lowercase else str
        pairs = zip(prediction, gold, strict=True)
        return [[float(fold(text) in {fold(one) for one in own if one is not None})] for text, own in pairs]
    if metric.startswith(ROUGE):
        return [[value] for value in rouge_f1(metric, gold, prediction, stemmer=settings.rouge_stemmer)]
    streams = [list(stream) for stream in zip(*gold, strict=True)]
    statistics = _corpus_metric(metric, settings)._extract_corpus_statistics(list(prediction), streams)
    return [[float(number) for number in of_text] for of_text in statistics]


def score_statistics(metric: str, statistics: TextStatistics, settings: TextSettings) -> Found:
    """Compute the same score as `score_texts` from the texts' statistics, without analysing the texts again."""
    if not statistics:
        return None, NO_ITEMS
    if metric == "exact_match" or metric.startswith(ROUGE):
        return fsum(value for (value,) in statistics) / len(statistics), None
    return float(_corpus_metric(metric, settings)._aggregate_and_compute(statistics).score) / 100, None


def text_signature(metric: str, settings: TextSettings, references: int) -> str:
    """Describe, for a signature, how a text metric was computed; for metrics of sacrebleu this is its own signature
    (`nrefs:1,case:mixed,…,version:2.6.0`).
    """
    if metric == "exact_match":
        return f"case:{'lc' if settings.lowercase else 'mixed'},nrefs:{references}"
    if metric.startswith(ROUGE):
        stemmer = "yes" if settings.rouge_stemmer else "no"
        return f"nrefs:{references},refs:max,mean:items,stemmer:{stemmer},rouge_score:{version('rouge_score')}"
    scorer = _corpus_metric(metric, settings)
    scorer.corpus_score(["a"], [["a"]] * references)  # before a score, the signature lacks the number of references
    return str(scorer.get_signature()).replace("|", ",")


def _corpus_metric(metric: str, settings: TextSettings) -> Any:
    sacrebleu = load_package("sacrebleu.metrics")
    if metric == "bleu":
        return sacrebleu.BLEU(lowercase=settings.lowercase, tokenize=settings.bleu_tokenize)
    if metric == "chrf":
        return sacrebleu.CHRF(lowercase=settings.lowercase)
    return sacrebleu.TER(case_sensitive=not settings.lowercase)


METRICS = {
    metric.name: metric
    for metric in (
        Metric("accuracy", "Accuracy", "The share of items with the right label.", is_share=True),
        Metric("macro_f1", "Macro F1", "The mean of the labels' F1 scores."),
        Metric(
            "micro_f1",
            "Micro F1",
            "F1 over all decisions; with one label per item the same as accuracy.",
            is_share=True,
        ),
        Metric("weighted_f1", "Weighted F1", "The mean of the labels' F1 scores, weighted by their number in gold."),
        Metric("mcc", "MCC", "Matthews' correlation coefficient of the labels.", -1.0),
        Metric("pearson", "Pearson's r", "Linear correlation with the gold values.", -1.0),
        Metric("spearman", "Spearman's ρ", "Rank correlation with the gold values, average ranks for ties.", -1.0),
        Metric("kendall", "Kendall's τ", "Rank correlation with the gold values, tau-b.", -1.0),
        Metric("mae", "MAE", "Mean absolute error.", 0.0, None, False),
        Metric("rmse", "RMSE", "Root mean squared error.", 0.0, None, False),
        Metric("exact_match", "Exact match", "The share of texts that equal a reference.", percent=True, is_share=True),
        Metric("chrf", "chrF", "Character n-gram F-score (chrF2), over the whole file.", percent=True),
        Metric("bleu", "BLEU", "BLEU over the whole file.", percent=True),
        Metric("rouge_1", "ROUGE-1", "F1 of words, the mean over items.", percent=True),
        Metric("rouge_2", "ROUGE-2", "F1 of pairs of words, the mean over items.", percent=True),
        Metric(
            "rouge_l", "ROUGE-L", "F1 of the longest common subsequence of words, the mean over items.", percent=True
        ),
        Metric("ter", "TER", "Translation edit rate over the whole file.", 0.0, None, False, percent=True),
    )
}
