"""A long chaos test: N submissions of 20 clients, calm and then while everything is killed; are the results equal?

Real PostgreSQL, Valkey, web, sweep and two workers on loopback. Exits with 1, and the seed, if anything was lost,
duplicated, or different. Times are ratios to the calm run on the same machine. `make chaos N=10000`.
"""

from __future__ import annotations

import json
import random
import statistics
import sys
from collections.abc import Sequence

from bench._command import BenchParser, run
from tests.chaos.place import a_place
from tests.chaos.storm import CALM, CHAOS, CLIENTS, Outcome, program, register, run_phase
from tests.chaos.verdict import wrongs

DATABASES = ("postgresql", "sqlite")
SMOKE = {"submissions": CLIENTS, "database": DATABASES[1], "workers": 1, "mishaps": 1}


def main(argv: Sequence[str] | None = None) -> int:
    """Run both; print events and results."""
    parser = BenchParser(__doc__, smoke=SMOKE)
    parser.add_argument("--submissions", type=int, default=300, metavar="N")
    parser.add_argument("--database", choices=DATABASES, default=DATABASES[0])
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--mishaps", type=int, help="at most so many (default: the more, the more submissions)")
    parser.add_argument(
        "--seed", type=int, default=random.randrange(10**6), help="of an earlier storm, to have it again"
    )
    arguments = parser.parse(argv)
    seed, count = arguments.seed, arguments.submissions
    print(f"seed {seed}", file=sys.stderr, flush=True)
    with a_place(on_sqlite=arguments.database == "sqlite") as place:
        clients = register(place, seed, count)
        for _ in range(arguments.workers):
            place.start_worker()
        calm = run_phase(place, clients, CALM, [])
        planned = [kind for kind in program(seed, count) if place.database or not kind.startswith("database")]
        chaos = run_phase(place, clients, CHAOS, planned[: arguments.mishaps])
        wrong = wrongs(calm, chaos, count)
        if wrong:
            print("\n".join([f"seed {seed}", *wrong, place.logs()]), file=sys.stderr)
    figures = {"seed": seed, "submissions": count, "clients": CLIENTS, "workers": arguments.workers}
    figures |= {**compared(calm, chaos), "wrong": len(wrong)}
    if arguments.json:
        print(json.dumps(figures, indent=1))
    else:
        for name, value in figures.items():
            print(f"{name:32} {value}")
    return 1 if wrong else 0


def compared(calm: Outcome, chaos: Outcome) -> dict[str, object]:
    """Return the faults that occurred, and how many times longer everything took."""
    return {
        "mishaps": sum(chaos.mishaps.values()),
        **{f"  {kind}": number for kind, number in sorted(chaos.mishaps.items())},
        "kills that hit a run": chaos.kills_at_work,
        "runs scored in a later attempt": chaos.later_attempts,
        "uploads tried again by clients": chaos.tried_again,
        "all scored, chaos / calm": ratio(chaos.seconds, calm.seconds),
        "accepting p50, chaos / calm": ratio(
            statistics.median(chaos.accept_seconds), statistics.median(calm.accept_seconds)
        ),
        "accepting p99, chaos / calm": ratio(p99(chaos.accept_seconds), p99(calm.accept_seconds)),
    }


def p99(seconds: list[float]) -> float:
    """Return the 99th percentile, by rank."""
    return sorted(seconds)[int(0.99 * (len(seconds) - 1))]


def ratio(one: float, other: float) -> float:
    """Return the rounded ratio."""
    return round(one / other, 2)


if __name__ == "__main__":
    sys.exit(run(main))
