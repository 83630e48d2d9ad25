"""Score a prediction of one language item by item, and summarise: removed MWEs, BERTScore, new words.

Everything is computed from outcomes per item, which can be resampled.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from evergold.scoring.bertscore.encoders import Encoder
from evergold.scoring.bertscore.reference import Reference, reference_scores
from evergold.scoring.bertscore.scores import Compatibility, PairScores, embed, match, rescale, weigh
from evergold.scoring.diversity import Diversity, diversity
from evergold.scoring.paraphrase.files import GoldFile
from evergold.scoring.paraphrase.removed import bare, find_edits, is_removed, segmented
from evergold.scoring.paraphrase.segmentation import segment_words

#: One number for each of n items in gold's order.
ItemScores = npt.NDArray[np.float64]


class Paraphrased(NamedTuple):
    """Removal of the MWE, and the new words (with repetitions), for n items in gold's order."""

    removed: npt.NDArray[np.bool_]
    new_words: tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class Measure:
    """Settings of BERTScore.

    baseline_of: the F1 of unrelated texts of a language, None: no rescaling.
    reference: the package that computes it (None: `bertscore`, which documents the other fields).
    """

    encoder: Encoder
    idf: bool = False
    baseline_of: Callable[[str], float | None] = lambda language: None
    compatibility: Compatibility = "batch-independent"
    reference: Reference | None = None


@dataclass(frozen=True)
class Summary:
    """Summary of some items: masked BERTScore (None if not computed), share of removed MWEs, new words.

    bertscore: mean of the items' scores; an item whose MWE stays counts as 0.
    diversity: diversity of the new words of all items, including those whose MWE stays.
    novel_words: number of the new words, repetitions included.
    """

    items: int
    bertscore: float | None
    removed: float
    diversity: Diversity
    novel_words: int


def paraphrase(gold: GoldFile, texts: Mapping[str, str], language: str) -> Paraphrased:
    """Return what is removed and new in the paraphrases, by difflib's edits. texts: the paraphrase of every gold id.

    For the MWE, words come from `segmentation`; new words are separated by white space, in Japanese too: that is how
    PARSEME 2.0 counts.
    """
    segment = segment_words(language)
    removed, new_words = [], []
    for item in gold.items:
        edits = find_edits(item.sentence.split(), texts[item.id].split())
        new_words.append(edits.new)
        if segment is not str.split:
            edits = find_edits(segment(item.sentence), segment(texts[item.id]))
        removed.append(is_removed(segmented(item.mwe, segment), edits))
    return Paraphrased(np.array(removed, dtype=np.bool_), tuple(new_words))


def masked_bertscores(
    gold: GoldFile,
    texts: Mapping[str, str],
    removed: npt.NDArray[np.bool_],
    measure: Measure,
    language: str,
    advance: Callable[[float], None] = lambda share: None,
) -> ItemScores:
    """Return for each of n items in gold's order the larger of its F1 with the creative and with the minimal reference.

    0 if the MWE is not removed; such a paraphrase is not encoded. texts: the paraphrase of every gold id; advance:
    called with the finished share of the work. With idf, tokens are weighted over the references of all items, from
    both lists.
    """
    scored = np.flatnonzero(removed)
    candidates = [texts[gold.items[place].id] for place in scored]
    by_reference = _by_reference(gold, scored, candidates, measure, advance)
    scores = np.zeros(len(gold.items))
    baseline = measure.baseline_of(language)
    if baseline is not None:
        by_reference = [rescale(pairs, (baseline,) * 3) for pairs in by_reference]
    # Rounding sometimes makes the F1 of equal texts 1.0000001.
    scores[scored] = np.minimum(np.maximum(*(pairs.f1 for pairs in by_reference)), 1.0)
    return scores


def _by_reference(
    gold: GoldFile,
    scored: npt.NDArray[np.intp],
    candidates: Sequence[str],
    measure: Measure,
    advance: Callable[[float], None],
) -> list[PairScores]:
    """Return the scores of the items at the indices `scored` with their creative, then with their minimal references.

    One list of references after the other, as the official script calls bert-score; it matters only for its batches.
    """
    creative, minimal = [item.creative for item in gold.items], [item.minimal for item in gold.items]
    idf_references = creative + minimal if measure.idf else None
    paired = [[references[place] for place in scored] for references in (creative, minimal)]
    if measure.reference:
        return [reference_scores(measure.reference, candidates, side, idf_references) for side in paired]
    vectors = embed(measure.encoder, creative + minimal, candidates, gold_sha256=gold.sha256, advance=advance)
    weighted = weigh(measure.encoder, vectors, idf_references)
    return [match(weighted, candidates, side, measure.compatibility) for side in paired]


def summarise(
    paraphrased: Paraphrased, bertscores: ItemScores | None = None, items: Sequence[int] | None = None
) -> Summary | None:
    """Summarise the items at these indices (None: all; an index may be repeated); None for no items."""
    places = list(range(len(paraphrased.removed)) if items is None else items)
    if not places:
        return None
    words = Counter(word for place in places for word in paraphrased.new_words[place])
    return Summary(
        items=len(places),
        bertscore=None if bertscores is None else float(np.mean(bertscores[places])),
        removed=float(np.mean(paraphrased.removed[places])),
        diversity=diversity(words.values()),
        novel_words=words.total(),
    )


def reference_texts(gold: GoldFile) -> dict[str, dict[str, str]]:
    """Return the two references, by kind, as if each were a prediction."""
    return {
        "creative": {item.id: item.creative for item in gold.items},
        "minimal": {item.id: item.minimal for item in gold.items},
    }


def never_removed(gold: GoldFile, language: str) -> int:
    """Count the items with an MWE none of whose words is a word of the sentence, so that nobody can remove it.

    That is how the official rule treats an MWE whose tokens are written together in the sentence (`[[d' essai]]`, in
    corpora that separate `d'`); organisers should know the number.
    """
    segment = segment_words(language)
    return sum(
        segmented(item.mwe, segment).isdisjoint(bare(word) for word in segment(item.sentence)) for item in gold.items
    )


def places_of_types(gold: GoldFile, types: Iterable[str]) -> dict[str, list[int]]:
    """Return the indices of the items of each type."""
    return {kind: [place for place, item in enumerate(gold.items) if item.mwe_type == kind] for kind in types}
