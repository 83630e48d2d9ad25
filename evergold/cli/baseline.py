"""`evergold baseline`: list a task type's baselines, or write the submission of one."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from evergold.cli.output import LOCAL, Code, CommandError, JsonOption, count, print_json, print_table, say
from evergold.cli.validate import OptionOption, task_options

commands = typer.Typer()


@commands.command(rich_help_panel=LOCAL)
def baseline(
    task: Annotated[str, typer.Argument(metavar="TASK", help="The task type, e.g. idiom-detection.")],
    name: Annotated[str, typer.Argument(metavar="[NAME]", help="The baseline to write; default: list all.")] = "",
    items: Annotated[
        Path | None, typer.Option(metavar="FILE", exists=True, help="The blind file of the phase, or a folder.")
    ] = None,
    training: Annotated[
        list[Path] | None,
        typer.Option(metavar="FILE", exists=True, help="Labelled data, for baselines that learn; may be repeated."),
    ] = None,
    into: Annotated[Path | None, typer.Option("--into", metavar="FILE", help="The submission to write.")] = None,
    option: OptionOption = None,
    as_json: JsonOption = False,
) -> None:
    """Write the submission of a very simple system from public data alone: a baseline to beat.

    Without a NAME the baselines of the task type are listed.
    """
    if not name:
        _show(task, as_json)
        return
    if items is None:
        raise CommandError("Give --items: the blind file, from the competition's data page.", Code.USAGE)
    from evergold.baselines.catalogue import find_baseline, write_baseline
    from evergold.scoring import InvalidFile, ScoringError

    try:
        found = find_baseline(task, name)
        path = into or Path(f"{name}{found.suffix}")
        if path.exists():
            raise CommandError(f"{path} exists already; nothing was written.")
        write_baseline(task, name, items, path, training or [], task_options(option))
    except InvalidFile as error:
        lines = [f"  {problem}" for problem in error.problems]
        raise CommandError("Nothing was written:", Code.GOLD, name="invalid_items", lines=lines) from None
    except (ScoringError, OSError) as error:
        raise CommandError(f"{error}.", Code.USAGE, name="no_baseline") from None
    if as_json:
        print_json({"task": task, "baseline": name, "file": str(path)})
    else:
        say(f"Wrote {path}, a valid submission. {found.summary}")


def _show(task: str, as_json: bool) -> None:
    from evergold.baselines.catalogue import BASELINES
    from evergold.scoring import UnknownTask, get_task

    try:
        known = BASELINES.get(get_task(task).name, ())
    except UnknownTask as error:
        raise CommandError(f"{error}.", Code.USAGE, name="unknown_task") from None
    if as_json:
        print_json(
            {
                "task": task,
                "baselines": [{"name": one.name, "summary": one.summary, "learns": one.learns} for one in known],
            }
        )
        return
    say(f"{task} has {count(len(known), 'baseline')}.")
    if known:
        rows = [(one.name, "yes" if one.learns else "", one.summary) for one in known]
        print_table(["Baseline", "Learns", "What it does"], rows)
