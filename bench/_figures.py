"""The published figures: the claim of each, in plain words, and its computation from the results."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from bench._benches import BENCHES

#: From the figures of one benchmark, as it prints them with `--json`, to a cell.
Written = Callable[[Any], str]


@dataclass(frozen=True, slots=True)
class Figure:
    """claim: one self-contained line; is_in_front: whether the README shows it."""

    claim: str
    bench: str
    write: Written
    is_in_front: bool = False


def times(number: float) -> str:
    """Format a ratio."""
    return f"{number:.0f} ×" if number >= 10 else f"{number:.1f} ×"


def board(found: Any, database: str, count: int, submissions: int, processes: int = 1) -> dict[str, Any]:
    """Return the measurements of a board's page."""
    wanted = {"database": database, "rows": count, "submissions": submissions, "processes": processes, "form": "page"}
    return next(row for row in found if wanted.items() <= row.items())


FIGURES = (
    Figure(
        "From the start of an upload until it is scored, on the server that `make run` starts: median / 95 of 100",
        "server",
        lambda found: f"{found['upload_to_scored_p50_ms']:.0f} / {found['upload_to_scored_p95_ms']:.0f} ms",
        is_in_front=True,
    ),
    Figure(
        "Reading, checking and scoring a PARSEME submission of three languages, against a plain program of the "
        "official evaluator's steps",
        "mwe",
        lambda found: f"{times(found['scoring']['all']['ratio_warm'])} faster",
        is_in_front=True,
    ),
    Figure(
        "Reading, checking and scoring a file for idiom detection, against scikit-learn's sums without any check",
        "scoring",
        lambda found: f"{times(found[0]['ratio'])} faster",
        is_in_front=True,
    ),
    Figure(
        "Requests a second for a public board of 50 rows, one web process: kept in memory / made each time",
        "boards",
        lambda found: "{kept/s:,} / {made/s:.0f}".format(**board(found, "sqlite", 50, 100)),
        is_in_front=True,
    ),
    Figure(
        "Uploads of 100 teams in the last five seconds before a deadline that were accepted, of those sent in time",
        "rush",
        lambda found: f"{found['of these accepted']} of {found['left before the end']}",
        is_in_front=True,
    ),
    Figure(
        "Submissions lost, doubled or scored otherwise while workers, web, broker and database are killed",
        "chaos",
        lambda found: f"{found['wrong']} of {found['submissions']}, after {found['mishaps']} mishaps",
        is_in_front=True,
    ),
    Figure(
        "The same PARSEME submission with the gold read from disk each time",
        "mwe",
        lambda found: f"{times(found['scoring']['all']['ratio_cold'])} faster",
    ),
    Figure(
        "Reading, checking and scoring a file for idiom similarity, against scipy's sums without any check",
        "scoring",
        lambda found: f"{times(found[1]['ratio'])} faster",
    ),
    Figure(
        "Parsing CUPT predictions (aim: 40 MB/s)", "mwe", lambda found: f"{found['parsing']['same_columns']:.0f} MB/s"
    ),
    Figure(
        "Peak memory of reading and scoring a zip of 17 languages, against its largest file (aim: 4 ×)",
        "mwe",
        lambda found: times(found["memory"]["zip_over_largest"]),
    ),
    Figure(
        "Splitting a corpus of 280,000 tokens by unseen MWEs, 100 random splits, against a plain loop with sets; "
        "all of it, reading included (aim: 20 s)",
        "split",
        lambda found: f"{times(found['ratio'])} faster; {found['seconds']['whole']:.1f} s",
    ),
    Figure(
        "Intervals and all 1,225 comparisons of a board of 50 systems, 3,000 items, 10,000 resamples, against a loop "
        "over the scorer; processor time",
        "statistics",
        lambda found: f"{times(found['ratio'])} faster; {found['intervals_seconds'] + found['pairs_seconds']:.1f} s",
    ),
    Figure(
        "Masked BERTScore with the gold's vectors in the cache, against a warm `BERTScorer`; processor time",
        "bertscore",
        lambda found: f"{times(found['rows'][2]['processor_ratio'])} faster",
    ),
    Figure(
        "Points that a team gains by 500 submissions of random labels, 1,000 items: on a board with every digit / on a "
        "Ladder of step 0.01",
        "hill_climbing",
        lambda found: " / ".join(
            f"{100 * row['gain']:.1f}"
            for name in ("every digit", "Ladder, step 0.01")
            for row in found
            if row["submissions"] == 500 and row["board"] == name
        ),
    ),
    Figure(
        "A board of 50 rows from memory, against made each time: with 100 / with 100,000 submissions in the database",
        "boards",
        lambda found: " / ".join(times(board(found, "sqlite", 50, n)["kept : made"]) for n in (100, 100_000)),
    ),
    Figure(
        "A board of 5,000 rows from memory, against made each time",
        "boards",
        lambda found: times(board(found, "sqlite", 5000, 5000)["kept : made"]),
    ),
    Figure(
        "Requests a second for a public board of 50 rows from memory, two web processes beside PostgreSQL (aim: 1,000)",
        "boards",
        lambda found: f"{board(found, 'postgresql', 50, 100, 2)['kept/s']:,}",
    ),
    Figure(
        "Processor time of a board made anew, as a page on SQLite: 50 rows / 5,000 rows (aims: 30 / 300 ms)",
        "boards",
        lambda found: " / ".join(
            f"{board(found, 'sqlite', *size)['made, ms of the web']:.0f} ms" for size in ((50, 100), (5000, 5000))
        ),
    ),
    Figure(
        "Waiting until an upload is accepted in that last rush before a deadline: 99 of 100 / against one alone",
        "rush",
        lambda found: f"{found['accepting p99, seconds']} s / {times(found['accepting p99, rush / alone'])}",
    ),
    Figure(
        "While everything is killed, against a calm run: until all are scored / until an upload is accepted, median",
        "chaos",
        lambda found: f"{times(found['all scored, chaos / calm'])} / {times(found['accepting p50, chaos / calm'])}",
    ),
    Figure(
        "Submissions scored a second by two worker processes: idiom detection / one PARSEME language (aim: 40)",
        "throughput",
        lambda found: " / ".join(f"{row['scored/s']:.0f}" for row in found if row["processes"] == 2),
    ),
    Figure(
        "Processor time of a run beyond reading and scoring: idiom detection / one PARSEME language (aim: 12 ms)",
        "throughput",
        lambda found: " / ".join(f"{row['overhead, ms']:.0f}" for row in found if row["processes"] == 1) + " ms",
    ),
    Figure(
        "Scrolling a board of 200 rows and 40 columns in a browser, against 10 and 5: median time between frames",
        "wide_board",
        lambda found: times(wide_over_small(found, "desktop", "frame ms")),
    ),
    Figure(
        "A board of 50 rows and 40 columns, compressed (aim: 150 KiB)",
        "wide_board",
        lambda found: f"{found['server']['50 x 40']['compressed KiB']:.0f} KiB",
    ),
    Figure(
        "Memory (RSS): web process after its start / after every page / sweep",
        "memory",
        lambda found: (
            " / ".join(f"{found[name]['rss_mib']:.0f}" for name in ("web_start", "web_administrator", "sweep")) + " MiB"
        ),
    ),
    Figure(
        "Intervals at 95 % that hold the truth, over all kinds of scores, 300 items",
        "coverage",
        lambda found: f"{100 * sum(row['coverage'][row['chosen']] for row in found) / len(found):.1f} %",
    ),
)


def wide_over_small(found: dict[str, Any], device: str, name: str) -> float:
    """Return how many times more the wide board needs."""
    wide, small = found[device].values()
    return float(wide[name] / small[name])


def cells(results: dict[str, Any], *, only_front: bool = False) -> Iterator[tuple[str, str, str]]:
    """Return the claim, the value and the command of each figure."""
    commands = {bench.name: bench.command for bench in BENCHES}
    for figure in FIGURES:
        if figure.is_in_front or not only_front:
            yield figure.claim, value_of(figure, results), commands[figure.bench]


def value_of(figure: Figure, results: dict[str, Any]) -> str:
    """Format the value, or state that there is none."""
    found = results["benches"].get(figure.bench, {})
    if "figures" not in found:
        return "not measured"
    try:
        return figure.write(found["figures"])
    except (KeyError, StopIteration):  # a database or a browser was not there
        return "not measured"


def plain_table(results: dict[str, Any]) -> str:
    """Format all figures for a terminal."""
    return "\n".join(f"{value:>22}  {claim}" for claim, value, _ in cells(results))
