"""`evergold score`: the server's numbers computed locally; `python -m evergold.scoring` is this command."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from evergold.cli.offline_options import ItemsOption, TrainOption, load_task
from evergold.cli.output import LOCAL, Code, CommandError, invalid_file, print_json, remark, say
from evergold.cli.score_program import AtHome, score_program
from evergold.cli.submissions import show_scores
from evergold.cli.validate import PROGRAM, OptionOption, task_options

if TYPE_CHECKING:
    from evergold.client.results import Json
    from evergold.scoring import Problem, ScoringError
    from evergold.scoring.halves import Division
    from evergold.scoring.resampling.intervals import Interval
    from evergold.scoring.task import AnyTask, Options, Score

commands = typer.Typer()
TABLE, JSON = "table", "json"
CompetitionOption = Annotated[
    Path | None,
    typer.Option(metavar="FOLDER", exists=True, help="For type program: the folder with competition.yaml."),
]


@dataclass(frozen=True)
class Files:
    """The files of a scoring: gold, prediction, items and training data."""

    gold: Path
    prediction: Path
    items: Path | None
    train: tuple[Path, ...]


@commands.command(rich_help_panel=LOCAL)
def score(
    task: Annotated[str, typer.Argument(metavar="TASK", help="The task type; `evergold tasks` lists them.")],
    prediction: Annotated[
        Path, typer.Option(metavar="FILE", exists=True, help="The prediction as it would be uploaded, also zipped.")
    ],
    gold: Annotated[
        Path | None, typer.Option(metavar="PATH", exists=True, help="The gold: a file, or a folder of several.")
    ] = None,
    items: ItemsOption = None,
    train: TrainOption = None,
    option: OptionOption = None,
    competition: CompetitionOption = None,
    of_task: Annotated[
        str, typer.Option("--task", metavar="NAME", help="For type program: the task, if several have a program.")
    ] = "",
    phase: Annotated[str, typer.Option(metavar="NAME", help="For type program: use the options of this phase.")] = "",
    trust: Annotated[
        bool, typer.Option("--trust", help="For type program: run it without a sandbox, with all your rights.")
    ] = False,
    form: Annotated[
        str, typer.Option("--format", metavar="NAME", help="table, json, or a report that `evergold tasks TASK` lists.")
    ] = TABLE,
    with_intervals: Annotated[
        bool, typer.Option("--intervals", help="Also compute a 95 % interval for each score.")
    ] = False,
    private_share: Annotated[
        float | None,
        typer.Option(metavar="SHARE", help="Score both parts of divided items: the share that is private …"),
    ] = None,
    private_seed: Annotated[
        str | None, typer.Option(metavar="SEED", help="… and the seed that chooses them, as in `private_part`.")
    ] = None,
) -> None:
    """Score a prediction against gold locally: the same numbers as on the server, signatures included."""
    from evergold.scoring import ScoringError

    if task == PROGRAM:
        if competition is None:
            raise CommandError("Pass the competition: --competition FOLDER.", Code.USAGE)
        score_program(AtHome(competition, prediction, gold, of_task, phase, trust), as_json=form == JSON)
        return
    if gold is None:
        raise CommandError("Pass the gold: --gold PATH.", Code.USAGE)
    if competition is not None or trust:
        raise CommandError(f"--competition and --trust are only for `evergold score {PROGRAM}`.", Code.USAGE)
    files = Files(gold, prediction, items, tuple(train or ()))
    division = _division(private_share, private_seed, is_alone=form in (TABLE, JSON) and not with_intervals)
    try:
        if with_intervals:
            _print_with_intervals(load_task(task), files, task_options(option), form)
        else:
            _print_scored(load_task(task), files, task_options(option), form, division)
    except (ScoringError, OSError) as error:
        raise in_words(error, prediction) from None


def _division(share: float | None, seed: str | None, *, is_alone: bool) -> Division | None:
    from evergold.scoring.halves import SEED_CHARACTERS, Division

    if share is None and seed is None:
        return None
    if share is None or not seed or not 0 < share < 1 or len(seed) < SEED_CHARACTERS or not is_alone:
        message = (
            f"--private-share must be between 0 and 1, --private-seed must have at least {SEED_CHARACTERS} "
            "characters; give both"
        )
        raise CommandError(f"{message} together, and with the formats {TABLE} and {JSON}.", Code.USAGE)
    return Division(share, seed)


def _print_scored(
    task: AnyTask, files: Files, options: dict[str, Any], form: str, division: Division | None = None
) -> None:
    """Print the scores as a table or as JSON, or a report of the task."""
    from evergold.scoring.task import read_gold, read_options

    _check_format(task, form)
    chosen = read_options(task, options)
    gold = read_gold(task, files.gold, files.train, chosen)
    items = task.read_items(files.items, chosen) if files.items else task.items_of(gold, chosen)
    prediction = task.read_prediction(files.prediction, items, chosen)
    if form in task.text_reports:
        report = task.report(gold, prediction, chosen) if task.report else None
        say(task.text_reports[form](report, chosen))
        return
    if division is not None:
        _print_halves(task, gold, prediction, chosen, division, form)
        return
    _print_scores(task, task.score(gold, prediction, chosen), prediction.warnings, form)


def _print_halves(task: AnyTask, gold: Any, prediction: Any, options: Options, division: Division, form: str) -> None:
    """Print the scores of the public and the private part of the items: as JSON with a field for the part, or as two
    tables.
    """
    from evergold.scoring.halves import Half, half, signed

    found = {
        one: signed(task.score(*half(task, gold, prediction, division, one), options), division, one) for one in Half
    }
    if form == JSON:
        documents = [{"part": one.value} | asdict(score) for one, scores in found.items() for score in scores]
        _print_documents(task, documents, prediction.warnings, form)
        return
    for one, scores in found.items():
        say(f"{one.value.capitalize()} part")
        _print_scores(task, scores, prediction.warnings if one is Half.PUBLIC else (), form)


def _print_with_intervals(task: AnyTask, files: Files, options: dict[str, Any], form: str) -> None:
    """Print the scores with their intervals, as a table or as JSON."""
    from evergold.scoring.uncertainty import Reader

    if form not in (TABLE, JSON):
        raise CommandError(f"--intervals needs the format {TABLE} or {JSON}.", Code.USAGE)
    scored = Reader.of(task, files.gold, options, files.items, files.train).read(files.prediction)
    documents = [
        asdict(score) | interval_document(found) for score, found in zip(scored.scores, scored.intervals(), strict=True)
    ]
    _print_documents(task, documents, scored.warnings, form)


def interval_document(interval: Interval | str) -> dict[str, Any]:
    """Return the fields of JSON output with an interval, or with the reason why there is none."""
    if isinstance(interval, str):
        return {"interval": None, "interval_reason": interval}
    return {"interval": asdict(interval), "interval_reason": None}


def _print_scores(task: AnyTask, scores: Sequence[Score], warnings: Sequence[Problem], form: str) -> None:
    _print_documents(task, [asdict(score) for score in scores], warnings, form)


def _print_documents(task: AnyTask, documents: list[Json], warnings: Sequence[Problem], form: str) -> None:
    if form == JSON:
        noticed = [warning.as_dict() for warning in warnings]
        print_json({"task": task.name, "version": task.version, "scores": documents, "warnings": noticed})
        return
    for warning in warnings:
        remark(f"Warning: {warning}")
    show_scores(documents, precision=None)


def _check_format(task: AnyTask, form: str) -> None:
    known = (TABLE, JSON, *task.text_reports)
    if form not in known:
        raise CommandError(f"{task.name} has no format '{form}'; the formats are {', '.join(known)}.", Code.USAGE)


def in_words(error: ScoringError | OSError, prediction: Path) -> CommandError:
    """Convert an error to one of the command line, with every problem of the file.

    The exit code shows whether the prediction, the gold or items, or the usage is at fault.
    """
    from evergold.scoring import InvalidFile, InvalidItems, InvalidOptions, InvalidPrediction, UnknownTask
    from evergold.scoring.excerpts import with_excerpts

    if isinstance(error, InvalidPrediction):
        error = with_excerpts(error, prediction)
        return invalid_file(error, "The prediction is wrong", Code.REJECTED, "invalid_prediction")
    if isinstance(error, InvalidItems):
        return invalid_file(error, "The items are wrong", Code.GOLD, "invalid_items")
    if isinstance(error, InvalidFile):
        return invalid_file(error, "The gold is wrong", Code.GOLD, "invalid_gold")
    if isinstance(error, InvalidOptions):
        return CommandError(f"{error}.", Code.USAGE, name="invalid_options")
    if isinstance(error, UnknownTask):
        return CommandError(f"{error}.", Code.USAGE, name="unknown_task")
    if isinstance(error, OSError):
        message = f"{error.filename or 'A file'} cannot be opened: {error.strerror or error}."
        return CommandError(message, Code.USAGE, name="unreadable_file")
    return CommandError(f"{error}.", name="cannot_score")
