"""`evergold export yaml` and `export codabench`: a competition as files, from this server's database."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from app.cli.settings import DataDirOption, use_settings
from evergold.cli.exports import exports
from evergold.cli.output import CommandError, JsonOption, print_json, remark, say

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


@exports.command()
def codabench(
    competition: Annotated[str, typer.Argument(metavar="COMPETITION")],
    to: Annotated[
        Path | None, typer.Option("--to", metavar="FILE.zip", help="A new file; default: ./COMPETITION-codabench.zip.")
    ] = None,
    gold: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            exists=True,
            file_okay=False,
            help="Put plain gold in, too: a folder as workers have it. Sealed gold stays here.",
        ),
    ] = None,
    data_dir: DataDirOption = None,
) -> None:
    """Write a competition as a bundle of Codabench, version 2, which an import here reads as it was."""
    use_settings(data_dir)
    from app.base.config import get_settings
    from app.base.db import get_engine, reading
    from app.base.errors import EvergoldError
    from app.base.storage import storage_of
    from app.competitions.find import find_competition
    from app.declarations.revisions.kept import present_revision
    from app.exports.codabench import export_bundle

    settings, target = get_settings(), to or Path(f"{competition}-codabench.zip")
    if target.exists():
        raise CommandError(f"There is {target} already: nothing is written over it.")
    try:
        with reading(get_engine(settings.database_address)) as session:
            revision = present_revision(session, find_competition(session, competition))
            remarks = export_bundle(revision, competition, storage_of(settings), target, gold)
    except EvergoldError as error:
        raise CommandError(error.message, name=error.code) from None
    except OSError as error:
        raise CommandError(f"Cannot write {error.filename or target}: {error.strerror}.") from None
    say(f"Wrote {target}.")
    for one in remarks:
        remark(f"  {one}")
