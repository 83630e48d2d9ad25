"""`evergold storage`: checks that every file exists and is intact; moves files between a folder and a bucket."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import typer

from app.cli.settings import DataDirOption, use_settings
from evergold.cli.output import RUNNING, Code, CommandError, JsonOption, count, print_json, remark, say

commands = typer.Typer()
storage = typer.Typer(no_args_is_help=True, help="Uploads, public and sealed files: check them, move them.")
commands.add_typer(storage, name="storage", rich_help_panel=RUNNING)


@storage.command()
def check(data_dir: DataDirOption = None, as_json: JsonOption = False) -> None:
    """Read every file that the database names; exit code 1 if one is lost or damaged."""
    use_settings(data_dir)
    from app.base.config import get_settings
    from app.base.db import get_engine
    from app.operations.storage_check import check_storage

    settings = get_settings()
    with _in_words():
        found = check_storage(get_engine(settings.database_address), settings)
    if as_json:
        print_json({"files": found.files, "lost": found.lost, "damaged": found.damaged, "unnamed": found.unnamed})
        raise typer.Exit(Code.OK if found.is_well else Code.ERROR)
    say(f"{count(found.files, 'file')} named by the database, {count(found.unnamed, 'other file')}.")
    if not found.is_well:
        lines = [*(f"lost: {name}" for name in found.lost), *(f"damaged: {name}" for name in found.damaged)]
        raise CommandError(f"{count(len(lines), 'file')} lost or damaged; a backup may have them.", lines=lines)


@storage.command()
def move(data_dir: DataDirOption = None, as_json: JsonOption = False) -> None:
    """Copy all files from EVERGOLD_STORAGE_BEFORE to EVERGOLD_STORAGE, and read each again; the server goes on."""
    use_settings(data_dir)
    from app.base.config import get_settings
    from app.operations.storage_check import Moved, move_storage

    settings = get_settings()
    if not settings.storage_before:
        raise CommandError(
            "Start the server with EVERGOLD_STORAGE, the new storage, and EVERGOLD_STORAGE_BEFORE, the old one; "
            'then move with the same settings. docs/running.md, "Several machines", has the steps.'
        )

    def tell(moved: Moved) -> None:
        if not as_json and moved.seen % 1000 == 0:
            remark(f"{moved.seen} files so far …")

    with _in_words():
        moved = move_storage(settings, tell)
    if as_json:
        print_json({"seen": moved.seen, "copied": moved.copied, "damaged": moved.damaged})
        raise typer.Exit(Code.ERROR if moved.damaged else Code.OK)
    say(f"{count(moved.seen, 'file')} in both places, {moved.copied} of them copied now; all were read and are intact.")
    if moved.damaged:
        lines = [f"damaged: {name}" for name in moved.damaged]
        raise CommandError(f"{count(len(lines), 'file')} could not be moved.", lines=lines)
    remark("Remove EVERGOLD_STORAGE_BEFORE and restart the server; then you can delete the old files.")


@contextmanager
def _in_words() -> Iterator[None]:
    from app.base.errors import EvergoldError

    try:
        yield
    except EvergoldError as error:
        raise CommandError(error.message, name=error.code) from None
    except OSError as error:
        raise CommandError(f"{error.filename or 'A file'} cannot be used: {error.strerror or error}.") from None
