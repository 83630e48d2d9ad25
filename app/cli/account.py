"""`evergold account …`: the accounts of this server."""

from __future__ import annotations

from typing import Annotated

import typer

from app.cli.settings import DataDirOption, use_settings
from evergold.cli.output import CommandError, JsonOption, print_json, remark, say

commands = typer.Typer()
account_commands = typer.Typer(no_args_is_help=True)
commands.add_typer(
    account_commands, name="account", help="The accounts of this server.", rich_help_panel="Running a server"
)


@account_commands.command("reset-link")
def reset_link(
    username: Annotated[str, typer.Argument(metavar="USER", help="User name or e-mail address.")],
    data_dir: DataDirOption = None,
    as_json: JsonOption = False,
) -> None:
    """Make a link with which somebody chooses a new password, to hand over yourself. It works once."""
    use_settings(data_dir)
    from datetime import UTC, datetime

    from app.base.config import get_settings
    from app.base.db import get_engine, writing
    from app.base.errors import NotFound
    from app.people.password_resets import make_link

    settings = get_settings()
    try:
        with writing(get_engine(settings.database_address)) as session:
            user, link = make_link(session, username, settings, datetime.now(UTC))
    except NotFound as error:
        raise CommandError(error.message) from None
    if as_json:
        print_json({"username": user.username, "link": link, "minutes": settings.password_reset_minutes})
    else:
        remark(f"For {user.username}, within {settings.password_reset_minutes} minutes:")
        say(link)
