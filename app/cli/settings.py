"""What the commands that run on the server share: its settings, as options, environment and `.env` give them."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from evergold.cli.output import Code, CommandError

if TYPE_CHECKING:
    from sqlalchemy.orm import Session

DataDirOption = Annotated[
    Path | None,
    typer.Option("--data-dir", metavar="DIR", help="Where all data lie; default: EVERGOLD_DATA_DIR, else ./var."),
]
PhasesOption = Annotated[
    Path | None,
    typer.Option("--phases", metavar="FILE", help="Default: EVERGOLD_PHASES_FILE, else ./phases.yaml."),
]


def use_settings(data_dir: Path | None = None, phases_file: Path | None = None) -> None:
    """Settings for this process: what the command line says, then the environment, then `.env`; a wrong one ends it."""
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
    """What this process and its children write is for this user alone, as `app.base.permissions` has it."""
    os.umask(0o077)


def read_environment(folder: Path = Path()) -> None:
    """What `.env` in this folder says, where the environment says nothing."""
    path = folder / ".env"
    if path.is_file():
        read_variables(path)


def read_variables(path: Path) -> None:
    """What this file says, where the environment says nothing."""
    from dotenv import load_dotenv

    load_dotenv(path, override=False)


@contextmanager
def server_database(data_dir: Path | None) -> Iterator[Session]:
    """A transaction on this server's database; what is impossible there becomes a CommandError."""
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


def gold_folder() -> Path:
    """Where this server's workers look for gold, for commands that put gold there."""
    data_dir = Path(os.environ.get("EVERGOLD_DATA_DIR") or "var")
    return Path(os.environ.get("EVERGOLD_GOLD_DIR") or data_dir / "gold")


def models_folder() -> Path:
    """Where this machine's workers look for encoder models."""
    data_dir = Path(os.environ.get("EVERGOLD_DATA_DIR") or "var")
    return Path(os.environ.get("EVERGOLD_MODELS_DIR") or data_dir / "models")
