"""Pairs of systems whose truth is known: how often the interval of the difference holds it, and how often a board of
equal systems shows any separation (at most 5 % may).

`python -m bench.pairs --sets 2000 --boards 1000` takes an hour; the tables of decision 033 are what it prints.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import chain
from typing import Any

import numpy as np

from bench._command import BenchParser, run
from evergold.scoring.resampling.blocks import table
from evergold.scoring.resampling.draws import Draws
from evergold.scoring.resampling.formulas import precision_recall_f1
from evergold.scoring.resampling.pairs import compare, compare_all
from evergold.scoring.resampling.parts import Ranks, Sums
from evergold.scoring.resampling.ranking import better_than
from evergold.scoring.resampling.sample import Sample
from evergold.scoring.resampling.units import Units
from evergold.scoring.samples.tables import label_sums

Chance = np.random.Generator
SEED = 7
NAME = ("score", "all")
SIZES = (100, 300, 1000)
#: Systems of a board of equals, and their items.
SYSTEMS, ITEMS = 20, 300


def main(argv: Sequence[str] | None = None) -> None:
    """Run, print a line for each population and kind of board (or JSON)."""
    parser = BenchParser(__doc__, smoke={"sets": 1, "boards": 1, "resamples": 100})
    parser.add_argument("--sets", type=int, default=100, help="data sets of each population and size")
    parser.add_argument("--boards", type=int, default=20, help="boards of equal systems")
    parser.add_argument("--resamples", type=int, default=10_000, help="of each board; a tenth of it for each data set")
    chosen = parser.parse(argv)
    figures = []
    for row in chain(
        measure_pairs(chosen.sets, chosen.resamples // 10), measure_boards(chosen.boards, chosen.resamples)
    ):
        figures.append(row)
        if not chosen.json:
            print(line(row), flush=True)
    if chosen.json:
        print(json.dumps(figures, indent=1))


def measure_pairs(sets: int, resamples: int) -> Iterator[dict[str, Any]]:
    """Return, by population and size, the shares of data sets whose interval has the truth, and with p below .05."""
    for title, draw in POPULATIONS.items():
        for size in SIZES if sets else ():
            share, rejected = coverage(draw, size, sets, resamples)
            yield {"title": title, "items": size, "holds": share, "rejected": rejected}


def measure_boards(boards: int, resamples: int) -> Iterator[dict[str, Any]]:
    """Return, by kind of board, the share of boards of equal systems that show any separation."""
    for title, board in BOARDS.items() if boards else ():
        separated = sum(is_separated(board, number, resamples) for number in range(boards))
        yield {"title": title, "systems": SYSTEMS, "items": ITEMS, "separated": separated / boards}


def line(row: dict[str, Any]) -> str:
    """Format a row for people."""
    if "separated" in row:
        share = 100 * row["separated"]
        return f"{row['systems']} equal systems, {row['title']:<20} any separation on {share:5.1f} % of boards"
    holds, rejected = 100 * row["holds"], 100 * row["rejected"]
    return f"{row['title']:<30} n={row['items']:<5} holds the truth {holds:5.1f}   p < .05 {rejected:5.1f}"


def coverage(draw: Callable[[int, Chance], tuple[Sample, Sample]], size: int, sets: int, resamples: int) -> Any:
    """Return the share of data sets whose interval contains the true difference, 0, and of those with p < .05."""
    chance, held, rejected = np.random.default_rng(SEED), 0, 0
    for number in range(sets):
        first, second = draw(size, chance)
        one = compare(first, second, Draws(first.units, f"set {number}", resamples))[NAME]
        held += one.low is not None and one.high is not None and one.low <= 0 <= one.high
        rejected += one.p < 0.05
    return held / sets, rejected / sets


def is_separated(board: Callable[[Chance], list[Sample]], number: int, resamples: int) -> bool:
    """Return whether any system on a board of equals is significantly better than another."""
    samples = board(np.random.default_rng(number))
    found = compare_all(samples, [NAME], Draws(samples[0].units, f"board {number}", resamples))
    return bool(better_than(len(samples), found[NAME]).any())


def units(n: int) -> Units:
    return Units(tuple(map(str, range(n))))


def labels(shares: tuple[float, ...], right: float, systems: int, n: int, chance: Chance) -> list[Sample]:
    """Draw systems that are equally often right, more so on easy items; macro F1."""
    gold = chance.choice(len(shares), n, p=shares)
    ease = chance.beta(4 * right, 4 * (1 - right), n)
    found = []
    for _ in range(systems):
        other = (gold + chance.integers(1, len(shares), n)) % len(shares)
        predicted = np.where(chance.random(n) < ease, gold, other)
        part = label_sums(("macro_f1",), "all", tuple("abc"[: len(shares)]), (gold, predicted), np.arange(n))
        found.append(Sample(units(n), (Sums((NAME,), part.blocks, part.finish, part.keys, part.kinds_by_label),)))
    return found


def ranks(systems: int, n: int, chance: Chance) -> list[Sample]:
    """Draw systems with equal noise, each on its own scale; Spearman's rho."""
    gold = chance.standard_normal(n)
    shared = chance.standard_normal(n) * 0.5
    every = np.arange(n)
    noisy = [np.exp(gold + shared + chance.standard_normal(n) * 0.7) * 10**place for place in range(systems)]
    return [Sample(units(n), (Ranks((NAME,), every, gold, one),)) for one in noisy]


def mwes(systems: int, n: int, chance: Chance) -> list[Sample]:
    """Draw systems that find equally many MWEs of each sentence; F1."""
    gold = chance.poisson(chance.gamma(1.0, 1.0, n))
    found = [np.stack([chance.binomial(gold, 0.6), gold, gold], axis=1) for _ in range(systems)]
    for one in found:
        one[:, 2] = one[:, 0] + chance.poisson(0.4, n)
    return [
        Sample(units(n), (Sums((NAME,), (table(np.arange(n), list(one.T.astype(np.float64))),), _f1, (0, 1, 2)),))
        for one in found
    ]


def _f1(sums: Any) -> Any:
    return precision_recall_f1(sums)[..., 2:]


def _two(draw: Callable[[int, int, Chance], list[Sample]], n: int, chance: Chance) -> tuple[Sample, Sample]:
    first, second = draw(2, n, chance)
    return first, second


HALF, SKEWED = (0.5, 0.5), (0.9, 0.1)
POPULATIONS: dict[str, Callable[[int, Chance], tuple[Sample, Sample]]] = {
    "macro F1, balanced": partial(_two, partial(labels, HALF, 0.8)),
    "macro F1, 10 % positive": partial(_two, partial(labels, SKEWED, 0.85)),
    "MWE F1": partial(_two, mwes),
    "Spearman": partial(_two, ranks),
}
BOARDS: dict[str, Callable[[Chance], list[Sample]]] = {
    "macro F1": partial(labels, HALF, 0.8, SYSTEMS, ITEMS),
    "Spearman": partial(ranks, SYSTEMS, ITEMS),
}


if __name__ == "__main__":
    sys.exit(run(main))
