"""Restrict gold and predictions of a corpus with MWEs to some of its sentences."""

from __future__ import annotations

import hashlib
from array import array
from collections.abc import Mapping, Sequence

from evergold.scoring.cupt.corpus import CuptGold, CuptItems, Mwe
from evergold.scoring.cupt.prediction import PredictedMwes
from evergold.scoring.errors import InvalidGold, Problem
from evergold.scoring.halves import Keep
from evergold.scoring.mwe.counts import GoldMwes, prepare


def part_of_languages(
    gold: Mapping[str, GoldMwes], predicted: Mapping[str, PredictedMwes], keep: Keep
) -> tuple[dict[str, GoldMwes], dict[str, PredictedMwes]]:
    """Return gold and predictions of the kept sentences of each language.

    keep is called with `fr/ID`. predicted: must have been read against the same tokens. Raises InvalidGold if no
    sentence of a language is kept.
    """
    golds, predictions = {}, {}
    for language, of_gold in gold.items():
        names = of_gold.corpus.items.sentence_ids
        kept = [number for number, name in enumerate(names) if keep(f"{language}/{name}")]
        if not kept:
            raise InvalidGold([Problem("empty-part", f"{language}: there are too few sentences to be divided")])
        golds[language] = _gold(of_gold, kept)
        if language in predicted:
            predictions[language] = _predicted(predicted[language], kept, golds[language].corpus.items.fingerprint)
    return golds, predictions


def _gold(gold: GoldMwes, kept: Sequence[int]) -> GoldMwes:
    corpus, number = gold.corpus, _numbers(kept)
    lemmas = tuple(corpus.lemmas[sentence] for sentence in kept)
    mwes = tuple(one._replace(sentence=number[one.sentence]) for one in corpus.mwes if one.sentence in number)
    return prepare(CuptGold(_items(corpus.items, kept), lemmas, mwes), gold.training)


def _predicted(predicted: PredictedMwes, kept: Sequence[int], fingerprint: str) -> PredictedMwes:
    number = _numbers(kept)
    pairs: list[tuple[Mwe, bytes]] = [
        (one._replace(sentence=number[one.sentence]), lemmas)
        for one, lemmas in zip(predicted.mwes, predicted.lemmas, strict=True)
        if one.sentence in number
    ]
    return PredictedMwes(tuple(mwe for mwe, _ in pairs), tuple(lemmas for _, lemmas in pairs), fingerprint)


def _numbers(kept: Sequence[int]) -> dict[int, int]:
    return {sentence: number for number, sentence in enumerate(kept)}


def _items(items: CuptItems, kept: Sequence[int]) -> CuptItems:
    keys = [items.key(sentence) for sentence in kept]
    key_starts, first_rows, range_rows = array("q", [0]), array("q", [0]), array("q")
    for sentence, key in zip(kept, keys, strict=True):
        key_starts.append(key_starts[-1] + len(key))
        range_rows.extend(first_rows[-1] + row for row in items.ranges(sentence))
        first_rows.append(first_rows[-1] + items.first_rows[sentence + 1] - items.first_rows[sentence])
    all_keys = b"".join(keys)
    fingerprint = hashlib.sha256(all_keys + b"\n" + first_rows.tobytes()).hexdigest()
    names = tuple(items.sentence_ids[sentence] for sentence in kept)
    return CuptItems(names, all_keys, key_starts, first_rows, range_rows, fingerprint)
