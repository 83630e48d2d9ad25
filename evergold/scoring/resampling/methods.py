"""Methods that compute an interval from a score and its variation over items.

`bench/coverage.py` compares them, and decision 032 assigns them to metrics.

A method gets the score, its replicates under resampling (r of them), the influence of each group of units (see
`Jackknife.influences`), the level and the range of the metric; it returns the two ends, NaN if it has none.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
import numpy.typing as npt

from evergold.scoring.optional import load_package

Floats = npt.NDArray[np.float64]
Ends = tuple[float, float]
_NORMAL = NormalDist()
#: Items on one side of a share, and among how many, for which Wilson's interval is too narrow.
_FEW, _SMALL = 2, 50


@dataclass(frozen=True)
class Evidence:
    """Input of an interval method.

    degrees: degrees of freedom of the jackknife's variance.
    size: number of units on which the score rests.
    low, high: the metric's range, None where it has no end.
    """

    value: float
    influences: Floats
    degrees: int
    size: int
    replicates: Floats | None = None
    low: float | None = None
    high: float | None = None

    @property
    def error(self) -> float:
        """The jackknife's standard error."""
        return float(np.sqrt(np.sum(self.influences**2)))


def percentile(evidence: Evidence, level: float) -> Ends:
    """Return the quantiles of the replicates."""
    known = _known(evidence)
    tail = (1 - level) / 2
    return _ends(np.quantile(known, [tail, 1 - tail])) if len(known) else (math.nan, math.nan)


def bca(evidence: Evidence, level: float) -> Ends:
    """Return quantiles of the replicates, corrected for bias and skew (Efron 1987: bias-corrected and accelerated)."""
    known, moves = _known(evidence), evidence.influences
    below = (np.sum(known < evidence.value) + np.sum(known == evidence.value) / 2) / max(len(known), 1)
    if not 0 < below < 1 or not np.isfinite(moves).all() or not np.any(moves):
        return percentile(evidence, level)
    bias = _NORMAL.inv_cdf(float(below))
    skew = float(np.sum(moves**3) / (6 * np.sum(moves**2) ** 1.5))
    tails = []
    for side in ((1 - level) / 2, (1 + level) / 2):
        z = bias + _NORMAL.inv_cdf(side)
        tails.append(_NORMAL.cdf(bias + z / (1 - skew * z)))
    return _ends(np.quantile(known, tails))


def jackknife_t(evidence: Evidence, level: float) -> Ends:
    """Return the score ± Student's t times the jackknife's standard error, within the metric's range."""
    far = _t(evidence.degrees, level) * evidence.error
    return _within(evidence, evidence.value - far, evidence.value + far)


def atanh_t(evidence: Evidence, level: float) -> Ends:
    """Compute `jackknife_t` on Fisher's scale; for metrics from -1 to 1 (or any range symmetric around 0)."""
    most = evidence.high if evidence.high is not None else 1.0
    inside = evidence.value / most
    if abs(inside) >= 1:
        return jackknife_t(evidence, level)
    far = _t(evidence.degrees, level) * evidence.error / most / (1 - inside**2)
    return most * math.tanh(math.atanh(inside) - far), most * math.tanh(math.atanh(inside) + far)


def logit_t(evidence: Evidence, level: float) -> Ends:
    """Compute `jackknife_t` on the scale of log odds; for metrics from 0 to 1. For a score of 0 or 1, compute
    `score_t`.
    """
    p = evidence.value
    if not 0 < p < 1:
        return score_t(evidence, level)
    far = _t(evidence.degrees, level) * evidence.error / (p * (1 - p))
    centre = math.log(p / (1 - p))
    return 1 / (1 + math.exp(min(far - centre, 700))), 1 / (1 + math.exp(min(-far - centre, 700)))


def score_t(evidence: Evidence, level: float) -> Ends:
    """Compute Wilson's score interval for metrics from 0 to 1, with Student's t.

    The number of items in the formula is the one for which a share would have the jackknife's variance; if the variance
    is 0, the number of units.
    """
    return _score_interval(evidence.value, _items_of(evidence), _t(evidence.degrees, level))


def wilson(evidence: Evidence, level: float) -> Ends:
    """Compute Wilson's score interval of a share, modified near 0 and 1; for metrics whose items count as 0 or 1.

    Where units are single items it is Wilson's own, with the normal quantile, whose coverage is near the level from ten
    items on, averaged over shares. Where they are clusters, or drawn within strata, it is that of `score_t`. Where no
    more than two items (three of more than 50) are on one side, that end is Poisson's limit, since Wilson's is too
    narrow there (Brown, Cai & DasGupta 2001, section 4.1.1).
    """
    p, items, quantile = evidence.value, _items_of(evidence), _t(evidence.degrees, level)
    # Of n independent items the jackknife's variance is p (1 - p) / (n - 1).
    if p in (0, 1) or math.isclose(items, evidence.size - 1, rel_tol=1e-6):
        items, quantile = float(evidence.size), _NORMAL.inv_cdf((1 + level) / 2)
    low, high = _score_interval(p, items, quantile)
    few = (_FEW if items <= _SMALL else _FEW + 1) + 0.5
    if 0 < p * items < few:
        low = min(low, _poisson_limit(p * items, level) / items)
    if 0 < (1 - p) * items < few:
        high = max(high, 1 - _poisson_limit((1 - p) * items, level) / items)
    return low, high


def log_t(evidence: Evidence, level: float) -> Ends:
    """Compute `jackknife_t` on the scale of logarithms; for metrics from 0 on without an upper end."""
    if evidence.value <= 0:
        return jackknife_t(evidence, level)
    far = _t(evidence.degrees, level) * evidence.error / evidence.value
    return evidence.value * math.exp(-far), evidence.value * math.exp(min(far, 700))


METHODS: dict[str, Callable[[Evidence, float], Ends]] = {
    "percentile": percentile,
    "bca": bca,
    "t": jackknife_t,
    "atanh-t": atanh_t,
    "logit-t": logit_t,
    "score-t": score_t,
    "wilson": wilson,
    "log-t": log_t,
}


def _known(evidence: Evidence) -> Floats:
    if evidence.replicates is None:
        raise ValueError("this method needs replicates")
    return evidence.replicates[~np.isnan(evidence.replicates)]


def _items_of(evidence: Evidence) -> float:
    """Return the number of independent items for which a share would have this variance (Kish's effective size)."""
    spread, variance = evidence.value * (1 - evidence.value), evidence.error**2
    return spread / variance if spread > 0 and variance > 0 else float(evidence.size)


def _score_interval(p: float, items: float, quantile: float) -> Ends:
    turned = quantile**2 / items
    centre = (p + turned / 2) / (1 + turned)
    far = math.sqrt(turned * p * (1 - p) + turned * turned / 4) / (1 + turned)
    return max(0.0, centre - far), min(1.0, centre + far)


def _poisson_limit(count: float, level: float) -> float:
    """Return the mean of a Poisson distribution that reaches this count with the probability 1 - level."""
    return float(load_package("scipy.special").gammaincinv(count, 1 - level))


def _t(degrees: int, level: float) -> float:
    return float(load_package("scipy.special").stdtrit(degrees, (1 + level) / 2))


def _ends(values: Floats) -> Ends:
    return float(values[0]), float(values[1])


def _within(evidence: Evidence, low: float, high: float) -> Ends:
    return (
        low if evidence.low is None else max(low, evidence.low),
        high if evidence.high is None else min(high, evidence.high),
    )
