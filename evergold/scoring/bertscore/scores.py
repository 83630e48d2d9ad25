"""BERTScore (Zhang et al. 2020): the tokens of a candidate and of a reference, matched greedily by their vectors.

The numbers are those of bert-score 0.3.13 at batch_size=1, to 1e-5. There, a pair's score depends on its neighbours:
in a batch, a token whose similarities are all negative counts as 0 as soon as a neighbour is longer. Here it never
does, unless `compatibility` selects upstream's default, batches of 64 in the order given. Encoding is left to
`encoders`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from evergold.scoring.bertscore.encoders import EXTRA, Encoder, Matrix, encode, encoder_signature, tokenise
from evergold.scoring.bertscore.models import current_settings
from evergold.scoring.bertscore.vectors import (
    Vectors,
    find_vectors,
    join_vectors,
    keep_vectors,
    make_vectors,
    vectors_key,
)
from evergold.scoring.optional import load_package

#: Version of this implementation; it rises when any number could change.
IMPLEMENTATION = "evergold-1"

Compatibility = Literal["batch-independent", "upstream-64"]
_BATCH = {"batch-independent": 1, "upstream-64": 64}
#: Numbers in the padded arrays of one step of the matching: 32 MiB in float32.
_STEP_NUMBERS = 8 * 1024 * 1024
#: A text of this many tokens counts as empty: it has only the special tokens before and after it.
_EMPTY_TOKENS = 2

Places = npt.NDArray[np.intp]
Lengths = npt.NDArray[np.int64]


class PairScores(NamedTuple):
    """Precision, recall and F1 of n pairs, float32; -1 to 1, and no lower bound after rescaling.

    Precision is NaN if all tokens of the candidate have the weight 0, recall if all tokens of the reference do.
    """

    precision: Matrix
    recall: Matrix
    f1: Matrix


@dataclass(frozen=True)
class Weighted:
    """Vectors and the weight of each of their N tokens."""

    vectors: Vectors
    weights: Matrix


def bertscore(
    encoder: Encoder,
    candidates: Sequence[str],
    references: Sequence[Sequence[str]],
    *,
    idf: bool = False,
    baseline: tuple[float, float, float] | None = None,
    compatibility: Compatibility = "batch-independent",
    gold_sha256: str | None = None,
    advance: Callable[[float], None] = lambda share: None,
) -> PairScores:
    """Return precision, recall and F1 of n candidates, each the best over its references (separately for each of the
    three).

    references: n times one or more texts. idf: tokens weigh log((m + 1) / (c + 1)) where c of the m references have
    them. baseline: precision, recall and F1 of unrelated texts; x becomes (x - b) / (1 - b). An empty text on either
    side scores 0 before rescaling. Texts beyond the encoder's `max_tokens` are truncated. gold_sha256, advance: as for
    `embed`. As upstream, precision or recall are NaN if all tokens of a text have the weight 0, and F1 is then 0. Of
    several references, those that give NaN are ignored (upstream returns NaN if one of them does).
    """
    flat = [reference for group in references for reference in group]
    repeated = [text for text, group in zip(candidates, references, strict=True) for _ in group]
    vectors = embed(encoder, flat, repeated, gold_sha256=gold_sha256, advance=advance)
    weighted = weigh(encoder, vectors, flat if idf else None)
    pairs = match(weighted, repeated, flat, compatibility)
    starts = np.concatenate([[0], np.cumsum([len(group) for group in references])])[:-1].astype(np.intp)
    best = PairScores(*(np.fmax.reduceat(values, starts) if len(starts) else values for values in pairs))
    return rescale(best, baseline) if baseline else best


def bertscore_signature(
    encoder: Encoder, *, idf: bool, compatibility: Compatibility, implementation: str = IMPLEMENTATION
) -> dict[str, object]:
    """Return everything that can change a BERTScore except the baseline, in order, for `task.signature`."""
    return {
        "bertscore": implementation,
        **encoder_signature(encoder),
        "padding": compatibility,
        "idf": "references" if idf else None,
        "empty": 0,
        "several_references": "max",
    }


def embed(
    encoder: Encoder,
    references: Sequence[str],
    candidates: Sequence[str],
    *,
    gold_sha256: str | None = None,
    advance: Callable[[float], None] = lambda share: None,
) -> Vectors:
    """Return the vectors of all these texts, every distinct text once.

    gold_sha256: hash of the file that the references come from; their vectors are then cached for the next submission.
    References are encoded separately from the candidates, so that cached and fresh vectors are the same. advance:
    called now and then with the finished share of the work, 0 to 1.
    """
    settings = current_settings()
    gold = list(dict.fromkeys(references))
    key = _gold_key(encoder, gold, gold_sha256) if gold_sha256 else None
    kept = find_vectors(key, gold, settings) if key else None
    known = set(gold)
    new = [text for text in dict.fromkeys(candidates) if text not in known]
    gold_ids, new_ids = [] if kept else tokenise(encoder, gold), tokenise(encoder, new)
    total, done = sum(map(len, gold_ids)) + sum(map(len, new_ids)), 0

    def count(tokens: int) -> None:
        nonlocal done
        done += tokens
        advance(done / total)

    if kept is None:
        kept = make_vectors(gold, gold_ids, encode(encoder, gold_ids, settings.token_budget, count))
        if key:
            keep_vectors(key, kept, settings)
    if not new:
        return kept
    return join_vectors(kept, make_vectors(new, new_ids, encode(encoder, new_ids, settings.token_budget, count)))


def weigh(encoder: Encoder, vectors: Vectors, idf_references: Sequence[str] | None = None) -> Weighted:
    """Return the vectors with a weight for every token: 1, and 0 for special tokens; or, with `idf_references`, their
    idf over these texts, each of which counts as often as it occurs.

    Every reference holds the special tokens, so idf gives them 0 as well.
    """
    if not len(vectors.ids):
        return Weighted(vectors, np.zeros(0, dtype=np.float32))
    size = max(int(vectors.ids.max()), *encoder.special_ids, 0) + 1
    if idf_references is None:
        table = np.ones(size)
        table[list(encoder.special_ids)] = 0
        return Weighted(vectors, table[vectors.ids].astype(np.float32))
    containing = np.zeros(size)
    for place, times in zip(*np.unique(vectors.places(idf_references), return_counts=True), strict=True):
        containing[np.unique(vectors.ids[vectors.starts[place] : vectors.starts[place + 1]])] += times
    table = np.log((len(idf_references) + 1) / (containing + 1))
    return Weighted(vectors, table[vectors.ids].astype(np.float32))


def match(
    weighted: Weighted,
    candidates: Sequence[str],
    references: Sequence[str],
    compatibility: Compatibility = "batch-independent",
) -> PairScores:
    """Return precision, recall and F1 of n pairs, in their order.

    candidates, references: n texts each, all among the vectors. compatibility: `upstream-64` reproduces the effect of
    upstream's padding on pairs that share a batch of 64, in this order, with a longer one.
    """
    places = weighted.vectors.places(candidates), weighted.vectors.places(references)
    lengths = [weighted.vectors.lengths[side] for side in places]
    # A candidate's token is matched with the reference's, and the other way round: the other side's padding counts.
    clamped = [_has_longer_neighbour(side, _BATCH[compatibility]) for side in reversed(lengths)]
    found = np.zeros((2, len(candidates)), dtype=np.float32)
    for step in _steps(lengths[0], lengths[1], weighted.vectors.values.shape[1]):
        found[:, step] = _match_step(weighted, [side[step] for side in places], [side[step] for side in clamped])
    precision, recall = found
    with np.errstate(invalid="ignore", divide="ignore"):
        f1 = np.nan_to_num(2 * precision * recall / (precision + recall), nan=0.0, posinf=0.0, neginf=0.0)
    empty = (lengths[0] == _EMPTY_TOKENS) | (lengths[1] == _EMPTY_TOKENS)
    precision, recall = (np.where(empty, np.float32(0), side) for side in found)
    return PairScores(precision, recall, f1)


def rescale(scores: PairScores, baseline: tuple[float, float, float]) -> PairScores:
    """Rescale precision, recall and F1 to (x - b) / (1 - b), like upstream's `rescale_with_baseline`."""
    return PairScores(
        *((values - np.float32(b)) / (1 - np.float32(b)) for values, b in zip(scores, baseline, strict=True))
    )


def _gold_key(encoder: Encoder, texts: Sequence[str], gold_sha256: str) -> str:
    signature = [f"{name}:{value}" for name, value in encoder_signature(encoder).items()]
    files = encoder.files
    return vectors_key(
        texts, gold_sha256, files.weights, files.config, files.tokenizer, *signature, encoder.device.partition(":")[0]
    )


def _has_longer_neighbour(lengths: Lengths, batch: int) -> npt.NDArray[np.bool_]:
    """Return for each of n texts whether another in its batch is longer; upstream then pads with similarities of 0."""
    longest = [lengths[start : start + batch].max() for start in range(0, len(lengths), batch)]
    padded: npt.NDArray[np.bool_] = lengths < np.repeat(np.array(longest, dtype=np.int64), batch)[: len(lengths)]
    return padded


def _steps(candidates: Lengths, references: Lengths, width: int) -> Iterator[Places]:
    """Yield batches of pairs of similar length, longest first, each as large as possible within the limit on the padded
    arrays' size.
    """
    order = np.lexsort((references, candidates))[::-1]
    done = 0
    while done < len(order):
        longest = np.maximum.accumulate(references[order[done:]]) + candidates[order[done]]
        numbers = longest * np.arange(1, len(longest) + 1) * width
        size = max(1, int(np.searchsorted(numbers, _STEP_NUMBERS, side="right")))
        yield order[done : done + size]
        done += size


def _match_step(
    weighted: Weighted, places: Sequence[Places], clamped: Sequence[npt.NDArray[np.bool_]]
) -> tuple[Matrix, Matrix]:
    """Return precision and recall of some pairs. places, clamped: two values each, one for candidates and one for
    references.
    """
    torch = load_package("torch", EXTRA)
    (candidates, their_weights), (references, other_weights) = (_padded(weighted, side) for side in places)
    similarities = torch.bmm(torch.from_numpy(candidates), torch.from_numpy(references).transpose(1, 2)).numpy()
    similarities[np.isnan(their_weights)] = -np.inf
    similarities.transpose(0, 2, 1)[np.isnan(other_weights)] = -np.inf
    return (
        _mean(similarities.max(axis=2), their_weights, clamped[0]),
        _mean(similarities.max(axis=1), other_weights, clamped[1]),
    )


def _padded(weighted: Weighted, places: Places) -> tuple[Matrix, Matrix]:
    """Return the vectors of some texts as texts × longest × width, and their weights, NaN beyond a text's end."""
    starts, lengths = weighted.vectors.starts[places], weighted.vectors.lengths[places]
    columns = np.arange(lengths.max())
    inside = columns < lengths[:, None]
    tokens = np.where(inside, starts[:, None] + columns, 0)
    return weighted.vectors.values[tokens], np.where(inside, weighted.weights[tokens], np.float32(np.nan))


def _mean(best: Matrix, weights: Matrix, clamped: npt.NDArray[np.bool_]) -> Matrix:
    """Return the weighted mean of each row; NaN where all weights are 0."""
    inside = ~np.isnan(weights)
    values = np.where(inside, np.where(clamped[:, None], np.maximum(best, 0), best), 0)
    shares = np.where(inside, weights, 0)
    with np.errstate(invalid="ignore"):
        mean: Matrix = (values * (shares / shares.sum(axis=1, keepdims=True))).sum(axis=1)
    return mean
