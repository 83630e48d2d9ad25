"""Coverage of 95 % intervals, by method: known populations, many data sets of each.

The table of decision 032 is what this prints: `python -m bench.coverage --sets 2000`, and that of few items what it
prints with `--only share --sizes 10,20,50,200`. A star marks the way that is used for the family, an exclamation mark
where it misses 95 ± 1 %.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from typing import Any

import numpy as np

from bench._command import BenchParser, run
from bench._populations import NAME, POPULATIONS, Floats, Population
from evergold.scoring.resampling.draws import Draws
from evergold.scoring.resampling.intervals import method_for
from evergold.scoring.resampling.jackknife import Jackknife
from evergold.scoring.resampling.methods import METHODS, Evidence

SEED = 20260101
LEVEL, MISSES = 0.95, 0.01
SIZES = (100, 300, 1000)


def main(argv: Sequence[str] | None = None) -> None:
    parser = BenchParser(__doc__, smoke={"sets": 1, "resamples": 20, "sizes": (40,), "truth_items": 400})
    parser.add_argument("--sets", type=int, default=200, help="data sets of each population and size")
    parser.add_argument("--resamples", type=int, default=999)
    parser.add_argument("--only", default="", help="populations whose family or title has this in it")
    parser.add_argument("--truth-items", type=int, help="items that are as good as the population")
    parser.add_argument("--sizes", type=lambda text: tuple(map(int, text.split(","))), default=SIZES)
    chosen = parser.parse(argv)
    rows = []
    for population in POPULATIONS:
        if chosen.only in population.family or chosen.only in population.title:
            for size in chosen.sizes:
                if size <= population.largest:
                    rows.append(measure(population, size, chosen.sets, chosen.resamples, chosen.truth_items))
                    if not chosen.json:
                        print(line(rows[-1]), flush=True)
    if chosen.json:
        print(json.dumps(rows, indent=1))


def measure(
    population: Population, size: int, sets: int, resamples: int, truth_items: int | None = None
) -> dict[str, Any]:
    """Return the share of data sets whose interval contains the truth, by method, and the intervals' mean width."""
    chance = np.random.default_rng(SEED)
    values: list[float] = []
    ends: dict[str, list[tuple[float, float]]] = {method: [] for method in METHODS}
    plans: dict[int, tuple[list[Floats], Jackknife]] = {}
    for _ in range(sets):
        sample = population.draw(size, chance)
        units = len(sample.units)
        if units not in plans:
            jackknife = Jackknife(sample.units)
            drawn = list(Draws(sample.units, "coverage", resamples).weights())
            plans[units] = drawn, jackknife
        drawn, jackknife = plans[units]
        evidence = Evidence(
            value=float(sample.weighted(np.ones((1, units)))[NAME][0]),
            influences=jackknife.influences(jackknife.values(sample)[NAME]),
            degrees=jackknife.degrees,
            size=units,
            replicates=np.concatenate([sample.weighted(weights)[NAME] for weights in drawn]),
            low=population.low,
            high=population.high,
        )
        values.append(evidence.value)
        for method in usable(population):
            ends[method].append(METHODS[method](evidence, LEVEL))
    truth = population.truth(chance, truth_items) if population.has_truth else float(np.nanmean(values))
    chosen = method_for(population.low, population.high, is_share=population.is_share)
    return {
        "family": population.family,
        "title": population.title,
        "size": size,
        "truth": truth,
        "chosen": chosen,
        "coverage": {method: held(found, truth) for method, found in ends.items() if found},
        "width": {method: float(np.mean(np.diff(found))) for method, found in ends.items() if found},
    }


def usable(population: Population) -> Sequence[str]:
    """Return the methods that fit the range."""
    has = {
        "atanh-t": population.low == -1,
        "logit-t": (population.low, population.high) == (0, 1),
        "score-t": (population.low, population.high) == (0, 1),
        "wilson": population.is_share,
        "log-t": population.low == 0 and population.high is None,
    }
    return [method for method in METHODS if has.get(method, True)]


def held(found: Sequence[tuple[float, float]], truth: float) -> float:
    """Return how often low ≤ truth ≤ high; an interval without ends contains nothing."""
    return sum(low <= truth <= high for low, high in found) / len(found)


def line(row: dict[str, Any]) -> str:
    cells = []
    for method, share in row["coverage"].items():
        mark = "*" if method == row["chosen"] else " "
        cells.append(f"{method} {100 * share:5.1f}{mark}")
    missed = "!" if abs(row["coverage"][row["chosen"]] - LEVEL) > MISSES else " "
    return f"{missed} {row['family']:<12} {row['title']:<27} n={row['size']:<5} {row['truth']:7.3f}  " + "  ".join(
        cells
    )


if __name__ == "__main__":
    sys.exit(run(main))
