"""`evergold export yaml`: a competition as a file, from this server's database."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from app.cli.settings import DataDirOption, use_settings
from evergold.cli.exports import exports
from evergold.cli.output import CommandError, JsonOption, print_json, say

#: Empty: the command joins the group of `evergold.cli`.
commands = typer.Typer()


@exports.command("yaml")
def export_yaml(
    competition: Annotated[str, typer.Argument(metavar="COMPETITION")],
    into: Annotated[
        Path | None, typer.Option("--into", metavar="DIR", help="A new folder; default: ./COMPETITION.")
    ] = None,
    revision: Annotated[int | None, typer.Option(min=1, help="An earlier revision; default: what holds.")] = None,
    data_dir: DataDirOption = None,
    as_json: JsonOption = False,
) -> None:
    """Write a competition as YAML with the files it names, as it now stands in the database."""
    use_settings(data_dir)
    from app.base.config import get_settings
    from app.base.db import get_engine, reading
    from app.base.errors import EvergoldError
    from app.base.storage import storage_of
    from app.competitions.find import find_competition
    from app.declarations.edits.export import export_folder
    from app.declarations.revisions.kept import find_revision, present_revision

    settings, folder = get_settings(), into or Path(competition)
    try:
        with reading(get_engine(settings.database_address)) as session:
            found = find_competition(session, competition)
            wanted = find_revision(session, found, revision) if revision else present_revision(session, found)
            written = export_folder(wanted, competition, storage_of(settings), folder)
    except EvergoldError as error:
        raise CommandError(error.message, name=error.code) from None
    except OSError as error:
        raise CommandError(f"Cannot write {error.filename or folder}: {error.strerror}.") from None
    if as_json:
        print_json({"revision": wanted.number, "files": [str(path) for path in written]})
        return
    for path in written:
        say(f"wrote {path}")
    say(f"\nRevision {wanted.number} of '{competition}'. `evergold plan` shows what applying it would change.")
