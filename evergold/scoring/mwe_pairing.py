"""Pair predicted MWEs with those of gold: the most tokens that they can share under a one-to-one pairing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from itertools import groupby
from operator import itemgetter

from evergold.scoring.cupt_codes import Tokens
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
    """Count the tokens that each pair of MWEs shares; pairs without any are left out."""
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
