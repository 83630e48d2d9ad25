"""`evergold …`: the command line's entry. Commands live in the modules beside this; here is what they share: errors and
exit codes. Where the server is installed, its commands (`evergold serve`, `apply`, `gold …`) join by an entry point.

Quick by rule: what a command needs is imported when it runs, so that `--help` and the commands for teams load neither
database nor scoring code.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from importlib.metadata import entry_points
from typing import Annotated

import typer

from evergold.cli import (
    account,
    announce,
    cards,
    choices,
    exports,
    judging,
    look,
    questions,
    rescore,
    submissions,
    team,
    validate,
)
from evergold.cli.output import Code, CommandError, complain, print_json, say
from evergold.version import VERSION

#: Whoever installs a distribution with an entry point of this group adds its commands: a Typer application each.
COMMANDS_GROUP = "evergold.commands"
EXIT_CODES = """Exit codes: 0 scored, or whatever was asked for; 1 an error; 2 rejected: the file is wrong;
3 refused: a limit, or a phase that is not open; 4 failed: the server's fault; 5 the server cannot be reached;
64 wrong usage."""

cli = typer.Typer(no_args_is_help=True, pretty_exceptions_enable=False, epilog=EXIT_CODES, add_completion=True)
for part in (
    account,
    submissions,
    validate,
    look,
    choices,
    team,
    cards,
    exports,
    judging,
    announce,
    questions,
    rescore,
):
    cli.add_typer(part.commands)
for entry_point in entry_points(group=COMMANDS_GROUP):
    cli.add_typer(entry_point.load())


def _show_version(wanted: bool) -> None:
    if wanted:
        say(f"evergold {VERSION}")
        raise typer.Exit


@cli.callback()
def top(
    show_version: Annotated[
        bool, typer.Option("--version", help="Print the version.", callback=_show_version, is_eager=True)
    ] = False,
) -> None:
    """Scores predictions for shared tasks whose gold stays hidden, and keeps their leaderboards open."""


def main() -> None:
    """The command `evergold`."""
    sys.exit(run(sys.argv[1:]))


def run(arguments: Sequence[str]) -> int:
    """Carry out a command line; the exit code."""
    try:
        result = cli(args=list(arguments), prog_name="evergold", standalone_mode=False)
    except CommandError as error:
        return _tell(error, as_json="--json" in arguments)
    except typer.TyperException as error:
        return _tell_usage(error)
    except (typer.Abort, KeyboardInterrupt):
        return Code.INTERRUPTED
    except BrokenPipeError:  # `evergold … | head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return Code.ERROR
    return result if isinstance(result, int) else Code.OK


def _tell(error: CommandError, as_json: bool) -> int:
    if as_json:
        print_json(error.document)
    else:
        complain(error.message)
    return error.code


def _tell_usage(error: typer.TyperException) -> int:
    message = error.format_message()
    if not message:  # a command that has parts, named alone: its help was printed
        return Code.OK
    complain(f"{message} (See `evergold --help`.)")
    return Code.USAGE
