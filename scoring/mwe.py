"""Identified MWEs against gold: what is found per sentence, counted per view and category, MWE-based and token-based.

Everything starts from outcomes per sentence, which can be re-weighted; reading files is left to `cupt`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from operator import itemgetter
from typing import NamedTuple

from scoring.cupt_codes import Tokens
from scoring.cupt_corpus import CuptGold, Mwe, TrainingMwes, lemma_key
from scoring.diversity import Diversity, diversity
from scoring.optional import load_package

#: The views of the official report, in its order. `all` is the global evaluation.
ALL = "all"
VIEWS = ("continuous", "discontinuous", "multi_token", "single_token", "seen", "unseen", "variant", "identical")
#: Those that compare with training data.
TRAINING_VIEWS = ("seen", "unseen", "variant", "identical")
CATEGORY = "category/"
#: The category of MWEs whose first token names none.
UNLABELED = "<unlabeled>"
MWE_BASED, TOKEN_BASED = "mwe", "token"
#: Up to so many MWEs that overlap each other in one sentence are paired without scipy.
FEW_MWES = 6

#: What is counted: a split (`all`, a view, `category/VID`), and MWEs or their tokens.
Cell = tuple[str, str]


class Counts(NamedTuple):
    """How many MWEs (or their tokens) are found, are in gold, are predicted: where P, R and F1 come from."""

    found: float = 0
    gold: float = 0
    predicted: float = 0

    @property
    def precision(self) -> float:
        """found / predicted, 0 to 1; 0 where nothing is predicted."""
        return self.found / self.predicted if self.predicted else 0.0

    @property
    def recall(self) -> float:
        """found / gold, 0 to 1; 0 where gold has none."""
        return self.found / self.gold if self.gold else 0.0

    @property
    def f1(self) -> float:
        """The harmonic mean of precision and recall, 0 where both are 0."""
        return f1(self.precision, self.recall)


#: What one sentence adds to one cell: sentence, cell, how many are found, are in gold, are predicted.
Outcome = tuple[int, Cell, int, int, int]


class Described(NamedTuple):
    """What follows from the tokens of an MWE: the views it belongs to, and its lemmas as `lemma_key`."""

    views: tuple[str, ...]
    lemmas: bytes


@dataclass(frozen=True)
class GoldMwes:
    """The gold of one language, with what training data (None: there is none) says about its MWEs. See `prepare`."""

    corpus: CuptGold
    training: TrainingMwes | None
    described: Mapping[tuple[int, Tokens], Described] = field(repr=False)


def prepare(corpus: CuptGold, training: TrainingMwes | None) -> GoldMwes:
    """Gold with its MWEs described once, so that scoring many predictions against it does not repeat that."""
    described = {(mwe.sentence, mwe.tokens): describe(corpus, training, mwe) for mwe in corpus.mwes}
    return GoldMwes(corpus, training, described)


def describe(corpus: CuptGold, training: TrainingMwes | None, mwe: Mwe, lemmas: bytes | None = None) -> Described:
    """The views of a gold or predicted MWE, by its tokens in gold's columns; lemmas: a `lemma_key` to use instead.

    continuous: no position between its first and last token is left out (an empty node has a position, a range has
    none); seen: its multiset of lemmas is annotated somewhere in training; identical (of the seen): so are the forms
    from its first to its last token, words in gaps included, else variant. Without training it is in none of these.
    """
    tokens = mwe.tokens
    if lemmas is None:
        all_lemmas = corpus.lemmas[mwe.sentence].split(b"\t")
        lemmas = lemma_key([all_lemmas[token] for token in tokens])
    shape = (
        "continuous" if tokens[-1] - tokens[0] + 1 == len(tokens) else "discontinuous",
        "multi_token" if len(tokens) > 1 else "single_token",
    )
    if training is None:
        return Described(shape, lemmas)
    if lemmas not in training.lemmas:
        return Described((*shape, "unseen"), lemmas)
    span = b"\t".join(corpus.items.forms(mwe.sentence)[tokens[0] : tokens[-1] + 1])
    return Described((*shape, "seen", "identical" if span in training.spans else "variant"), lemmas)


def outcomes(gold: GoldMwes, predicted: Sequence[Mwe], lemmas: Sequence[bytes] | None = None) -> list[Outcome]:
    """What every sentence with an MWE on either side adds to every cell, in the order of the sentences.

    predicted: n MWEs in sentences and tokens of `gold`, any order. Per split an MWE is a set of tokens: the same set
    listed twice counts once (once per category in the splits of categories). `all` and categories are counted MWE-based
    (equal token sets) and token-based (tokens shared under the best one-to-one pairing, see `shared_tokens`), views
    MWE-based. A predicted MWE belongs to a view by its own tokens. lemmas: n `lemma_key`s by which predicted MWEs are
    seen or unseen, None for gold's. Source: the official evaluator, which takes the prediction's lemmas; so a lemma
    changed by a tagger moves its numbers, not ours.
    """
    own = {(mwe.sentence, mwe.tokens): key for mwe, key in zip(predicted, lemmas or (), strict=lemmas is not None)}
    rows: list[Outcome] = []
    for sentence, gold_mwes, predicted_mwes in _by_sentence(gold.corpus.mwes, predicted):
        gold_sets = {mwe.tokens for mwe in gold_mwes}
        predicted_sets = {mwe.tokens for mwe in predicted_mwes}
        whole = _compare(sentence, ALL, gold_sets, predicted_sets)
        rows += whole
        of_gold, of_predicted = _by_category(gold_mwes), _by_category(predicted_mwes)
        categories = of_gold.keys() | of_predicted.keys()
        if len(categories) == 1:  # as in most sentences: what holds for all holds for it
            (category,) = categories
            rows += [(sentence, (category, row[1][1]), *row[2:]) for row in whole]
            categories = set()
        for category in sorted(categories):
            rows += _compare(sentence, category, of_gold.get(category, _NONE), of_predicted.get(category, _NONE))
        rows += _compare_views(sentence, gold, gold_sets, predicted_sets, own)
    return rows


def total(rows: Iterable[Outcome], weight: Callable[[int], float] | None = None) -> dict[Cell, Counts]:
    """The counts of every cell that occurs. weight: how often a sentence counts (for resampling); None: once each."""
    sums: dict[Cell, tuple[float, float, float]] = {}
    for sentence, cell, found, in_gold, in_predicted in rows:
        counted, of_gold, of_predicted = sums.get(cell, (0, 0, 0))
        times = 1 if weight is None else weight(sentence)
        sums[cell] = counted + times * found, of_gold + times * in_gold, of_predicted + times * in_predicted
    return {cell: Counts(*counts) for cell, counts in sums.items()}


def shared_tokens(gold: Iterable[Tokens], predicted: Iterable[Tokens]) -> int:
    """The most tokens that gold and predicted MWEs of one sentence can share when they are paired one-to-one.

    gold, predicted: distinct token sets. 0 to the smaller number of tokens. An assignment problem, but hardly ever:
    equal sets are paired first (no pairing is better), then MWEs that overlap with one other only.
    """
    gold_sets, predicted_sets = set(gold), set(predicted)
    equal = gold_sets & predicted_sets
    shared = sum(map(len, equal))
    if len(equal) in (len(gold_sets), len(predicted_sets)):
        return shared
    gold_sets, predicted_sets = gold_sets - equal, predicted_sets - equal
    if len(gold_sets) == 1 or len(predicted_sets) == 1:  # as in most sentences: the best partner of the one
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


def found_diversity(gold: GoldMwes, predicted: Iterable[Mwe]) -> Diversity:
    """Richness, entropy and evenness of the correctly found MWEs, a type being a multiset of lemmas (PARSEME 2.0).

    Correct is a token set that gold has too, whatever its category; each counts once. Lemmas are gold's.
    """
    keys = {(mwe.sentence, mwe.tokens) for mwe in predicted} & gold.described.keys()
    return diversity(Counter(gold.described[key].lemmas for key in keys).values())


def f1(precision: float, recall: float) -> float:
    """2PR/(P+R), 0 to 1; 0 where both are 0."""
    return 2 * precision * recall / (precision + recall) if precision + recall else 0.0


def macro(languages: Sequence[Counts | None]) -> tuple[float, float, float] | None:
    """Mean precision and mean recall over languages, and the F1 of these means, each 0 to 1.

    languages: the counts of one cell in every language of the task, those not submitted with nothing predicted or
    found. A language whose gold is empty there (or None) stays out; None where all do. The official table rounds the
    two means to two decimals of percent before F1, this one does not.
    """
    counted = [counts for counts in languages if counts is not None and counts.gold]
    if not counted:
        return None
    precision = sum(counts.precision for counts in counted) / len(counted)
    recall = sum(counts.recall for counts in counted) / len(counted)
    return precision, recall, f1(precision, recall)


def _by_sentence(gold: Iterable[Mwe], predicted: Iterable[Mwe]) -> Iterator[tuple[int, list[Mwe], list[Mwe]]]:
    sides: dict[int, tuple[list[Mwe], list[Mwe]]] = {}
    for side, mwes in enumerate((gold, predicted)):
        for mwe in mwes:
            sides.setdefault(mwe.sentence, ([], []))[side].append(mwe)
    for sentence in sorted(sides):
        yield sentence, *sides[sentence]


def _by_category(mwes: Iterable[Mwe]) -> dict[str, set[Tokens]]:
    """The token sets of every category, by the name of its split."""
    sets: dict[str, set[Tokens]] = {}
    for mwe in mwes:
        sets.setdefault(CATEGORY + (mwe.category or UNLABELED), set()).add(mwe.tokens)
    return sets


_NONE: frozenset[Tokens] = frozenset()


def _compare(
    sentence: int, split: str, gold: Collection[Tokens], predicted: Collection[Tokens]
) -> tuple[Outcome, Outcome]:
    found = sum(tokens in predicted for tokens in gold)
    of_tokens = shared_tokens(gold, predicted) if gold and predicted else 0
    return (
        (sentence, (split, MWE_BASED), found, len(gold), len(predicted)),
        (sentence, (split, TOKEN_BASED), of_tokens, sum(map(len, gold)), sum(map(len, predicted))),
    )


def _compare_views(
    sentence: int,
    gold: GoldMwes,
    gold_sets: set[Tokens],
    predicted_sets: set[Tokens],
    own_lemmas: Mapping[tuple[int, Tokens], bytes],
) -> Iterator[Outcome]:
    counts: dict[str, list[int]] = {}
    for tokens in gold_sets:
        for view in gold.described[sentence, tokens].views:
            counts.setdefault(view, [0, 0, 0])[1] += 1
    for tokens in predicted_sets:
        known, lemmas = gold.described.get((sentence, tokens)), own_lemmas.get((sentence, tokens))
        if known is not None and lemmas in (None, known.lemmas):
            views = known.views
        else:
            views = describe(gold.corpus, gold.training, Mwe(sentence, tokens, None), lemmas).views
        for view in views:
            cell = counts.setdefault(view, [0, 0, 0])
            cell[0] += known is not None and view in known.views
            cell[2] += 1
    for view, (found, in_gold, in_predicted) in counts.items():
        yield sentence, (view, MWE_BASED), found, in_gold, in_predicted


def _overlaps(left: Sequence[Tokens], right: Sequence[Tokens]) -> Counter[tuple[int, int]]:
    """How many tokens each pair of MWEs shares, pairs without any left out."""
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
    """The best assignment of few rows: column by column, the best sum for every set of rows used so far."""
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
