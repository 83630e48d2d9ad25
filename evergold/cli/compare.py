"""`evergold compare`: local comparison of two predictions with the same gold: difference and significance."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from evergold.cli.offline_options import GoldOption, ItemsOption, MetricOption, TrainOption
from evergold.cli.output import LOCAL, Code, CommandError, JsonOption, print_json, print_table, remark
from evergold.cli.score import in_words
from evergold.cli.validate import OptionOption, task_options
from evergold.split_titles import split_title

if TYPE_CHECKING:
    from evergold.scoring.resampling.pairs import Difference
    from evergold.scoring.uncertainty import Reader, Scored

commands = typer.Typer()
Name = tuple[str, str]
FEWEST_RESAMPLES = 100
_HEADINGS = ["Metric", "Split", "First", "Second", "Difference", "95 % interval", "p", "p (corrected)"]


@commands.command(rich_help_panel=LOCAL)
def compare(
    first: Annotated[Path, typer.Argument(metavar="FIRST", exists=True, help="A prediction, as it would be uploaded.")],
    second: Annotated[
        Path, typer.Argument(metavar="SECOND", exists=True, help="Another prediction for the same items.")
    ],
    task: Annotated[str, typer.Option(metavar="TYPE", help="The task type, e.g. idiom-detection.")],
    gold: GoldOption,
    items: ItemsOption = None,
    train: TrainOption = None,
    option: OptionOption = None,
    metric: MetricOption = None,
    resamples: Annotated[
        int, typer.Option(min=FEWEST_RESAMPLES, help="Number of permutations and resamples.")
    ] = 10_000,
    seed: Annotated[
        str, typer.Option(metavar="TEXT", help="The random seed; the gold's commitment reproduces a board's numbers.")
    ] = "",
    as_json: JsonOption = False,
) -> None:
    """Compare two predictions with the same gold: differences, their 95 % intervals, and p of a paired test.

    Intervals and p are for each score alone; the corrected p (Holm) is over all listed scores.
    The exit code is always 0, whichever prediction is better.
    """
    from evergold.scoring import ScoringError, get_task
    from evergold.scoring.uncertainty import Reader, gold_digest

    reading = first
    try:
        reader = Reader.of(get_task(task), gold, task_options(option), items, train or ())
        runs = [reader.read(reading)]
        reading = second
        runs.append(reader.read(reading))
        found = _differences(runs, metric or [], seed or gold_digest(gold), resamples)
    except (ScoringError, OSError) as error:
        raise in_words(error, reading) from None
    if as_json:
        print_json(_document(reader, [first, second], found))
    else:
        show_differences(found)


def _differences(runs: Sequence[Scored], metrics: Sequence[str], digest: str, resamples: int) -> dict[Name, Difference]:
    from evergold.scoring.resampling.swaps import NotComparable
    from evergold.scoring.uncertainty import differences

    try:
        found = differences(runs[0], runs[1], digest, named_scores(runs, metrics), resamples)
    except NotComparable as error:
        raise CommandError(f"The two cannot be compared: {error}.", name="not_comparable") from None
    if not found:
        raise CommandError("The two have no score in common.", name="nothing_to_compare")
    return found


def named_scores(runs: Sequence[Scored], metrics: Sequence[str]) -> Collection[Name] | None:
    """Return the scores that --metric selects: all of a metric, or one split of it, also as tables show it."""
    if not metrics:
        return None
    known = [(score.metric, score.split) for score in runs[0].scores]
    for metric in metrics:
        if not any(metric in _ways_to_name(score) for score in known):
            offered = ", ".join(dict.fromkeys(name for name, _ in known))
            raise CommandError(f"There is no score '{metric}'; the metrics are {offered}.", Code.USAGE)
    return {name for name in known if not _ways_to_name(name).isdisjoint(metrics)}


def _ways_to_name(score: Name) -> set[str]:
    metric, split = score
    return {metric, f"{metric} {split}", f"{metric} {split_title(split)}"}


def _document(reader: Reader, paths: Sequence[Path], found: dict[Name, Difference]) -> dict[str, Any]:
    return {
        "task": reader.task.name,
        "version": reader.task.version,
        "first": str(paths[0]),
        "second": str(paths[1]),
        "scores": [
            _score_document(name, difference, p)
            for (name, difference), p in zip(found.items(), _corrected(found), strict=True)
        ],
    }


def _corrected(found: dict[Name, Difference]) -> list[float]:
    """Return the corrected p of every score, corrected for all scores together."""
    from evergold.scoring.resampling.ranking import holm

    return holm([one.p for one in found.values()])


def _score_document(name: Name, difference: Difference, corrected: float) -> dict[str, Any]:
    fields = asdict(difference) | {"corrected": corrected}
    ends = {end: fields.pop(end) for end in ("low", "high", "level", "method")}
    interval = None if ends["low"] is None else ends
    return {"metric": name[0], "split": name[1], **fields, "interval": interval, "method": difference.method}


def show_differences(found: dict[Name, Difference]) -> None:
    """Print a row for each score, and below the table notes on the limits of its numbers."""
    from evergold.scoring.resampling.pairs import MOST_UNDEFINED

    rows = [
        (
            name[0],
            split_title(name[1]),
            f"{one.first:.6f}",
            f"{one.second:.6f}",
            f"{one.difference:+.6f}",
            _ends(one),
            p_text(one.p),
            p_text(p),
        )
        for (name, one), p in zip(found.items(), _corrected(found), strict=True)
    ]
    print_table(_HEADINGS, rows, numbers=_HEADINGS[2:])
    if len(found) > 1:
        remark("Intervals and p are for each score alone; the corrected p (Holm) is over all rows.")
    if undefined := max(one.undefined for one in found.values()):
        remark(f"In up to {undefined} resamples a score was undefined; intervals are computed from the others.")
    if any(one.low is None and one.undefined <= MOST_UNDEFINED * one.resamples for one in found.values()):
        remark(
            "A difference without an interval is the same in every resample, so these items do not show its "
            "uncertainty."
        )


def _ends(one: Difference) -> str:
    return "–" if one.low is None or one.high is None else f"{one.low:+.4f} to {one.high:+.4f}"


def p_text(p: float) -> str:
    """Format a p: `.032`, `< .001`, `1.000`."""
    return "< .001" if p < 0.001 else f"{p:.3f}".removeprefix("0")
