"""Entry point of the command line `evergold …`, with the shared error handling and exit codes.

Commands are in the modules of this package. If the server is installed, its commands (`evergold serve`, `apply`, `gold
…`) join by an entry point.

Quick by rule: a command's imports run with it, so that `--help` and the commands for teams load neither database nor
scoring code.
"""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Callable, Sequence
from typing import Annotated, Any

import typer

from evergold.cli.output import EXPLAINED, Code, CommandError, complain, print_json, remark, say
from evergold.cli.parts import INSTALL_SERVER, Commands, joined, server_command
from evergold.version import VERSION

EXIT_CODES = """Exit codes: 0 scored, or done; 1 an error; 2 rejected: the file is wrong;
3 refused: a limit, or a phase that is not open; 4 failed: the server's fault; 5 the server cannot be reached;
6 the gold or the items are wrong; 64 wrong usage."""

_top = typer.Typer(
    cls=Commands, no_args_is_help=True, pretty_exceptions_enable=False, epilog=EXIT_CODES, add_completion=True
)


def _show_version(wanted: bool) -> None:
    if wanted:
        say(f"evergold {VERSION}")
        raise typer.Exit


@_top.callback()
def top(
    show_version: Annotated[
        bool, typer.Option("--version", help="Print the version.", callback=_show_version, is_eager=True)
    ] = False,
) -> None:
    """Submit to shared tasks, validate files offline, read leaderboards, and run your own."""


#: The application that runs a command line.
cli: Callable[..., Any] = typer.main.get_command(_top)


def main() -> None:
    """Run the command `evergold`."""
    gc.set_threshold(20_000, 20, 50)  # imported objects stay; scanning them as often as by default takes a tenth longer
    sys.exit(run(sys.argv[1:]))


def run(arguments: Sequence[str]) -> int:
    """Run a command line and return its exit code."""
    try:
        result = cli(args=list(arguments) or ["--help"], prog_name="evergold", standalone_mode=False)
    except CommandError as error:
        return _print_error(error, as_json=_wants_json(arguments))
    except typer.TyperException as error:
        return _print_usage(error, arguments)
    except ModuleNotFoundError as error:
        return _print_missing(error, arguments)
    except (typer.Abort, KeyboardInterrupt):
        return Code.INTERRUPTED
    except BrokenPipeError:  # `evergold … | head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return Code.ERROR
    except Exception as error:
        explained = next((known for explain in EXPLAINED if (known := explain(error))), None)
        if explained is None:
            raise
        return _print_error(explained, as_json=_wants_json(arguments))
    return result if isinstance(result, int) else Code.OK


def _print_error(error: CommandError, as_json: bool) -> int:
    if as_json:
        print_json(error.document)
    else:
        complain(error.message)
        for line in error.lines:
            remark(line)
    return error.code


def _wants_json(arguments: Sequence[str]) -> bool:
    """Return whether the arguments have `--json`, or `--format json` of `score`."""
    pairs = zip(arguments, arguments[1:], strict=False)
    return "--json" in arguments or "--format=json" in arguments or ("--format", "json") in pairs


def _print_missing(error: ModuleNotFoundError, arguments: Sequence[str]) -> int:
    """Report that the server lacks optional parts needed by its command, and return the exit code; any other missing
    module is a bug and re-raised.
    """
    package = (error.name or "").partition(".")[0]
    if package in ("", "app", "evergold", "workers") or not server_command(arguments):
        raise error
    message = f"{package} is not installed here, which `evergold {server_command(arguments)}` needs: {INSTALL_SERVER}"
    return _print_error(CommandError(message, Code.USAGE, name="not_installed"), as_json=_wants_json(arguments))


def _print_usage(fault: typer.TyperException, arguments: Sequence[str]) -> int:
    message = fault.format_message()
    if not joined() and (name := server_command(arguments)):
        message = f"`evergold {name}` needs the server's package, which is not installed here: {INSTALL_SERVER}"
        return _print_error(CommandError(message, Code.USAGE, name="not_installed"), as_json=_wants_json(arguments))
    if not message:  # a group named alone: its help was printed
        return Code.OK
    error = CommandError(f"{message} (See `evergold --help`.)", Code.USAGE, name="usage")
    return _print_error(error, as_json=_wants_json(arguments))
