"""A whole board's statistics: 50 systems × 3,000 items × 10,000 resamples with intervals and all 1,225 pairs.

Beside it the same work as a loop over the scorer, of which a small share is done and extrapolated: per resample and
system one confusion matrix and one macro F1 (`evergold.scoring.f1`), per swap and pair two. Both take turns in one
process; that both give the same numbers is tested (tests/evergold/scoring/resampling).
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import numpy as np

from bench._command import BenchParser, run
from evergold.scoring.f1 import confusion, macro_f1
from evergold.scoring.resampling.draws import Draws
from evergold.scoring.resampling.intervals import intervals
from evergold.scoring.resampling.pairs import Difference, compare_all
from evergold.scoring.resampling.parts import Ranks
from evergold.scoring.resampling.ranking import better_than, clusters, rank_ranges
from evergold.scoring.resampling.sample import Sample
from evergold.scoring.resampling.swaps import Pair
from evergold.scoring.resampling.units import Units
from evergold.scoring.samples.tables import label_sums
from evergold.scoring.tasks.idiom_detection import METRICS

NAME, RHO = ("macro_f1", "all"), ("spearman", "all")
T = TypeVar("T")
SEED = 1
#: What the processor's clock, which may stand still for some milliseconds, tells well enough.
SHORTEST_SECONDS = 0.05
#: How much of the loop is run.
LOOPED = 400


def main(argv: Sequence[str] | None = None) -> None:
    parser = BenchParser(__doc__, smoke={"systems": 3, "items": 40, "resamples": 100, "rounds": 2})
    parser.add_argument("--systems", type=int, default=50)
    parser.add_argument("--items", type=int, default=3000)
    parser.add_argument("--resamples", type=int, default=10_000)
    parser.add_argument("--rounds", type=int, default=LOOPED, help="how many rounds of the loop are run")
    parser.add_argument("--ranks", action="store_true", help="Spearman's rho instead of macro F1")
    chosen = parser.parse(argv)
    result = measure(chosen.systems, chosen.items, chosen.resamples, chosen.ranks, chosen.rounds)
    if chosen.json:
        print(json.dumps(result))
        return
    for name, value in result.items():
        print(f"{name:<28} {value:,.2f}" if isinstance(value, float) else f"{name:<28} {value}")


def measure(systems: int, items: int, resamples: int, ranks: bool, rounds: int = LOOPED) -> dict[str, Any]:
    """Return the seconds for each step and for the loop, in one run on one machine; their ratio is quoted."""
    chance = np.random.default_rng(SEED)
    gold = chance.integers(0, 2, items)
    answers = [np.where(chance.random(items) < 0.6 + 0.005 * n, gold, 1 - gold) for n in range(systems)]
    units = Units(tuple(map(str, range(items))))
    every = np.arange(items)
    if ranks:
        noisy = [gold + chance.standard_normal(items) * (2 - 0.01 * n) for n in range(systems)]
        target = gold + chance.standard_normal(items)
        samples = [Sample(units, (Ranks((RHO,), every, target, one),)) for one in noisy]
    else:
        samples = [Sample(units, (label_sums((NAME[0],), "all", ("0", "1"), (gold, a), every),)) for a in answers]
    name = RHO if ranks else NAME
    newest = [(n, systems - 1) for n in range(systems - 1)]

    def compared(pairs: list[Pair] | None = None) -> dict[Pair, Difference]:
        return compare_all(samples, [name], Draws(units, "bench", resamples), pairs)[name]

    intervals_seconds = 0.0 if ranks else timed(lambda: [intervals(sample, METRICS) for sample in samples])[1]
    differences, pairs_seconds = timed(compared)
    _, newest_seconds = timed(lambda: compared(newest))
    better = better_than(systems, differences)
    order = np.argsort([-(sample.scores()[name] or 0) for sample in samples]).tolist()
    groups = clusters(better, order)
    widest = max(high - low for low, high in rank_ranges(better))
    result: dict[str, Any] = {
        "systems": systems,
        "items": items,
        "resamples": resamples,
        "pairs": len(differences),
        "intervals_seconds": intervals_seconds,
        "pairs_seconds": pairs_seconds,
        "one_new_run_seconds": newest_seconds,
        "clusters": max(groups),
        "widest_rank_range": widest,
    }
    if not ranks:
        looped = loop_seconds(gold, answers, resamples, len(differences), rounds)
        result |= {"loop_seconds": looped, "ratio": looped / (intervals_seconds + pairs_seconds)}
    return result


def timed(work: Callable[[], T]) -> tuple[T, float]:
    """Return the result and the processor time of one call, measured over several if one is too short for the clock."""
    begin, calls, spent = time.process_time(), 0, 0.0
    while spent < SHORTEST_SECONDS:
        result = work()
        calls += 1
        spent = time.process_time() - begin
    return result, spent / calls


def loop_seconds(gold: Any, answers: list[Any], resamples: int, pairs: int, rounds: int) -> float:
    """Return the time of a loop over the scorer, extrapolated from some rounds of each kind."""
    chance = np.random.default_rng(SEED + 1)
    first, second = answers[0], answers[1]
    begin = time.process_time()
    for _ in range(rounds):
        drawn = chance.integers(0, len(gold), len(gold))
        macro_f1(confusion(gold[drawn], first[drawn], 2))
    drawn_seconds = (time.process_time() - begin) / rounds
    begin = time.process_time()
    for _ in range(rounds):
        swap = chance.random(len(gold)) < 0.5
        macro_f1(confusion(gold, np.where(swap, second, first), 2))
        macro_f1(confusion(gold, np.where(swap, first, second), 2))
    swapped_seconds = (time.process_time() - begin) / rounds
    return drawn_seconds * len(answers) * resamples + swapped_seconds * pairs * resamples


if __name__ == "__main__":
    sys.exit(run(main))
