"""`evergold audit`: actions of organisers and administrators, from this server's database."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from app.cli.settings import DataDirOption, use_settings
from evergold.cli.output import RUNNING, JsonOption, print_json, print_table
from evergold.moments import moment_words

if TYPE_CHECKING:
    from app.models import AuditEntry

commands = typer.Typer()


@commands.command(rich_help_panel=RUNNING)
def audit(
    limit: Annotated[int, typer.Option(min=1, max=100_000, help="Number of entries, the newest first.")] = 50,
    actor: Annotated[str | None, typer.Option(help="Only actions of this user.")] = None,
    action: Annotated[
        str | None, typer.Option(help="Only this action, such as token.create, or this kind, such as token.")
    ] = None,
    subject: Annotated[str | None, typer.Option(help="Only actions on this object, such as `user ada`.")] = None,
    data_dir: DataDirOption = None,
    as_json: JsonOption = False,
) -> None:
    """List what organisers and administrators did, from a log that nobody can change."""
    use_settings(data_dir)
    from app.base.config import get_settings
    from app.base.db import get_engine, reading
    from app.people.audit import AuditFilter, list_entries
    from app.people.views import AuditEntryOut

    with reading(get_engine(get_settings().database_address)) as session:
        entries = list_entries(session, AuditFilter(actor=actor, action=action, subject=subject), limit=limit)
    if as_json:
        found = [AuditEntryOut.model_validate(entry, from_attributes=True) for entry in entries]
        print_json({"entries": [entry.model_dump(mode="json") for entry in found]})
    else:
        print_table(["When", "Who", "Did", "To", "Details"], [_row(entry) for entry in entries])


def _row(entry: AuditEntry) -> list[str]:
    details = ", ".join(f"{name}: {value}" for name, value in entry.details.items())
    return [moment_words(entry.at), entry.actor, entry.action, entry.subject, details]
