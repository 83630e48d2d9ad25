"""`evergold doctor sandbox`, `evergold environments …`: what organisers' own programs need on a worker's machine."""

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
    """Try the sandbox of organisers' own programs; 1: none can run here, and the output has what to install or set."""
    _run(data_dir, "doctor", as_json=as_json)


@environments.command()
def build(
    packages: Annotated[
        list[str] | None,
        typer.Argument(metavar="PACKAGE", help="Such as numpy==1.26.4; default: what programs have that declare none."),
    ] = None,
    requirements: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="A requirements file instead of packages."),
    ] = None,
    no_packages: Annotated[bool, typer.Option("--no-packages", help="A Python without packages.")] = False,
    python: Annotated[str, typer.Option(metavar="VERSION", help="Such as 3.7; default: the Python below /usr.")] = "",
    renew: Annotated[bool, typer.Option("--renew", help="Resolve the versions again; scores keep theirs.")] = False,
    data_dir: DataDirOption = None,
    as_json: JsonOption = False,
) -> None:
    """Build an environment. Packages may run code of theirs: only for organisers whom you trust with that."""
    if bool(packages) + (requirements is not None) + no_packages > 1:
        raise CommandError("Name packages, or --requirements, or --no-packages.", Code.USAGE)
    if requirements is not None and not requirements.is_file():
        raise CommandError(f"There is no file {requirements}.")
    options = ["--requirements", str(requirements)] if requirements is not None else []
    options += ["--no-packages"] if no_packages else []
    options += ["--python", python] if python else []
    options += ["--renew"] if renew else []
    _run(data_dir, "build", *options, *(["--", *packages] if packages else []), as_json=as_json)


@environments.command("list")
def list_(data_dir: DataDirOption = None, as_json: JsonOption = False) -> None:
    """List the environments that are built here, with their packages."""
    _run(data_dir, "list", as_json=as_json)


def _run(data_dir: Path | None, *arguments: str, as_json: bool) -> None:
    from app.server.programs import sandbox_command

    use_settings(data_dir)
    exec_program(sandbox_command([arguments[0], *(["--json"] if as_json else []), *arguments[1:]]))
