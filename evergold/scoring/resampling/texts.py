"""BLEU, chrF2 and TER of many resamples from the sums of sacreBLEU's statistics of every text, as fractions.

The sums are the number of texts, then sacreBLEU's statistics of each: for BLEU the lengths of system and reference, and
the matched and all n-grams of four orders; for chrF of each of six orders the character n-grams of system and reference
and those in both; for TER edits and the length of the reference. Its formulas (with its defaults: exponential
smoothing, no effective order; beta 2; effective order, no smoothing) are applied here to many resamples at once.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from evergold.scoring.resampling.formulas import mean_of_sums, ratio

Floats = npt.NDArray[np.float64]

_ORDERS = 4
_BETA_SQUARED = 4.0


def bleu(sums: Floats) -> Floats:
    """Compute BLEU: … × 1 from … × 11: texts, two lengths, four times matched, four times all n-grams."""
    system, reference = sums[..., 1], sums[..., 2]
    matched, every = sums[..., 3 : 3 + _ORDERS], sums[..., 3 + _ORDERS :]
    counts = np.logical_and.accumulate(every > 0, axis=-1)
    missed = (matched == 0) & counts
    smoothing = 2.0 ** np.cumsum(missed, axis=-1)
    precision = np.where(missed, ratio(np.ones_like(every), smoothing * every, 0.0), ratio(matched, every, 0.0))
    has_all = counts.all(axis=-1) & (matched > 0).any(axis=-1) & (system > 0)
    logs = np.log(precision, out=np.zeros_like(precision), where=counts)
    penalty = np.minimum(0.0, 1 - ratio(reference, system, 1.0))
    value = np.where(has_all, np.exp(penalty + logs.mean(axis=-1)), 0.0)
    return _where_any(sums, value)


def chrf(sums: Floats) -> Floats:
    """Compute chrF2: … × 1 from … × 19: texts, then for six orders the n-grams of system, reference and both."""
    orders = sums[..., 1:].reshape(*sums.shape[:-1], -1, 3)
    system, reference, both = np.moveaxis(orders, -1, 0)
    counts = (system > 0) & (reference > 0)
    effective = counts.sum(axis=-1).astype(np.float64)
    precision, recall = (
        ratio(np.where(counts, ratio(both, side, 0.0), 0.0).sum(axis=-1), effective, 0.0)
        for side in (system, reference)
    )
    value = ratio((1 + _BETA_SQUARED) * precision * recall, _BETA_SQUARED * precision + recall, 0.0)
    return _where_any(sums, value)


def ter(sums: Floats) -> Floats:
    """Compute TER: … × 1 from … × 3: texts, edits, length of the reference."""
    edits, length = sums[..., 1], sums[..., 2]
    return _where_any(sums, np.where(length > 0, ratio(edits, length), (edits > 0).astype(np.float64)))


def _where_any(sums: Floats, value: Floats) -> Floats:
    """Return the value where the resample has a text, NaN elsewhere."""
    found: Floats = np.where(sums[..., 0] > 0, value, np.nan)[..., None]
    return found


_BERTSCORES = ("bertscore_f1", "bertscore_precision", "bertscore_recall")
_OF_ITEMS = ("exact_match", "rouge_1", "rouge_2", "rouge_l", *_BERTSCORES)
TEXT_SCORES = {"bleu": bleu, "chrf": chrf, "ter": ter, **dict.fromkeys(_OF_ITEMS, mean_of_sums)}
