"""`evergold doctor sandbox`, `evergold environments …`: what organisers' programs need on a worker's machine."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from app.cli.server import exec_program
from app.cli.settings import DataDirOption, use_settings
from evergold.cli.output import RUNNING, Code, CommandError, JsonOption

commands = typer.Typer()
doctor = typer.Typer(help="Examine this machine.", no_args_is_help=True)
environments = typer.Typer(help="Environments of organisers' own programs, on this machine.", no_args_is_help=True)
commands.add_typer(doctor, name="doctor", rich_help_panel=RUNNING)
commands.add_typer(environments, name="environments", rich_help_panel=RUNNING)


@doctor.callback()
def examine() -> None:
    """Examine this machine."""


@doctor.command()
def sandbox(data_dir: DataDirOption = None, as_json: JsonOption = False) -> None:
    """Test the sandbox of organisers' own programs; exit code 1 if none can run here, with what to install or set."""
    _run(data_dir, "doctor", as_json=as_json)


@environments.command()
def wanted(
    competitions: Annotated[
        list[str] | None,
        typer.Argument(metavar="[COMPETITION]...", show_default=False, help="Default: all competitions."),
    ] = None,
    data_dir: DataDirOption = None,
    as_json: JsonOption = False,
) -> None:
    """List the environments that programs of competitions need, and whether each is, or may be, built here."""
    _run(data_dir, "wanted", *(competitions or ()), as_json=as_json)


@environments.command()
def build(
    competitions: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[COMPETITION]...",
            show_default=False,
            help="Build all environments that these competitions declare.",
        ),
    ] = None,
    every: Annotated[
        bool, typer.Option("--all", help="Build the environments of all competitions, and the default one.")
    ] = False,
    given: Annotated[
        str,
        typer.Option(
            "--from",
            metavar="FILE",
            help="Build the environments in the output of `environments wanted --json`; -: from stdin.",
        ),
    ] = "",
    requirements: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="A requirements file; default: that of the default environment."),
    ] = None,
    python: Annotated[
        str, typer.Option(metavar="VERSION", help="Python version, such as 3.7; default: the Python in /usr.")
    ] = "",
    renew: Annotated[
        bool, typer.Option("--renew", help="Resolve the package versions again; existing scores do not change.")
    ] = False,
    data_dir: DataDirOption = None,
    as_json: JsonOption = False,
) -> None:
    """Build environments. Packages may run code of theirs: only for organisers whom you trust with that."""
    several = bool(competitions) or every or bool(given)
    if sum((bool(competitions), every, bool(given), requirements is not None)) > 1 or (python and several):
        raise CommandError("Name competitions, --all, --from, or a requirements file (with --python).", Code.USAGE)
    if requirements is not None and not requirements.is_file():
        raise CommandError(f"There is no file {requirements}.")
    options = ["--requirements", str(requirements)] if requirements is not None else []
    options += ["--python", python] if python else []
    options += ["--renew"] if renew else []
    options += ["--all"] if every else []
    options += [f"--from={given}"] if given else []
    _run(data_dir, "build", *options, *(competitions or ()), as_json=as_json)


@environments.command("list")
def list_(data_dir: DataDirOption = None, as_json: JsonOption = False) -> None:
    """List the environments that are built here, with their packages."""
    _run(data_dir, "list", as_json=as_json)


def _run(data_dir: Path | None, *arguments: str, as_json: bool) -> None:
    from app.server.programs import sandbox_command

    use_settings(data_dir)
    exec_program(sandbox_command([*arguments, *(["--json"] if as_json else [])]))
