"""`evergold power`: the smallest difference that a test set can detect, before a competition."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from evergold.cli.compare import named_scores
from evergold.cli.offline_options import GoldOption, ItemsOption, MetricOption, TrainOption
from evergold.cli.output import LOCAL, CommandError, JsonOption, print_json, print_table, remark
from evergold.cli.score import in_words
from evergold.cli.validate import OptionOption, task_options
from evergold.split_titles import split_title

if TYPE_CHECKING:
    from evergold.scoring.resampling.power import Resolution
    from evergold.scoring.uncertainty import Reader, Scored

commands = typer.Typer()
Name = tuple[str, str]
_HEADINGS = ["Metric", "Split", "Units", "Score", "Smallest difference"]
#: The origin of the systems, for people and for JSON.
_SYSTEMS = {
    0: "two simulated systems that are right three times in four",
    1: "the given prediction, and an equally good system with independent errors",
}


@commands.command(rich_help_panel=LOCAL)
def power(
    task: Annotated[str, typer.Argument(metavar="TASK", help="The task type; `evergold tasks` lists them.")],
    gold: GoldOption,
    prediction: Annotated[
        list[Path] | None,
        typer.Option(metavar="FILE", exists=True, help="Prediction of a system such as you expect; may be repeated."),
    ] = None,
    items: ItemsOption = None,
    train: TrainOption = None,
    option: OptionOption = None,
    metric: MetricOption = None,
    share: Annotated[
        float, typer.Option("--power", min=0.5, max=0.99, help="How often the difference should be found (power).")
    ] = 0.8,
    as_json: JsonOption = False,
) -> None:
    """Show the smallest difference that this gold can detect, for every score, at 80 % power and p < .05.

    From predictions of baselines (best two or more), or else from two simulated systems.
    """
    from evergold.scoring import ScoringError, get_task
    from evergold.scoring.uncertainty import Reader

    reading = gold
    try:
        reader = Reader.of(get_task(task), gold, task_options(option), items, train or ())
        runs = []
        for reading in prediction or ():
            runs.append(reader.read(reading))
        runs = runs or _made_up(reader)
        found = _resolutions(runs, metric or [], share)
    except (ScoringError, OSError) as error:
        raise in_words(error, reading) from None
    systems = _SYSTEMS.get(len(prediction or ()), f"the {len(prediction or ())} predictions given")
    if as_json:
        print_json(_document(reader, systems, share, found))
        return
    rows = [
        (metric, split_title(split), str(one.size), f"{one.score:.4f}", f"{one.smallest:.4f}")
        for (metric, split), one in found.items()
    ]
    print_table(_HEADINGS, rows, numbers=_HEADINGS[2:])
    remark(f"Found {100 * share:.0f} times in 100, at p < .05, of two systems alone; from {systems}.")


def _made_up(reader: Reader) -> list[Scored]:
    from evergold.scoring.rehearsal import simulated

    predictions = [simulated(reader.task, reader.gold, reader.options, number) for number in (1, 2)]
    if None in predictions:
        message = f"{reader.task.name} has no simulated systems: give the --prediction of a baseline."
        raise CommandError(message, name="no_systems")
    return [reader.score(prediction) for prediction in predictions]


def _resolutions(runs: list[Scored], metrics: list[str], share: float) -> dict[Name, Resolution]:
    from evergold.scoring.resampling.power import resolutions

    wanted = named_scores(runs, metrics)
    found = resolutions([run.sample for run in runs], share)
    known = runs[0].metrics
    kept = {
        name: one for name, one in found.items()
        if known[name[0]].has_interval and (wanted is None or name in wanted)
    }  # fmt: skip
    if not kept:
        raise CommandError("The systems have no score in common.", name="nothing_to_compare")
    return kept


def _document(reader: Reader, systems: str, share: float, found: dict[Name, Resolution]) -> dict[str, Any]:
    scores = [
        {"metric": metric, "split": split, "units": one.size, "score": one.score, "smallest_difference": one.smallest}
        for (metric, split), one in found.items()
    ]
    return {"task": reader.task.name, "version": reader.task.version, "power": share, "systems": systems,
            "scores": scores}  # fmt: skip
