"""Measures of idiomaticity probing: from similarities per probe to measures per compound and their summaries.

Source: He et al. 2025, "Investigating Idiomaticity in Word Representations", Computational Linguistics 51(2), §3. Pure
arithmetic on arrays; the task handles formats, splits and names of languages.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from evergold.scoring.correlation import spearman, undefined_because
from evergold.scoring.optional import load_package

Floats = npt.NDArray[np.float64]

#: The probes in the order of the last axis of every array of similarities.
PROBES = ("syn", "head", "modifier", "wordssyn", "rand1", "rand2", "rand3", "rand4", "rand5")
MEASURES = (
    "sim_syn",
    "sim_comp",
    "sim_wordssyn",
    "sim_rand",
    "affinity_syn_wordssyn",
    "affinity_syn_rand",
    "simr_syn",
    "simr_wordssyn",
)

_SYN, _HEAD, _MODIFIER, _WORDSSYN, _RAND = 0, 1, 2, 3, slice(4, 9)
#: Smaller differences are rounding of binary fractions, not the system's judgement.
DECIMALS = 12


@dataclass(frozen=True, slots=True)
class Number:
    """A number, or None with the reason why it is undefined."""

    value: float | None
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class Summary:
    """One measure over the compounds: mean, sample standard deviation, Spearman's rho with the human scores, its p."""

    mean: Number
    sd: Number
    rho: Number
    p: Number


def measure_compounds(similarities: Floats, choosing: Floats | None = None) -> dict[str, Floats]:
    """Compute every measure of `MEASURES` per compound: n values, NaN where undefined.

    similarities: compounds × sentences × probes, in the order of `PROBES`, cosines in [-1, 1] or NaN (unknown).
    choosing: similarities of the same shape by which head or modifier is chosen for comp, as the authors' code takes
    those of the level nc for both levels; None: `similarities`, so that comp = max(head, modifier). The head if they
    are equal; undefined where `choosing` is. Per sentence: rand = mean of the five random probes; affinity A(syn|X) =
    syn - X in [-2, 2]; scaled similarity SimR(P) = (P - rand) / (1 - rand), unbounded below, at most 1, undefined where
    rand is 1. A compound's value is the mean over its sentences (§3).
    """
    syn, words = similarities[..., _SYN], similarities[..., _WORDSSYN]
    rand = similarities[..., _RAND].mean(axis=-1)
    room = np.where(np.abs(1 - rand) < 10.0**-DECIMALS, np.nan, 1 - rand)
    per_sentence = {
        "sim_syn": syn,
        "sim_comp": _component(similarities, similarities if choosing is None else choosing),
        "sim_wordssyn": words,
        "sim_rand": rand,
        "affinity_syn_wordssyn": syn - words,
        "affinity_syn_rand": syn - rand,
        "simr_syn": (syn - rand) / room,
        "simr_wordssyn": (words - rand) / room,
    }
    return {name: per_sentence[name].mean(axis=-1) for name in MEASURES}


def _component(similarities: Floats, choosing: Floats) -> Floats:
    head, modifier = choosing[..., _HEAD], choosing[..., _MODIFIER]
    chosen = np.where(head >= modifier, similarities[..., _HEAD], similarities[..., _MODIFIER])
    return np.where(np.isnan(head) | np.isnan(modifier), np.nan, chosen)


def summarise(values: Floats, human: Floats) -> Summary:
    """Compute mean, sd and the correlation with the human scores, each None with a reason if undefined.

    values: one measure, n values in the order of the compounds, NaN where undefined; human: n compositionality scores,
    NaN for a compound that has none, which is left out of rho and p only. sd is that of a sample (n - 1). One undefined
    value makes all four undefined: leaving compounds out would let a system choose them.
    """
    if len(values) == 0:
        return _undefined("there is no compound")
    lacking = int(np.isnan(values).sum())
    if lacking:
        return _undefined(f"undefined for {lacking} of {len(values)} compounds")
    mean = Number(float(values.mean()))
    sd = Number(float(values.std(ddof=1))) if len(values) > 1 else Number(None, "a single compound has no deviation")
    known = ~np.isnan(human)
    rho, p = correlate(values[known], human[known])
    return Summary(mean, sd, rho, p)


def correlate(values: Floats, human: Floats) -> tuple[Number, Number]:
    """Compute Spearman's rho in [-1, 1], average ranks for ties, and its two-sided p from Student's t with n - 2
    degrees.

    values, human: n numbers each, same order, no NaN. As scipy.stats.spearmanr, except that values which agree to 12
    decimals are ties, so that rounding decides no rank. rho is undefined for fewer than two compounds and if either
    side is constant; p for fewer than three.
    """
    values = np.round(values, DECIMALS)
    rho = spearman(human, values)
    if rho is None:
        nothing = Number(None, undefined_because(human, values))
        return nothing, nothing
    degrees = len(values) - 2
    if degrees == 0:
        return Number(rho), Number(None, "fewer than three items")
    t = rho * np.sqrt(degrees / ((1 + rho) * (1 - rho))) if abs(rho) < 1 else np.inf
    return Number(rho), Number(float(2 * load_package("scipy.special").stdtr(degrees, -abs(t))))


def cosines(
    vectors: npt.NDArray[np.floating],
    left: Sequence[int] | npt.NDArray[np.intp],
    right: Sequence[int] | npt.NDArray[np.intp],
    *,
    standardised: bool = False,
) -> Floats:
    """Compute the cosine of each pair of rows: n values in [-1, 1], NaN if one of the two is the zero vector.

    vectors: rows × dimensions, finite, any float type (computed as float64, in blocks); left, right: n row numbers.
    standardised: every dimension is first shifted and scaled to mean 0 and variance 1 over all rows (the population's
    variance; a dimension that never changes becomes 0), against the few dimensions that dominate cosines of contextual
    embeddings (Timkey and van Schijndel 2021), as in the paper's Appendix C.
    """
    mean, scale = _moments(vectors) if standardised else (0.0, 1.0)
    lefts, rights = np.asarray(left, dtype=np.intp), np.asarray(right, dtype=np.intp)
    found = np.empty(len(lefts))
    for start in range(0, len(lefts), _BLOCK_ROWS):
        block = slice(start, start + _BLOCK_ROWS)
        a = (vectors[lefts[block]].astype(np.float64) - mean) / scale
        b = (vectors[rights[block]].astype(np.float64) - mean) / scale
        norms = np.linalg.norm(a, axis=1) * np.linalg.norm(b, axis=1)
        products = np.einsum("ij,ij->i", a, b)
        found[block] = np.divide(products, norms, out=np.full(len(norms), np.nan), where=norms > 0)
    return np.clip(found, -1.0, 1.0)


_BLOCK_ROWS = 1024


def _moments(vectors: npt.NDArray[np.floating]) -> tuple[Floats, Floats]:
    """Return mean and standard deviation of every dimension; a dimension that never changes gets an infinite one."""
    mean = vectors.mean(axis=0, dtype=np.float64)
    squares = np.zeros_like(mean)
    for start in range(0, len(vectors), _BLOCK_ROWS):
        squares += np.square(vectors[start : start + _BLOCK_ROWS] - mean).sum(axis=0)
    deviation = np.sqrt(squares / max(len(vectors), 1))
    constant = vectors.max(axis=0) == vectors.min(axis=0) if len(vectors) else deviation == 0
    return mean, np.where(constant | (deviation == 0), np.inf, deviation)


def quantiles(values: Floats, shares: Sequence[float]) -> list[float]:
    """Return the quantiles of the values at the given shares in [0, 1], interpolated linearly; empty for no values."""
    return [float(q) for q in np.quantile(values, shares)] if len(values) else []


def histogram(values: Floats, low: float, high: float, bins: int) -> dict[str, float | list[int]]:
    """Count the values in each of `bins` equal bins from low to high; values outside count in the first or last bin."""
    counts, _ = np.histogram(np.clip(values, low, high), bins=bins, range=(low, high))
    return {"low": low, "high": high, "counts": [int(count) for count in counts]}


def _undefined(reason: str) -> Summary:
    nothing = Number(None, reason)
    return Summary(nothing, nothing, nothing, nothing)
