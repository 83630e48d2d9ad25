"""`evergold backup`, `restore`: back up a whole server into one file or folder, and restore it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer

from app.cli.settings import DataDirOption, use_settings
from evergold.cli.output import RUNNING, CommandError, JsonOption, count, print_json, remark, say
from evergold.moments import moment_words

commands = typer.Typer()


@commands.command(rich_help_panel=RUNNING)
def backup(
    target: Annotated[
        Path, typer.Argument(metavar="TARGET", help="Target: NAME.tar for one file, otherwise a folder.")
    ],
    data_dir: DataDirOption = None,
    as_json: JsonOption = False,
) -> None:
    """Back up database, stored files and sealed gold to a new file or folder; the server may keep running."""
    use_settings(data_dir)
    from app.base.config import get_settings
    from app.base.db import get_engine, writing
    from app.operations.backup import make_backup
    from app.operations.health import BACKUP, beat
    from app.server.prepare import check_migrated

    with _in_words():
        check_migrated()
        manifest = make_backup(get_settings(), target, now=datetime.now(UTC))
        with writing(get_engine(get_settings().database_address)) as session:
            beat(session, BACKUP, datetime.now(UTC), {"files": len(manifest.files)})
    if as_json:
        print_json({"backup": str(target), "manifest": manifest.model_dump(mode="json")})
    else:
        rows = sum(table.rows for table in manifest.tables)
        say(f"Wrote {target}: {count(rows, 'row')}, {count(len(manifest.files), 'file')}.")
    if manifest.missing:
        for name in manifest.missing:
            remark(f"missing on this server: {name}")
        raise CommandError(f"{count(len(manifest.missing), 'file')} named by the database could not be backed up.")
    if not as_json:
        remark("It does not contain private keys and plain gold: back them up separately.")


@commands.command(rich_help_panel=RUNNING)
def restore(
    source: Annotated[Path, typer.Argument(metavar="SOURCE", help="File or folder written by `evergold backup`.")],
    data_dir: DataDirOption = None,
    as_json: JsonOption = False,
) -> None:
    """Restore a backup into an empty server, after checking all of it."""
    use_settings(data_dir)
    from app.base.config import get_settings
    from app.operations.restore import restore_backup

    with _in_words():
        manifest = restore_backup(get_settings(), source)
    if as_json:
        print_json({"restored": str(source), "manifest": manifest.model_dump(mode="json")})
        return
    held = f"{count(sum(table.rows for table in manifest.tables), 'row')} and {count(len(manifest.files), 'file')}"
    say(f"Restored {held} of {moment_words(manifest.made_at)}.")
    remark("Copy the workers' key file here, then check with `evergold gold check` that all gold opens.")


@contextmanager
def _in_words() -> Iterator[None]:
    from sqlalchemy.exc import SQLAlchemyError

    from app.operations.backup_format import BackupError
    from app.server.datadir import ServeError

    try:
        yield
    except (BackupError, ServeError) as error:
        raise CommandError(str(error)) from None
    except SQLAlchemyError as error:
        raise CommandError(f"The database cannot be used: {getattr(error, 'orig', None) or error}") from None
    except OSError as error:
        raise CommandError(f"{error.filename or 'A file'} cannot be used: {error.strerror or error}.") from None
