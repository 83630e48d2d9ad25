"""`evergold export yaml` and `export codabench`: a competition as files, from this server's database."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from app.cli.settings import DataDirOption, PhasesOption, use_settings
from evergold.cli.exports import exports
from evergold.cli.output import Code, CommandError, JsonOption, print_json, remark, say

if TYPE_CHECKING:
    from sqlalchemy.orm import Session

    from app.models import Competition

#: Empty: the command joins the group of `evergold.cli`.
commands = typer.Typer()


@exports.command("yaml")
def export_yaml(
    competition: Annotated[str, typer.Argument(metavar="COMPETITION")],
    into: Annotated[
        Path | None,
        typer.Option(
            "--into",
            metavar="DIR",
            help="A new folder; default: one that include: of phases.yaml reads, otherwise ./COMPETITION.",
        ),
    ] = None,
    update: Annotated[
        bool,
        typer.Option(
            "--update",
            help="Write edits into the file that declares the competition; a copy of the old file is kept beside it.",
        ),
    ] = False,
    revision: Annotated[int | None, typer.Option(min=1, help="An earlier revision; default: the current one.")] = None,
    phases_file: PhasesOption = None,
    data_dir: DataDirOption = None,
    as_json: JsonOption = False,
) -> None:
    """Write a competition as YAML with the files it names, as it now stands in the database."""
    if update and (into is not None or revision is not None):
        raise CommandError(
            "--update writes the current declaration into the existing file: leave out --into and --revision.",
            Code.USAGE,
        )
    use_settings(data_dir, phases_file)
    from app.base.config import get_settings
    from app.base.db import get_engine, reading
    from app.base.errors import EvergoldError
    from app.base.storage import storage_of
    from app.competitions.find import find_competition
    from app.declarations.edits.export import export_folder, update_folder
    from app.declarations.revisions.kept import find_revision, present_revision

    settings = get_settings()
    folder = into or _free_place(settings.phases_file, competition) or Path(competition)
    try:
        with reading(get_engine(settings.database_address)) as session:
            found = find_competition(session, competition)
            wanted = find_revision(session, found, revision) if revision else present_revision(session, found)
            if update:
                main = _updated_file(session, found, settings.phases_file)
                written = update_folder(wanted, competition, storage_of(settings), main)
            else:
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


def _free_place(phases_file: Path, competition: str) -> Path | None:
    """Return the folder that `include` reads; None if the competition is already declared."""
    from app.declarations.revisions.places import declared_in, place_for

    return None if declared_in(phases_file, competition) else place_for(phases_file, competition)


def _updated_file(session: Session, competition: Competition, phases_file: Path) -> Path:
    """Return the file that declares the competition; raise CommandError if some of its content would be lost."""
    from app.declarations.check import InvalidPhases, load_competitions
    from app.declarations.revisions.merging import is_as_applied
    from app.declarations.revisions.places import declared_in

    place = declared_in(phases_file, competition.name)
    if place is None:
        raise CommandError(f"{phases_file} does not declare '{competition.name}': leave --update out.")
    if not place.is_alone:
        raise CommandError(
            f"{place.file} declares more than '{competition.name}': use --into DIR to write to another folder."
        )
    try:
        loaded = load_competitions(phases_file, place.file)[0]
    except InvalidPhases as invalid:
        raise CommandError(str(invalid)) from None
    if not is_as_applied(session, competition, loaded.declaration):
        raise CommandError(f"{place.file} has changes that are not applied, and would be lost: `evergold apply` first.")
    return place.file


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
            help="Include plain gold, from a folder as workers have it. Sealed gold is never exported.",
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
        raise CommandError(f"{target} exists already and was not overwritten.")
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
