"""`evergold check-host`: tests which of the separations promised in docs/running.md hold on this machine."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from app.cli.settings import DataDirOption, gold_folder, read_variables, use_settings
from evergold.cli.output import RUNNING, Code, CommandError, JsonOption, print_json, print_table, say

if TYPE_CHECKING:
    from app.operations.host_check import Places, Users

commands = typer.Typer()


@commands.command("check-host", rich_help_panel=RUNNING)
def check_host(
    web_user: Annotated[str, typer.Option(help="User of the web process: a name or a number.")] = "evergold-web",
    worker_user: Annotated[str, typer.Option(help="User of the workers.")] = "evergold-worker",
    sweep_user: Annotated[str, typer.Option(help="User of the sweep.")] = "evergold-sweep",
    other_user: Annotated[str, typer.Option(help="A user unrelated to this server.")] = "nobody",
    environment: Annotated[
        list[Path] | None,
        typer.Option(help="A file of settings as systemd reads it; may be repeated.", exists=True, dir_okay=False),
    ] = None,
    data_dir: DataDirOption = None,
    as_json: JsonOption = False,
) -> None:
    """Test which separations between web, workers, sweep and others hold on this machine; run it as root."""
    for file in environment or []:
        read_variables(file)
    use_settings(data_dir)
    from app.operations import host_check
    from app.operations.host_check import Answer

    users = _users(web_user, worker_user, sweep_user, other_user)
    found = host_check.check_host(users, _places(), _program(), _group())
    broken = sum(one.answer is Answer.BROKEN for one in found)
    unknown = sum(one.answer is Answer.UNKNOWN for one in found)
    if as_json:
        print_json({"broken": broken, "unknown": unknown, "separations": [one.as_dict() for one in found]})
    else:
        print_table(["Holds", "What", "What to do"], [(_word(one.answer), one.promise, one.advice) for one in found])
        say(f"{len(found) - broken - unknown} hold, {broken} do not, {unknown} could not be tried.")
    if broken:
        raise typer.Exit(Code.ERROR)


def _word(answer: str) -> str:
    return {"holds": "yes", "broken": "NO"}.get(answer, "?")


def _users(*names: str) -> Users:
    from app.operations.host_check import Users, user_number

    try:
        return Users(*(user_number(name) for name in names))
    except KeyError as error:
        raise CommandError(f"There is no such user on this machine: {error.args[0]}.", Code.USAGE) from None


def _program() -> Path:
    """Return the path of the `evergold` command next to this process's Python."""
    return Path(sys.executable).with_name("evergold")


def _group() -> int | None:
    from app.base.config import InvalidSettings, get_settings
    from app.base.permissions import group_number

    name = get_settings().files_group
    try:
        return group_number(name) if name else None
    except InvalidSettings as error:
        raise CommandError(str(error), Code.USAGE) from None


def _places() -> Places:
    from app.base.config import get_settings
    from app.operations.host_check import Places

    settings = get_settings()
    data = settings.data_dir.resolve()
    return Places(
        database=None if settings.database_url else data / "evergold.db",
        storage=settings.storage_dir.resolve(),
        sealed=settings.sealed_dir.resolve(),
        mail=data / "mail",
        key=Path(os.environ.get("EVERGOLD_GOLD_KEY_FILE") or data / "keys" / "workers.key").resolve(),
        gold=gold_folder().resolve(),
        vectors=Path(os.environ.get("EVERGOLD_VECTORS_DIR") or data / "vectors").resolve(),
    )
