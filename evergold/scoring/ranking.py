"""Quality of ranked lists, query by query: reciprocal rank, average precision, nDCG, as trec_eval computes them.

Pure arithmetic on lists; `tasks.ranking` reads the files. Source: trec_eval (`recip_rank`, `map`, `ndcg_cut`), which
`ir_measures` runs; Järvelin and Kekäläinen 2002 for nDCG, Burges et al. 2005 for exponential gains.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import fsum, log2


def ranked(scores: Mapping[str, float]) -> list[str]:
    """Return the documents by falling score; ties in reverse order of their names' bytes, as in trec_eval."""
    by_name = sorted(scores, key=lambda name: name.encode("utf-8"), reverse=True)
    return sorted(by_name, key=lambda name: -scores[name])


def reciprocal_rank(relevant: Sequence[bool]) -> float:
    """Return 1 / rank of the first relevant document, 0 if there is none. relevant: for each document in ranked order,
    whether it is relevant.
    """
    return next((1 / rank for rank, is_relevant in enumerate(relevant, 1) if is_relevant), 0.0)


def average_precision(relevant: Sequence[bool], of: int) -> float:
    """Return the mean, over all relevant documents, of the precision at their ranks.

    of: their number; documents that are not ranked have a precision of 0. 0 if there are no relevant documents.
    """
    ranks = [rank for rank, is_relevant in enumerate(relevant, 1) if is_relevant]
    return fsum(place / rank for place, rank in enumerate(ranks, 1)) / of if of else 0.0


def ndcg(gains: Sequence[float], judged: Sequence[float], cutoff: int | None) -> float:
    """Return the discounted gain of the first `cutoff` documents over that of the best order, in [0, 1].

    0 if nothing has a gain. gains: by document, as ranked; judged: the gains of all judged documents.
    """
    best = _discounted(sorted(judged, reverse=True)[:cutoff])
    return _discounted(gains[:cutoff]) / best if best else 0.0


def _discounted(gains: Sequence[float]) -> float:
    return fsum(gain / log2(rank + 1) for rank, gain in enumerate(gains, 1))
