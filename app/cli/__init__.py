"""Commands that need this server's database or files, added to the program `evergold` by an entry point.

The entry point is `evergold.commands`. Commands for any server, or none, are in `evergold.cli`.
"""

from __future__ import annotations

import typer

from app.cli import (
    account,
    admin,
    admin_operations,
    allowances,
    audit,
    backup,
    bundles,
    climbers,
    declare,
    export,
    gold,
    host,
    imports,
    life,
    registrations,
    role,
    rows,
    runs,
    sandbox,
    server,
    standings,
    storage,
    workers,
)
from evergold.cli.output import EXPLAINED, CommandError

admin.admin_commands.add_typer(admin_operations.operations)
commands = typer.Typer()
for part in (
    declare,
    declare,
    export,
    imports,
    bundles,
    gold,
    role,
    registrations,
    allowances,
    life,
    rows,
    runs,
    standings,
    storage,
    climbers,
    server,
    account,
    admin,
    audit,
    backup,
    workers,
    sandbox,
    host,
):
    commands.add_typer(part.commands)


def _of_database(error: Exception) -> CommandError | None:
    """Return a CommandError for errors of an unavailable, empty or foreign database, which are not bugs."""
    if not type(error).__module__.startswith("sqlalchemy."):
        return None
    from sqlalchemy.exc import DBAPIError

    if not isinstance(error, DBAPIError):
        return None
    from app.base.config import get_settings
    from app.server.prepare import printable_address, reason_of

    return CommandError(f"The database ({printable_address(get_settings())}) cannot be used: {reason_of(error)}")


EXPLAINED.append(_of_database)
