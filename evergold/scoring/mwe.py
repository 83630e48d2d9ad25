"""Identified MWEs against gold: what is found per sentence, counted per view and category, MWE-based and token-based.

The same can be had per sentence, to be re-weighted (`outcomes`). Reading files is left to `cupt`, pairing MWEs of one
sentence to `mwe_pairing`.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from itertools import repeat
from typing import NamedTuple

from evergold.scoring.cupt_codes import Tokens
from evergold.scoring.cupt_corpus import CuptGold, Mwe, TrainingMwes, lemma_key
from evergold.scoring.diversity import Diversity, diversity
from evergold.scoring.mwe_pairing import shared_tokens

#: The views of the official report, in its order. `all` is the global evaluation.
ALL = "all"
VIEWS = ("continuous", "discontinuous", "multi_token", "single_token", "seen", "unseen", "variant", "identical")
#: Those that compare with training data.
TRAINING_VIEWS = ("seen", "unseen", "variant", "identical")
CATEGORY = "category/"
#: The category of MWEs whose first token names none.
UNLABELED = "<unlabeled>"
MWE_BASED, TOKEN_BASED = "mwe", "token"

#: What is counted: a split (`all`, a view, `category/VID`), and MWEs or their tokens.
Cell = tuple[str, str]


class Counts(NamedTuple):
    """How many MWEs (or their tokens) match, are in gold, are predicted: where P, R and F1 come from."""

    matched: float = 0
    gold: float = 0
    predicted: float = 0

    @property
    def precision(self) -> float:
        """matched / predicted, 0 to 1; 0 where nothing is predicted."""
        return self.matched / self.predicted if self.predicted else 0.0

    @property
    def recall(self) -> float:
        """matched / gold, 0 to 1; 0 where gold has none."""
        return self.matched / self.gold if self.gold else 0.0

    @property
    def f1(self) -> float:
        """The harmonic mean of precision and recall, 0 where both are 0."""
        return f1(self.precision, self.recall)


#: What one sentence adds to one cell: sentence, cell, how many are found, are in gold, are predicted.
Outcome = tuple[int, Cell, int, int, int]
#: Where an MWE is: its sentence and the positions of its tokens.
Key = tuple[int, Tokens]


class Described(NamedTuple):
    """What follows from the tokens of an MWE: the views it belongs to, and its lemmas as `lemma_key`."""

    views: tuple[str, ...]
    lemmas: bytes


class Side(NamedTuple):
    """Some MWEs, of gold or predicted: each set of tokens described once, and those of every category (by split)."""

    described: Mapping[Key, Described]
    categories: Mapping[str, set[Key]]


@dataclass(frozen=True)
class GoldMwes:
    """The gold of one language, with what training data (None: there is none) says about its MWEs. See `prepare`.

    sizes: how many MWEs (or tokens) of every cell gold has.
    """

    corpus: CuptGold
    training: TrainingMwes | None
    side: Side = field(repr=False)
    sizes: Mapping[Cell, int] = field(repr=False)


def prepare(corpus: CuptGold, training: TrainingMwes | None) -> GoldMwes:
    """Gold with its MWEs described and counted once, so that scoring many predictions does not repeat that."""
    side = _described({}, corpus, training, corpus.mwes, None)
    return GoldMwes(corpus, training, side, _sizes(side))


def describe(
    gold: GoldMwes, predicted: Sequence[Mwe], lemmas: Sequence[bytes] | None = None, known: Side | None = None
) -> Side:
    """The views of predicted MWEs, by their tokens in gold's columns.

    predicted: n MWEs in sentences and tokens of `gold`, any order. lemmas: n `lemma_key`s by which they are seen or
    unseen, None for gold's. Source: the official evaluator, which takes the prediction's lemmas; so a lemma changed by
    a tagger moves its numbers, not ours. known: what this gave without `lemmas`; what is the same is taken from it.

    continuous: no position between its first and last token is left out (an empty node has a position, a range has
    none); seen: its multiset of lemmas is annotated somewhere in training; identical (of the seen): so are the forms
    from its first to its last token, words in gaps included, else variant. Without training it is in none of these.
    """
    return _described((known or gold.side).described, gold.corpus, gold.training, predicted, lemmas)


def count(gold: GoldMwes, predicted: Side) -> dict[Cell, Counts]:
    """The counts of every cell that occurs on either side.

    Per split an MWE is a set of tokens: the same set listed twice counts once (once per category in the splits of
    categories). `all` and categories are counted MWE-based (equal token sets) and token-based (tokens shared under the
    best one-to-one pairing, see `shared_tokens`), views MWE-based. A predicted MWE belongs to a view by its own tokens.
    """
    sizes, found = _sizes(predicted), _matches(gold.side, predicted)
    cells = {**gold.sizes, **sizes}
    return {cell: Counts(found.get(cell, 0), gold.sizes.get(cell, 0), sizes.get(cell, 0)) for cell in cells}


def outcomes(gold: GoldMwes, predicted: Sequence[Mwe], lemmas: Sequence[bytes] | None = None) -> list[Outcome]:
    """What every sentence with an MWE on either side adds to every cell of `count`, in the order of the sentences.

    Arguments as for `describe`.
    """
    side = describe(gold, predicted, lemmas)
    sums: defaultdict[tuple[int, Cell], list[int]] = defaultdict(lambda: [0, 0, 0])
    for place, added in enumerate((_found_by_sentence(gold.side, side), _sized(gold.side), _sized(side))):
        for sentence, cell, number in added:
            sums[sentence, cell][place] += number
    return [(*where, found, of, out_of) for where, (found, of, out_of) in sorted(sums.items(), key=_sentence)]


def sentence_counts(gold: GoldMwes, predicted: Iterable[Mwe]) -> list[tuple[int, int, int]]:
    """Of each of gold's n sentences: how many MWEs are found (equal token sets), are in gold, are predicted.

    The same set of tokens listed twice counts once, as in `count`.
    """
    ours = {(mwe.sentence, mwe.tokens) for mwe in predicted}
    theirs = gold.side.described.keys()
    found, in_gold, in_predicted = (Counter(key[0] for key in keys) for keys in (ours & theirs, theirs, ours))
    return [(found[one], in_gold[one], in_predicted[one]) for one in range(len(gold.corpus.items))]


def total(rows: Iterable[Outcome], weight: Callable[[int], float] | None = None) -> dict[Cell, Counts]:
    """The counts of every cell that occurs. weight: how often a sentence counts (for resampling); None: as `count`."""
    sums: dict[Cell, tuple[float, float, float]] = {}
    for sentence, cell, found, in_gold, in_predicted in rows:
        counted, of_gold, of_predicted = sums.get(cell, (0, 0, 0))
        times = 1 if weight is None else weight(sentence)
        sums[cell] = counted + times * found, of_gold + times * in_gold, of_predicted + times * in_predicted
    return {cell: Counts(*counts) for cell, counts in sums.items()}


def found_diversity(gold: GoldMwes, predicted: Iterable[Mwe]) -> Diversity:
    """Richness, entropy and evenness of the correctly found MWEs, a type being a multiset of lemmas (PARSEME 2.0).

    Correct is a token set that gold has too, whatever its category; each counts once. Lemmas are gold's.
    """
    keys = {(mwe.sentence, mwe.tokens) for mwe in predicted} & gold.side.described.keys()
    return diversity(Counter(gold.side.described[key].lemmas for key in keys).values())


def found_types(gold: GoldMwes, predicted: Iterable[Mwe]) -> list[tuple[int, bytes]]:
    """Of every correctly found MWE the sentence and the type that `found_diversity` counts, in order."""
    keys = {(mwe.sentence, mwe.tokens) for mwe in predicted} & gold.side.described.keys()
    return sorted((key[0], gold.side.described[key].lemmas) for key in keys)


def f1(precision: float, recall: float) -> float:
    """2PR/(P+R), 0 to 1; 0 where both are 0."""
    return 2 * precision * recall / (precision + recall) if precision + recall else 0.0


def macro(languages: Sequence[Counts | None], *, absent_as_zero: bool = False) -> tuple[float, float, float] | None:
    """Mean precision and mean recall over languages, and the F1 of these means, each 0 to 1.

    languages: the counts of one cell in every language of the task, those not submitted with nothing predicted or
    found. A language whose gold is empty there (or None) stays out, or, with absent_as_zero, counts as precision 0 and
    recall 0, as in the official average of views; None where all are empty. The official table rounds the two means to
    two decimals of percent before F1, this one does not.
    """
    counted = [counts for counts in languages if counts is not None and counts.gold]
    if not counted:
        return None
    among = len(languages) if absent_as_zero else len(counted)
    precision = sum(counts.precision for counts in counted) / among
    recall = sum(counts.recall for counts in counted) / among
    return precision, recall, f1(precision, recall)


def _described(
    known: Mapping[Key, Described],
    corpus: CuptGold,
    training: TrainingMwes | None,
    mwes: Sequence[Mwe],
    lemmas: Sequence[bytes] | None,
) -> Side:
    """known: descriptions by gold's lemmas that need not be made again."""
    described: dict[Key, Described] = {}
    spans = training.spans if training is not None else frozenset()
    at, lemma_column, is_known = -1, _NO_WORDS, _Spans(_NO_WORDS, spans)
    for (sentence, tokens, _), own in zip(mwes, repeat(None) if lemmas is None else lemmas, strict=lemmas is not None):
        one = known.get((sentence, tokens))
        if one is None or own not in (None, one.lemmas):
            if sentence != at:
                at, lemma_column = sentence, corpus.lemmas[sentence].split(b"\t")
                is_known = _Spans(corpus.items.forms(sentence) if training is not None else _NO_WORDS, spans)
            key = lemma_key([lemma_column[token] for token in tokens]) if own is None else own
            one = _describe(tokens, training, key, is_known)
        described[sentence, tokens] = one
    return Side(described, _by_category(mwes))


_NO_WORDS: list[bytes] = []


class _Spans:
    """Whether the forms of one sentence from here to there are among those of training: each span is looked up once,
    so that thousands of MWEs that span a long sentence cost no more than a few."""

    def __init__(self, forms: Sequence[bytes], known: Set[bytes]) -> None:
        self.forms, self.known = forms, known
        self.answers: dict[tuple[int, int], bool] = {}

    def __call__(self, tokens: Tokens) -> bool:
        ends = tokens[0], tokens[-1] + 1
        if ends not in self.answers:
            self.answers[ends] = b"\t".join(self.forms[slice(*ends)]) in self.known
        return self.answers[ends]


def _describe(tokens: Tokens, training: TrainingMwes | None, lemmas: bytes, is_known: _Spans) -> Described:
    shape = (
        "continuous" if tokens[-1] - tokens[0] + 1 == len(tokens) else "discontinuous",
        "multi_token" if len(tokens) > 1 else "single_token",
    )
    if training is None:
        return Described(shape, lemmas)
    if lemmas not in training.lemmas:
        return Described((*shape, "unseen"), lemmas)
    return Described((*shape, "seen", "identical" if is_known(tokens) else "variant"), lemmas)


def _by_category(mwes: Iterable[Mwe]) -> dict[str, set[Key]]:
    sets: dict[str | None, set[Key]] = {}
    for mwe in mwes:
        sets.setdefault(mwe.category, set()).add((mwe.sentence, mwe.tokens))
    return {CATEGORY + (category or UNLABELED): keys for category, keys in sets.items()}


def _sentence(item: tuple[tuple[int, Cell], object]) -> int:
    return item[0][0]


def _sized(side: Side) -> Iterator[tuple[int, Cell, int]]:
    """Sentence, cell, and how many MWEs or tokens one MWE adds there."""
    for split, keys in _splits(side):
        yield from _each(split, keys)
    for (sentence, _), one in side.described.items():
        for view in one.views:
            yield sentence, (view, MWE_BASED), 1


def _found_by_sentence(gold: Side, predicted: Side) -> Iterator[tuple[int, Cell, int]]:
    for split, both, of_gold, of_predicted in _matched(gold, predicted):
        yield from _each(split, both)
        for sentence, shared in _paired(of_gold, of_predicted):
            yield sentence, (split, TOKEN_BASED), shared
    for key in gold.described.keys() & predicted.described.keys():
        for view in _common_views(gold.described[key], predicted.described[key]):
            yield key[0], (view, MWE_BASED), 1


def _each(split: str, keys: Iterable[Key]) -> Iterator[tuple[int, Cell, int]]:
    of_mwes, of_tokens = (split, MWE_BASED), (split, TOKEN_BASED)
    for sentence, tokens in keys:
        yield sentence, of_mwes, 1
        yield sentence, of_tokens, len(tokens)


def _sizes(side: Side) -> dict[Cell, int]:
    """How many MWEs are in each split, and how many tokens in them; splits without any are left out."""
    sizes: dict[Cell, int] = {}
    for split, keys in _splits(side):
        if keys:
            sizes[split, MWE_BASED], sizes[split, TOKEN_BASED] = len(keys), _tokens_in(keys)
    return {**sizes, **_per_view(one.views for one in side.described.values())}


def _matches(gold: Side, predicted: Side) -> dict[Cell, int]:
    """How many MWEs of each split are on both sides, and how many tokens the two share."""
    found: dict[Cell, int] = {}
    for split, both, of_gold, of_predicted in _matched(gold, predicted):
        found[split, MWE_BASED] = len(both)
        found[split, TOKEN_BASED] = _tokens_in(both) + sum([shared for _, shared in _paired(of_gold, of_predicted)])
    in_both = gold.described.keys() & predicted.described.keys()
    return {**found, **_per_view(_common_views(gold.described[key], predicted.described[key]) for key in in_both)}


def _matched(gold: Side, predicted: Side) -> Iterator[tuple[str, Set[Key], Set[Key], Set[Key]]]:
    """For `all` and every category on both sides: the MWEs that are equal, gold's others and the predicted others.

    Equal ones are paired with each other: no pairing shares more tokens.
    """
    in_gold = dict(_splits(gold))
    for split, keys in _splits(predicted):
        if of_gold := in_gold.get(split):
            both = of_gold & keys
            yield split, both, of_gold - both, keys - both


def _splits(side: Side) -> Iterator[tuple[str, Set[Key]]]:
    yield ALL, side.described.keys()
    yield from side.categories.items()


def _tokens_in(keys: Iterable[Key]) -> int:
    return sum([len(tokens) for _, tokens in keys])


def _per_view(views: Iterable[tuple[str, ...]]) -> dict[Cell, int]:
    """How many of the MWEs with these views are in each of them."""
    sums: dict[Cell, int] = {}
    for together, number in Counter(views).items():
        for view in together:
            sums[view, MWE_BASED] = sums.get((view, MWE_BASED), 0) + number
    return sums


def _common_views(one: Described, other: Described) -> tuple[str, ...]:
    return one.views if one is other else tuple(view for view in one.views if view in other.views)


def _paired(gold: Iterable[Key], predicted: Iterable[Key]) -> Iterator[tuple[int, int]]:
    """Sentences, and the tokens shared there under the best pairing, see `shared_tokens`."""
    left: dict[int, list[Tokens]] = {}
    right: dict[int, list[Tokens]] = {}
    for sentence, tokens in predicted:
        right.setdefault(sentence, []).append(tokens)
    for sentence, tokens in gold:
        if sentence in right:
            left.setdefault(sentence, []).append(tokens)
    for sentence, of_gold in left.items():
        yield sentence, shared_tokens(of_gold, right[sentence])
