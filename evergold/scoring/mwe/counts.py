"""Pair predicted MWEs with those of gold: the most tokens that they can share under a one-to-one pairing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from functools import cached_property
from itertools import groupby, repeat
from operator import itemgetter
from typing import NamedTuple

from evergold.scoring.cupt.codes import Tokens
from evergold.scoring.cupt.corpus import CuptGold, Mwe, TrainingMwes, lemma_key
from evergold.scoring.diversity import Diversity, diversity
from evergold.scoring.optional import load_package

#: Up to this many overlapping MWEs in one sentence are paired without scipy.
FEW_MWES = 6


def shared_tokens(gold: Collection[Tokens], predicted: Collection[Tokens]) -> int:
    """Return the most tokens that gold and predicted MWEs of one sentence can share when they are paired one-to-one.

    gold, predicted: distinct token sets. 0 to the smaller number of tokens. In general an assignment problem, in
    practice hardly ever: equal sets are paired first (no pairing is better), then MWEs that overlap with one other
    only.
    """
    if len(gold) == 1 and len(predicted) == 1:  # as in most sentences
        (one,), (other,) = gold, predicted
        return len(one) if one == other else len(set(one).intersection(other))
    gold_sets, predicted_sets = set(gold), set(predicted)
    equal = gold_sets & predicted_sets
    shared = sum(map(len, equal))
    if len(equal) in (len(gold_sets), len(predicted_sets)):
        return shared
    gold_sets, predicted_sets = gold_sets - equal, predicted_sets - equal
    if len(gold_sets) == 1 or len(predicted_sets) == 1:  # the best partner of the one
        return shared + max(len(set(one) & set(other)) for one in gold_sets for other in predicted_sets)
    overlaps = _overlaps(sorted(gold_sets), sorted(predicted_sets))
    if not overlaps:
        return shared
    per_left, per_right = Counter(i for i, _ in overlaps), Counter(j for _, j in overlaps)
    if len(per_left) == 1 or len(per_right) == 1:
        return shared + max(overlaps.values())
    if max(per_left.values()) == 1 and max(per_right.values()) == 1:
        return shared + sum(overlaps.values())
    return shared + _best_assignment(overlaps)


def _overlaps(left: Sequence[Tokens], right: Sequence[Tokens]) -> Counter[tuple[int, int]]:
    """Count the tokens that each pair of MWEs shares; pairs that share none are left out."""
    bearing: dict[int, list[int]] = {}
    for i, tokens in enumerate(left):
        for token in tokens:
            bearing.setdefault(token, []).append(i)
    return Counter((i, j) for j, tokens in enumerate(right) for token in tokens for i in bearing.get(token, ()))


def _best_assignment(overlaps: Mapping[tuple[int, int], int]) -> int:
    rows, columns = {i for i, _ in overlaps}, {j for _, j in overlaps}
    if min(len(rows), len(columns)) <= FEW_MWES and len(overlaps) <= FEW_MWES**2:
        few_rows = len(rows) <= len(columns)
        return _best_of_few(overlaps if few_rows else {(j, i): tokens for (i, j), tokens in overlaps.items()})
    # Seldom needed, and slow to import; the web process, which imports this module, has no scipy.
    optimize, numpy = load_package("scipy.optimize"), load_package("numpy")
    row_of = {i: row for row, i in enumerate(sorted(rows))}
    column_of = {j: column for column, j in enumerate(sorted(columns))}
    matrix = numpy.zeros((len(rows), len(columns)), dtype=numpy.int64)
    for (i, j), tokens in overlaps.items():
        matrix[row_of[i], column_of[j]] = tokens
    return int(matrix[optimize.linear_sum_assignment(matrix, maximize=True)].sum())


def _best_of_few(overlaps: Mapping[tuple[int, int], int]) -> int:
    """Return the best assignment of few rows: column by column, the best sum for every set of rows used so far."""
    bit = {i: 1 << place for place, i in enumerate({i for i, _ in overlaps})}
    best = {0: 0}
    for _, column in groupby(sorted(overlaps, key=itemgetter(1)), key=itemgetter(1)):
        extended = dict(best)
        for pair in column:
            for used, tokens in best.items():
                if not used & bit[pair[0]]:
                    now = used | bit[pair[0]]
                    extended[now] = max(extended.get(now, 0), tokens + overlaps[pair])
        best = extended
    return max(best.values())


#: The views of the official report, in its order. `all` is the global evaluation.
ALL = "all"
VIEWS = ("continuous", "discontinuous", "multi_token", "single_token", "seen", "unseen", "variant", "identical")
#: The views that compare with training data.
TRAINING_VIEWS = ("seen", "unseen", "variant", "identical")
CATEGORY = "category/"
#: The category of MWEs whose first token has none.
UNLABELED = "<unlabeled>"
MWE_BASED, TOKEN_BASED = "mwe", "token"

#: What is counted: a split (`all`, a view, `category/VID`), and MWEs or their tokens.
Cell = tuple[str, str]


class Counts(NamedTuple):
    """Numbers of MWEs (or of their tokens) that match, are in gold, are predicted: the basis of P, R and F1."""

    matched: float = 0
    gold: float = 0
    predicted: float = 0

    @property
    def precision(self) -> float:
        """matched / predicted, 0 to 1; 0 if nothing is predicted."""
        return self.matched / self.predicted if self.predicted else 0.0

    @property
    def recall(self) -> float:
        """matched / gold, 0 to 1; 0 if gold has none."""
        return self.matched / self.gold if self.gold else 0.0

    @property
    def f1(self) -> float:
        """The harmonic mean of precision and recall, 0 if both are 0."""
        return f1(self.precision, self.recall)


#: Contribution of one sentence to a cell: the sentence, the numbers found, in gold, predicted.
Outcome = list[int]
#: Numbers by sentence; sentences with none are left out.
BySentence = dict[int, int]
#: Location of an MWE: its sentence and the positions of its tokens.
Key = tuple[int, Tokens]


class Described(NamedTuple):
    """Properties derived from the tokens of an MWE: the views it belongs to, and its lemmas as `lemma_key`."""

    views: tuple[str, ...]
    lemmas: bytes


class Side(NamedTuple):
    """MWEs of gold or of a prediction: each set of tokens described once, and the sets of every category (by split)."""

    described: Mapping[Key, Described]
    categories: Mapping[str, set[Key]]


@dataclass(frozen=True)
class GoldMwes:
    """The gold of one language, and its training data (None: there is none). See `prepare`.

    sizes: number of MWEs (or tokens) in every cell of gold.
    """

    corpus: CuptGold
    training: TrainingMwes | None
    side: Side = field(repr=False)
    sizes: Mapping[Cell, int] = field(repr=False)

    @cached_property
    def by_sentence(self) -> Mapping[Cell, BySentence]:
        """`sizes` for every sentence."""
        return _sized_by_sentence(self.side)


def prepare(corpus: CuptGold, training: TrainingMwes | None) -> GoldMwes:
    """Describe and count the MWEs of gold once, so that scoring many predictions does not repeat that."""
    side = _described({}, corpus, training, corpus.mwes, None)
    return GoldMwes(corpus, training, side, _sizes(side))


def describe(
    gold: GoldMwes, predicted: Sequence[Mwe], lemmas: Sequence[bytes] | None = None, known: Side | None = None
) -> Side:
    """Return the predicted MWEs with the views that they belong to, determined from gold's columns for their tokens.

    predicted: n MWEs in sentences and tokens of `gold`, any order. lemmas: n `lemma_key`s that decide whether they are
    seen, None: those of gold. Source: the official evaluator, which takes the prediction's lemmas; so a lemma changed
    by a tagger changes its numbers, not ours. known: the result without `lemmas`, to be reused where it is the same.

    continuous: no position between its first and last token is left out (an empty node has a position, a range has
    none); seen: its multiset of lemmas is annotated somewhere in training; identical (only seen MWEs): the forms from
    its first to its last token, including words in gaps, occur in training, too; otherwise variant. Without training
    data, it is neither seen nor unseen, identical nor variant.
    """
    return _described((known or gold.side).described, gold.corpus, gold.training, predicted, lemmas)


def count(gold: GoldMwes, predicted: Side) -> dict[Cell, Counts]:
    """Return the counts of every cell that occurs on either side.

    Per split an MWE is a set of tokens: the same set listed twice counts once (once per category in the splits of
    categories). `all` and categories are counted MWE-based (equal token sets) and token-based (tokens shared under the
    best one-to-one pairing, see `shared_tokens`), views MWE-based. A predicted MWE belongs to a view by its own tokens.
    """
    sizes, found = _sizes(predicted), _matches(gold.side, predicted)
    cells = {**gold.sizes, **sizes}
    return {cell: Counts(found.get(cell, 0), gold.sizes.get(cell, 0), sizes.get(cell, 0)) for cell in cells}


def outcomes(gold: GoldMwes, predicted: Side) -> dict[Cell, list[Outcome]]:
    """Return, for each cell of `count`, the contribution of every sentence with an MWE on either side, in order."""
    found, sized = _found_by_sentence(gold.side, predicted), _sized_by_sentence(predicted)
    rows: dict[Cell, list[Outcome]] = {}
    for cell in {**gold.by_sentence, **sized}:
        right, of_gold, ours = found.get(cell, {}), gold.by_sentence.get(cell, {}), sized.get(cell, {})
        rows[cell] = [
            [one, right.get(one, 0), of_gold.get(one, 0), ours.get(one, 0)] for one in sorted({**of_gold, **ours})
        ]
    return rows


def counts_of(rows: Mapping[Cell, list[Outcome]]) -> dict[Cell, Counts]:
    """Compute the result of `count` from that of `outcomes`."""
    return {
        cell: Counts(*(sum(column) for column in list(zip(*of_cell, strict=True))[1:]))
        for cell, of_cell in rows.items()
    }


def sentence_counts(gold: GoldMwes, predicted: Iterable[Mwe]) -> list[tuple[int, int, int]]:
    """Count for each of gold's n sentences the MWEs that are found (equal token sets), are in gold, are predicted.

    The same set of tokens listed twice counts once, as in `count`.
    """
    ours = {(mwe.sentence, mwe.tokens) for mwe in predicted}
    in_gold_side = gold.side.described.keys()
    found, in_gold, in_predicted = (
        Counter(key[0] for key in keys) for keys in (ours & in_gold_side, in_gold_side, ours)
    )
    return [(found[one], in_gold[one], in_predicted[one]) for one in range(len(gold.corpus.items))]


def found_diversity(gold: GoldMwes, predicted: Iterable[Mwe]) -> Diversity:
    """Compute richness, entropy and evenness of the correctly found MWEs, a type being a multiset of lemmas (PARSEME
    2.0).

    An MWE is correct if gold has its token set, in whatever category; each counts once. Lemmas are gold's.
    """
    keys = {(mwe.sentence, mwe.tokens) for mwe in predicted} & gold.side.described.keys()
    return diversity(Counter(gold.side.described[key].lemmas for key in keys).values())


def found_types(gold: GoldMwes, predicted: Iterable[Mwe]) -> list[tuple[int, bytes]]:
    """Return the sentence and the type of every MWE that was found, in order; `found_diversity` counts the types."""
    keys = {(mwe.sentence, mwe.tokens) for mwe in predicted} & gold.side.described.keys()
    return sorted((key[0], gold.side.described[key].lemmas) for key in keys)


def f1(precision: float, recall: float) -> float:
    """Return 2PR/(P+R), 0 to 1; 0 if both are 0."""
    return 2 * precision * recall / (precision + recall) if precision + recall else 0.0


def macro(languages: Sequence[Counts | None], *, absent_as_zero: bool = False) -> tuple[float, float, float] | None:
    """Return mean precision and mean recall over languages, and the F1 of these means, each 0 to 1.

    languages: the counts of one cell in every language of the task, those not submitted with nothing predicted or
    found. A language whose gold is empty there (or None) is left out, or, with absent_as_zero, counts as precision 0
    and recall 0, as in the official average of views; None if all are empty. The official table rounds the two means to
    two decimals of percent before F1, this function does not.
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
    """Describe MWEs; known: descriptions by gold's lemmas to be reused."""
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
    """Checks whether the forms between two tokens of one sentence occur among those of training.

    Each span is looked up once, so that thousands of MWEs that span a long sentence cost no more than a few.
    """

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


def _sized_by_sentence(side: Side) -> dict[Cell, BySentence]:
    """Count as `_sizes` does, but for each sentence separately."""
    sums: dict[Cell, BySentence] = {}
    for split, keys in _splits(side):
        if keys:
            sums[split, MWE_BASED], sums[split, TOKEN_BASED] = _by_sentence(keys)
    return {**sums, **_views_by_sentence((key[0], one.views) for key, one in side.described.items())}


def _found_by_sentence(gold: Side, predicted: Side) -> dict[Cell, BySentence]:
    """Count as `_matches` does, but for each sentence separately."""
    found: dict[Cell, BySentence] = {}
    for split, both, of_gold, of_predicted in _matched(gold, predicted):
        found[split, MWE_BASED], tokens = _by_sentence(both)
        for sentence, shared in _paired(of_gold, of_predicted):
            tokens[sentence] = tokens.get(sentence, 0) + shared
        found[split, TOKEN_BASED] = tokens
    in_both = gold.described.keys() & predicted.described.keys()
    common = ((key[0], _common_views(gold.described[key], predicted.described[key])) for key in in_both)
    return {**found, **_views_by_sentence(common)}


def _by_sentence(keys: Iterable[Key]) -> tuple[BySentence, BySentence]:
    """Count the MWEs of each sentence, and the tokens in them."""
    mwes: BySentence = {}
    in_them: BySentence = {}
    for sentence, tokens in keys:
        mwes[sentence] = mwes.get(sentence, 0) + 1
        in_them[sentence] = in_them.get(sentence, 0) + len(tokens)
    return mwes, in_them


def _views_by_sentence(seen: Iterable[tuple[int, tuple[str, ...]]]) -> dict[Cell, BySentence]:
    """Count the MWEs of each view in each sentence."""
    alike: dict[tuple[str, ...], list[int]] = {}
    for sentence, together in seen:
        alike.setdefault(together, []).append(sentence)
    sums: dict[Cell, Counter[int]] = {}
    for together, sentences in alike.items():
        for view in together:
            sums.setdefault((view, MWE_BASED), Counter()).update(sentences)
    return {**sums}


def _sizes(side: Side) -> dict[Cell, int]:
    """Count the MWEs in each split, and the tokens in them; splits without any are left out."""
    sizes: dict[Cell, int] = {}
    for split, keys in _splits(side):
        if keys:
            sizes[split, MWE_BASED], sizes[split, TOKEN_BASED] = len(keys), _tokens_in(keys)
    return {**sizes, **_per_view(one.views for one in side.described.values())}


def _matches(gold: Side, predicted: Side) -> dict[Cell, int]:
    """Count the MWEs of each split that are on both sides, and the tokens that the two share."""
    found: dict[Cell, int] = {}
    for split, both, of_gold, of_predicted in _matched(gold, predicted):
        found[split, MWE_BASED] = len(both)
        found[split, TOKEN_BASED] = _tokens_in(both) + sum([shared for _, shared in _paired(of_gold, of_predicted)])
    in_both = gold.described.keys() & predicted.described.keys()
    return {**found, **_per_view(_common_views(gold.described[key], predicted.described[key]) for key in in_both)}


def _matched(gold: Side, predicted: Side) -> Iterator[tuple[str, Set[Key], Set[Key], Set[Key]]]:
    """Yield for `all` and every category on both sides the MWEs that are equal, gold's others and the predicted others.

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
    """Count the MWEs of each view, given the views of every MWE."""
    sums: dict[Cell, int] = {}
    for together, number in Counter(views).items():
        for view in together:
            sums[view, MWE_BASED] = sums.get((view, MWE_BASED), 0) + number
    return sums


def _common_views(one: Described, other: Described) -> tuple[str, ...]:
    return one.views if one is other else tuple(view for view in one.views if view in other.views)


def _paired(gold: Iterable[Key], predicted: Iterable[Key]) -> Iterator[tuple[int, int]]:
    """Yield sentences and the number of tokens shared there under the best pairing, see `shared_tokens`."""
    left: dict[int, list[Tokens]] = {}
    right: dict[int, list[Tokens]] = {}
    for sentence, tokens in predicted:
        right.setdefault(sentence, []).append(tokens)
    for sentence, tokens in gold:
        if sentence in right:
            left.setdefault(sentence, []).append(tokens)
    for sentence, of_gold in left.items():
        yield sentence, shared_tokens(of_gold, right[sentence])
