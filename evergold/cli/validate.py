"""`evergold validate`: validate a file locally, or on the server without submitting it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from evergold.cli.connection import ServerOption, chosen, connected, parse_place
from evergold.cli.output import SUBMITTING, Code, CommandError, JsonOption, print_json, print_problems, remark, say
from evergold.cli.submissions import PredictionArgument, upload_progress

if TYPE_CHECKING:
    from evergold.client.results import Json

commands = typer.Typer()
OptionOption = Annotated[
    list[str] | None,
    typer.Option(
        "--option",
        metavar="NAME=VALUE",
        help="Option of the task as in the competition, JSON or plain text; may be repeated.",
    ),
]

#: The task type whose options alone say what a file must be.
PROGRAM = "program"
_CODES = {"valid": Code.OK, "invalid": Code.REJECTED, "failed": Code.FAILED}


@commands.command(rich_help_panel=SUBMITTING)
def validate(
    file: PredictionArgument,
    task: Annotated[str, typer.Option(metavar="TYPE", help="Locally: the task type, e.g. idiom-detection.")] = "",
    items: Annotated[
        Path | None, typer.Option(metavar="FILE", exists=True, help="Locally: the blind file of the phase.")
    ] = None,
    option: OptionOption = None,
    to: Annotated[
        str,
        typer.Option("--to", metavar="COMPETITION/PHASE/TASK", help="Validate on the server; nothing is submitted."),
    ] = "",
    server: ServerOption = None,
    as_json: JsonOption = False,
) -> None:
    """Validate a file locally, exactly as the server would, without network or gold; or on the server.

    With --task and --items locally (type program needs no items); with --to on the server, which uses no quota.
    """
    if to:
        if task or items or option:
            raise CommandError(
                ("Pass either --to (on the server), or --task, --items and --option (locally)."), Code.USAGE
            )
        _on_the_server(file, to, server, as_json)
        return
    if not task or (items is None and task != PROGRAM):
        raise CommandError("Pass --task and --items (locally), or --to (on the server).", Code.USAGE)
    _at_home(file, task, items or file, task_options(option), as_json)


# ------------------------------------------------------------------------------------------------------- on the server


def _on_the_server(file: Path, to: str, server: str | None, as_json: bool) -> None:
    place = parse_place(to, "TASK")
    address, token = chosen(server)
    if not token:
        raise CommandError(f"You are not logged in to {address}: `evergold login`.", name="not_authenticated")
    with connected(address, token) as client, upload_progress(file) as on_sent:
        validation = client.validate(
            file,
            place,
            on_sent=on_sent,
            on_retry=lambda reason: remark(f"The upload did not arrive ({reason}); trying again."),
        )
    _show(validation.document, as_json)
    raise typer.Exit(_CODES[validation.status])


def _show(validation: Json, as_json: bool) -> None:
    if as_json:
        print_json(validation)
        return
    say(str(validation["message"]))
    if validation["problems"]:
        if validation["status"] == "valid":
            say("Warnings:")
        print_problems(validation["problems"], validation["problems_omitted"])


# ------------------------------------------------------------------------------------------------------------- at home


def _at_home(file: Path, task: str, items: Path, options: dict[str, Any], as_json: bool) -> None:
    from evergold import scoring
    from evergold.scoring.excerpts import with_excerpts

    try:
        warnings = scoring.validate(task, items, file, options)
    except scoring.InvalidPrediction as error:
        explained = with_excerpts(error, file)
        _show_problems(explained.problems, explained.omitted, as_json)
        raise typer.Exit(Code.REJECTED) from None
    except (scoring.ScoringError, OSError) as error:
        raise CommandError(str(error)) from None
    if as_json:
        print_json({"valid": True, "problems": [], "warnings": [warning.as_dict() for warning in warnings]})
        return
    for warning in warnings:
        remark(f"Warning: {warning}")
    say("The file can be scored.")


def _show_problems(problems: tuple[Any, ...], omitted: int, as_json: bool) -> None:
    documents = [problem.as_dict() for problem in problems]
    if as_json:
        print_json({"valid": False, "problems": documents, "problems_omitted": omitted, "warnings": []})
    else:
        print_problems(documents, omitted)


def task_options(pairs: list[str] | None) -> dict[str, Any]:
    """Parse `--option NAME=VALUE`, each value as JSON or plain text."""
    options: dict[str, Any] = {}
    for pair in pairs or []:
        name, sign, text = pair.partition("=")
        if not sign:
            raise CommandError(f"--option {pair} is not NAME=VALUE.", Code.USAGE)
        if name in options:
            raise CommandError(f"--option {pair}: {name} is given twice.", Code.USAGE)
        try:
            options[name] = json.loads(text)
        except ValueError:
            options[name] = text
    return options
