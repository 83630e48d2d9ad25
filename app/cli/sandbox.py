"""`evergold doctor sandbox`, `evergold environments …`: what organisers' own programs need on a worker's machine."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from app.cli.server import PANEL, exec_program
from app.cli.settings import DataDirOption, use_settings
from evergold.cli.output import CommandError, JsonOption

commands = typer.Typer()
doctor = typer.Typer(help="Examine this machine.", no_args_is_help=True)
environments = typer.Typer(help="Environments of organisers' own programs, on this machine.", no_args_is_help=True)
commands.add_typer(doctor, name="doctor", rich_help_panel=PANEL)
commands.add_typer(environments, name="environments", rich_help_panel=PANEL)


@doctor.callback()
def examine() -> None:
    """Examine this machine."""


@doctor.command()
def sandbox(data_dir: DataDirOption = None, as_json: JsonOption = False) -> None:
    """Try the sandbox of organisers' own programs; 1: none can run here, and the output has what to install or set."""
    _run(data_dir, "doctor", as_json=as_json)


@environments.command()
def build(
    requirements: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="A requirements file; default: the environment of programs that have none."),
    ] = None,
    python: Annotated[str, typer.Option(metavar="VERSION", help="Such as 3.7; default: the Python below /usr.")] = "",
    renew: Annotated[bool, typer.Option("--renew", help="Resolve the versions again; scores keep theirs.")] = False,
    data_dir: DataDirOption = None,
    as_json: JsonOption = False,
) -> None:
    """Build an environment. Packages may run code of theirs: only for organisers whom you trust with that."""
    if requirements is not None and not requirements.is_file():
        raise CommandError(f"There is no file {requirements}.")
    options = ["--requirements", str(requirements)] if requirements is not None else []
    options += ["--python", python] if python else []
    options += ["--renew"] if renew else []
    _run(data_dir, "build", *options, as_json=as_json)


@environments.command("list")
def list_(data_dir: DataDirOption = None, as_json: JsonOption = False) -> None:
    """List the environments that are built here, with their packages."""
    _run(data_dir, "list", as_json=as_json)


def _run(data_dir: Path | None, *arguments: str, as_json: bool) -> None:
    from app.server.programs import sandbox_command

    use_settings(data_dir)
    exec_program(sandbox_command([*arguments, *(["--json"] if as_json else [])]))
