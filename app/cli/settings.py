"""Settings shared by commands that run on the server: from options, environment and `.env`."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from evergold.cli.output import Code, CommandError

if TYPE_CHECKING:
    from sqlalchemy.orm import Session

    from app.people.act import Act

DataDirOption = Annotated[
    Path | None,
    typer.Option("--data-dir", metavar="DIR", help="Folder of all data; default: EVERGOLD_DATA_DIR, otherwise ./var."),
]
PhasesOption = Annotated[
    Path | None,
    typer.Option(
        "--phases", metavar="FILE", help="Declaration file; default: EVERGOLD_PHASES_FILE, otherwise ./phases.yaml."
    ),
]


def use_settings(data_dir: Path | None = None, phases_file: Path | None = None) -> None:
    """Set up the settings of this process: from the command line, or else the environment, or else `.env`.

    Raises CommandError for an invalid setting.
    """
    keep_private()
    read_environment()
    for name, path in (("EVERGOLD_DATA_DIR", data_dir), ("EVERGOLD_PHASES_FILE", phases_file)):
        if path is not None:
            os.environ[name] = str(path.resolve())
    from app.base.config import InvalidSettings, get_settings

    try:
        settings = get_settings()
        if "s3" in (settings.storage, settings.storage_before):
            from app.base.stores.places import check_bucket_settings

            check_bucket_settings()
    except InvalidSettings as error:
        raise CommandError(str(error), Code.USAGE) from None


def keep_private() -> None:
    """Make files written by this process and its children accessible to this user only, see `app.base.permissions`."""
    os.umask(0o077)


def read_environment(folder: Path = Path()) -> None:
    """Load `.env` from this folder, without overriding the environment."""
    path = folder / ".env"
    if path.is_file():
        read_variables(path)


def read_variables(path: Path) -> None:
    """Load variables from this file, without overriding the environment."""
    from dotenv import load_dotenv

    load_dotenv(path, override=False)


@contextmanager
def server_database(data_dir: Path | None) -> Iterator[Session]:
    """Open a transaction on this server's database; errors are raised as CommandError."""
    use_settings(data_dir)
    from app.base.config import get_settings
    from app.base.db import get_engine, writing
    from app.base.errors import EvergoldError, InvalidForm
    from app.server.datadir import ServeError
    from app.server.prepare import check_migrated

    try:
        check_migrated()
        with writing(get_engine(get_settings().database_address)) as session:
            yield session
    except InvalidForm as error:
        fields = error.details.get("fields") or {"error": error.message}
        raise CommandError(" ".join(f"{name}: {why}" for name, why in fields.items()), name=error.code) from None
    except EvergoldError as error:
        raise CommandError(error.message, name=error.code) from None
    except ServeError as error:
        raise CommandError(str(error)) from None


def command_line_act(session: Session) -> Act:
    """Return the context of a change by the command line, now, in the session's transaction."""
    from app.base.config import get_settings
    from app.people.act import Act

    return Act(session, None, datetime.now(UTC), get_settings())


def gold_folder() -> Path:
    """Return the workers' gold folder of this server, for commands that write gold there."""
    data_dir = Path(os.environ.get("EVERGOLD_DATA_DIR") or "var")
    return Path(os.environ.get("EVERGOLD_GOLD_DIR") or data_dir / "gold")


def models_folder() -> Path:
    """Return the folder of encoder models for this machine's workers."""
    data_dir = Path(os.environ.get("EVERGOLD_DATA_DIR") or "var")
    return Path(os.environ.get("EVERGOLD_MODELS_DIR") or data_dir / "models")
