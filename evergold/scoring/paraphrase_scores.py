"""What a prediction of one language is worth, item by item, and summed up: removed MWEs, BERTScore, new words.

Everything starts from outcomes per item, which can be counted as often as one likes (for resampling).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from evergold.scoring.bertscore import Compatibility, PairScores, embed, match, rescale, weigh
from evergold.scoring.diversity import Diversity, diversity
from evergold.scoring.encoders import Encoder
from evergold.scoring.mwe_removed import bare, find_edits, is_removed, segmented
from evergold.scoring.paraphrase import GoldFile
from evergold.scoring.reference_bertscore import Reference, reference_scores
from evergold.scoring.segmentation import segment_words

#: Of n items in gold's order one number each.
ItemScores = npt.NDArray[np.float64]


class Paraphrased(NamedTuple):
    """Of n items in gold's order: whether the MWE is removed, and the new words (with repetitions)."""

    removed: npt.NDArray[np.bool_]
    new_words: tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class Measure:
    """How BERTScore is computed. baseline_of: the F1 of unrelated texts of a language, None: no rescaling; reference:
    the package that computes it (None: `bertscore` does, which says the rest)."""

    encoder: Encoder
    idf: bool = False
    baseline_of: Callable[[str], float | None] = lambda language: None
    compatibility: Compatibility = "batch-independent"
    reference: Reference | None = None


@dataclass(frozen=True)
class Summary:
    """Of some items: masked BERTScore (None where it was not asked for), share of removed MWEs, new words.

    bertscore: mean of the items' scores, one whose MWE stays counting 0; diversity: of the new words of all items,
    those whose MWE stays too; novel_words: how many there are, repetitions included.
    """

    items: int
    bertscore: float | None
    removed: float
    diversity: Diversity
    novel_words: int


def paraphrase(gold: GoldFile, texts: Mapping[str, str], language: str) -> Paraphrased:
    """What is removed and new in the paraphrases, by difflib's edits. texts: the paraphrase of every gold id.

    Words are what `segmentation` makes of texts for the MWE, and what stands between white space for new words, in
    Japanese too: that is how PARSEME 2.0 counts.
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
    """For each of n items in gold's order the larger of its F1 with the creative and with the minimal reference.

    0 where the MWE is not removed; such a paraphrase is not encoded. texts: the paraphrase of every gold id; advance:
    told which share of the work is done. With idf, the references are those of all items, both lists.
    """
    scored = np.flatnonzero(removed)
    candidates = [texts[gold.items[place].id] for place in scored]
    by_reference = _by_reference(gold, scored, candidates, measure, advance)
    scores = np.zeros(len(gold.items))
    baseline = measure.baseline_of(language)
    if baseline is not None:
        by_reference = [rescale(pairs, (baseline,) * 3) for pairs in by_reference]
    # Rounding makes the F1 of equal texts 1.0000001 now and then.
    scores[scored] = np.minimum(np.maximum(*(pairs.f1 for pairs in by_reference)), 1.0)
    return scores


def _by_reference(
    gold: GoldFile,
    scored: npt.NDArray[np.intp],
    candidates: Sequence[str],
    measure: Measure,
    advance: Callable[[float], None],
) -> list[PairScores]:
    """Of the items at the places `scored` the scores with their creative, then with their minimal references.

    One list of references after the other, as the official script calls bert-score; only its batches can tell.
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
    """The summary of the items at these places (None: all; a place may be there several times); None of no items."""
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
    """The two references, by kind, as if each were a prediction."""
    return {
        "creative": {item.id: item.creative for item in gold.items},
        "minimal": {item.id: item.minimal for item in gold.items},
    }


def never_removed(gold: GoldFile, language: str) -> int:
    """How many items have an MWE none of whose words is a word of the sentence, so that nobody can remove it.

    That is how the official rule treats an MWE whose tokens are written together in the sentence (`[[d' essai]]`, in
    corpora that separate `d'`), and it is for organisers to know.
    """
    segment = segment_words(language)
    return sum(
        segmented(item.mwe, segment).isdisjoint(bare(word) for word in segment(item.sentence)) for item in gold.items
    )


def places_of_types(gold: GoldFile, types: Iterable[str]) -> dict[str, list[int]]:
    """Where the items of each type stand."""
    return {kind: [place for place, item in enumerate(gold.items) if item.mwe_type == kind] for kind in types}
