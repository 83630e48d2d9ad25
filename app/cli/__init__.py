"""The commands that need this server's database or files; they join the program `evergold` by the entry point
`evergold.commands`. What talks to any server, or to none, is `evergold.cli`.
"""

from __future__ import annotations

import typer

from app.cli import (
    account,
    audit,
    backup,
    climbers,
    declare,
    export,
    gold,
    imports,
    registrations,
    revisions,
    role,
    rows,
    runs,
    server,
    workers,
)

commands = typer.Typer()
for part in (
    declare,
    revisions,
    export,
    imports,
    gold,
    role,
    registrations,
    rows,
    runs,
    climbers,
    server,
    account,
    audit,
    backup,
    workers,
):
    commands.add_typer(part.commands)
