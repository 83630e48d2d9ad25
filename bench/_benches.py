"""The benchmarks of `make bench`, with their order, sizes and seeds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

#: What a benchmark measured, by the benchmark's name; without those that were not measured.
Figures = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Bench:
    """A module of this folder.

    arguments: its sizes in `make bench`, if its defaults would take too long; seed: of its generated data,
    None if nothing is random.
    """

    name: str
    seed: int | None
    arguments: tuple[str, ...] = ()

    @property
    def command(self) -> str:
        """Return the command that measures these figures."""
        return " ".join(("python -m", f"bench.{self.name}", *self.arguments))


#: Short ones first, then those that the README quotes: on a busy machine time may run out.
BENCHES = (
    Bench("scoring", 1),
    Bench("mwe", 0),
    Bench("hill_climbing", 0),
    Bench("split", 1),
    Bench("coverage", 20260101, ("--sets", "20", "--sizes", "300")),
    Bench("pairs", 7, ("--sets", "20", "--boards", "5")),
    Bench("server", 1),
    Bench("rush", 6),
    Bench("boards", None, ("--seconds", "1")),
    Bench("chaos", 1, ("--seed", "1")),
    Bench("statistics", 1),
    Bench("bertscore", 1),
    Bench("throughput", 1, ("--submissions", "150", "--processes", "1", "2")),
    Bench("wide_board", None, ("--turns", "2")),
    Bench("memory", None),
    Bench("sandbox", None),
)
